# Forces of elements, compiled once for each instruction set; chosen at run time.
set(TERRANE_LANE_DECLARATIONS "")
set(TERRANE_LANE_TABLE "")
foreach(TARGET IN LISTS TERRANE_INSTRUCTION_SETS)
  set(source ${PROJECT_BINARY_DIR}/generated/elastic/lanes_${TARGET}.cpp)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/kernels/lanes.cpp.in ${source} @ONLY)
  target_sources(terrane_physics_elastic PRIVATE ${source})
  terrane_kernel(${source} ${TARGET})
  foreach(REAL float double)
    string(APPEND TERRANE_LANE_DECLARATIONS "const LaneKernels<${REAL}>& lane_kernels_${REAL}_${TARGET}();\n")
  endforeach()
  string(APPEND TERRANE_LANE_TABLE "    LaneTarget{\"${TARGET}\", lane_kernels_float_${TARGET}, lane_kernels_double_${TARGET}},\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/kernels/lane_table.hpp.in
  ${PROJECT_BINARY_DIR}/generated/terrane/physics/elastic/kernels/lane_table.hpp @ONLY)
# Vectors are written out in the kernels. Looking for more takes the compiler five times as long and finds none.
foreach(TARGET IN LISTS TERRANE_INSTRUCTION_SETS)
  set_property(SOURCE ${PROJECT_BINARY_DIR}/generated/elastic/lanes_${TARGET}.cpp APPEND PROPERTY COMPILE_OPTIONS
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-vectorize>)
endforeach()
# CPUs have forces of their own (kernels/lanes.hpp).
terrane_debug_kernels(${physics_target} "/elastic/kernels/[a-z_]+\\.cu$")
