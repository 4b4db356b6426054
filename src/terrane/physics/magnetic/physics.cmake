# Poisson's relation: the kernels are gravity's.
if(NOT TARGET terrane_physics_gravity)
  message(FATAL_ERROR "TERRANE_PHYSICS: magnetic needs gravity")
endif()
target_link_libraries(${physics_target} PUBLIC terrane::physics_gravity)
