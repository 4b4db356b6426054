# The rows of the CPU, compiled once for each instruction set and chosen at run time.
set(TERRANE_ACOUSTIC_DECLARATIONS "")
set(TERRANE_ACOUSTIC_CALLS "")
foreach(TARGET IN LISTS TERRANE_INSTRUCTION_SETS)
  set(source ${PROJECT_BINARY_DIR}/generated/acoustic/host_rows_${TARGET}.cpp)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/march/host_rows.cpp.in ${source} @ONLY)
  target_sources(terrane_physics_acoustic PRIVATE ${source})
  terrane_kernel(${source} ${TARGET})
  string(APPEND TERRANE_ACOUSTIC_DECLARATIONS "HostKernelSet host_kernels_${TARGET}();\n")
  string(APPEND TERRANE_ACOUSTIC_CALLS "host_kernels_${TARGET}(), ")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/march/host_kernel_sets.hpp.in
  ${PROJECT_BINARY_DIR}/generated/terrane/physics/acoustic/march/host_kernel_sets.hpp @ONLY)
