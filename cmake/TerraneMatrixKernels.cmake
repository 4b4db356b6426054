# The inner loops of dense matrices (src/terrane/solve/matrices/matrix_loops.hpp), compiled once for each instruction set.
set(TERRANE_MATRIX_DECLARATIONS "")
set(TERRANE_MATRIX_TABLE "")
foreach(TARGET IN LISTS TERRANE_INSTRUCTION_SETS)
  set(source ${PROJECT_BINARY_DIR}/generated/solve/matrix_${TARGET}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/src/terrane/solve/matrices/matrix_kernels.cpp.in ${source} @ONLY)
  target_sources(terrane_solve PRIVATE ${source})
  terrane_kernel(${source} ${TARGET})
  string(APPEND TERRANE_MATRIX_DECLARATIONS "const MatrixKernels& matrix_kernels_${TARGET}();\n")
  string(APPEND TERRANE_MATRIX_TABLE "    {\"${TARGET}\", &matrix_kernels_${TARGET}()},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/src/terrane/solve/matrices/matrix_table.hpp.in
  ${PROJECT_BINARY_DIR}/generated/terrane/solve/matrices/matrix_table.hpp @ONLY)
