# Multigrid is a library of its own, which houses that do not use it need not compile.
target_link_libraries(${house_target} PUBLIC terrane::multigrid)
