# The tile kernels, compiled once for each instruction set and set of channels; chosen at run time.
include(CheckCXXCompilerFlag)
set(TERRANE_KERNEL_SETS 8)  # std::size(kernel_sets) in tiles.hpp

set(TERRANE_KERNEL_TARGETS plain)
set(flags_plain "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND TERRANE_KERNEL_TARGETS avx2 avx512)
  set(flags_avx2 -mavx2 -mfma)
  # 256-bit moves would halve the width: the kernels are dense arithmetic, which 512-bit units are for.
  set(flags_avx512 -mavx512f -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512)
endif()

# Kernels under sanitizers take two minutes each to compile and hold no memory of their own: what calls them is
# checked, they are not.
set(unchecked "")
if(TERRANE_SANITIZE)
  set(unchecked ";-fno-sanitize=all")
  list(REMOVE_ITEM TERRANE_KERNEL_TARGETS avx512)
endif()

set(TERRANE_KERNEL_DECLARATIONS "")
set(TERRANE_KERNEL_TABLE "")
set(TERRANE_EXPANSION_DECLARATIONS "")
set(TERRANE_EXPANSION_TABLE "")
foreach(TARGET IN LISTS TERRANE_KERNEL_TARGETS)
  string(APPEND TERRANE_KERNEL_TABLE "    {\"${TARGET}\", {")
  math(EXPR last "${TERRANE_KERNEL_SETS} - 1")
  foreach(SET RANGE ${last})
    set(source ${PROJECT_BINARY_DIR}/generated/gravity/kernels_${TARGET}_${SET}.cpp)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/kernels.cpp.in ${source} @ONLY)
    target_sources(terrane_physics_gravity PRIVATE ${source})
    # always_inline across the whole kernel makes GCC's own intrinsics headers look uninitialised
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags_${TARGET}};-O3;-Wno-maybe-uninitialized;-Wno-psabi${unchecked}")
    string(APPEND TERRANE_KERNEL_DECLARATIONS "TileKernels tile_kernels_${TARGET}_${SET}();\n")
    string(APPEND TERRANE_KERNEL_TABLE "tile_kernels_${TARGET}_${SET}(), ")
  endforeach()
  string(APPEND TERRANE_KERNEL_TABLE "}},\n")
  set(source ${PROJECT_BINARY_DIR}/generated/gravity/expansion_${TARGET}.cpp)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/expansion.cpp.in ${source} @ONLY)
  target_sources(terrane_physics_gravity PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags_${TARGET}};-O3;-Wno-maybe-uninitialized;-Wno-psabi${unchecked}")
  string(APPEND TERRANE_EXPANSION_DECLARATIONS "const ExpansionKernels& expansion_kernels_${TARGET}();\n")
  string(APPEND TERRANE_EXPANSION_TABLE "    {\"${TARGET}\", &expansion_kernels_${TARGET}()},\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/kernel_table.hpp.in ${PROJECT_BINARY_DIR}/generated/terrane/physics/gravity/kernel_table.hpp @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/expansion_table.hpp.in ${PROJECT_BINARY_DIR}/generated/terrane/physics/gravity/expansion_table.hpp @ONLY)
