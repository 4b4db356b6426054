# What gravity needs beside the rooms of every house.
target_link_libraries(${house_target} PRIVATE terrane_fftw)
if(TERRANE_HAS_CUDA)
  target_link_libraries(${house_target} PRIVATE CUDA::cufft)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/kernels.cmake)
