# What gravity needs beside the rooms of every house.
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
# CPUs have sums of their own.
terrane_debug_kernels(${house_target} "/gravity/.*device[a-z_]*\\.cu$")
