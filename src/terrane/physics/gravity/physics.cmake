# What gravity needs beside the components of every physics.
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
# CPUs have sums of their own.
terrane_debug_kernels(${physics_target} "/gravity/.*device[a-z_]*\\.cu$")
