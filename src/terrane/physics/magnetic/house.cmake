# Poisson's relation: the kernels are gravity's.
target_link_libraries(${house_target} PUBLIC terrane::physics_gravity)
