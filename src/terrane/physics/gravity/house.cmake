# What gravity needs beside the rooms of every house.
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
