# Multigrid is a library of its own, which physics that do not use it need not compile.
target_link_libraries(${physics_target} PUBLIC terrane::multigrid)
