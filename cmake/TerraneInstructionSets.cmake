# Kernels that are compiled once for each instruction set; parallel/simd chooses among them when the program runs.
#   TERRANE_INSTRUCTION_SETS            the plainest first
#   terrane_kernel(<source> <set>)      compiles a generated source for one of them

set(TERRANE_INSTRUCTION_SETS plain)
set(TERRANE_FLAGS_plain "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND TERRANE_INSTRUCTION_SETS avx2 avx512)
  set(TERRANE_FLAGS_avx2 -mavx2 -mfma)
  # 256-bit moves would halve the width: the kernels are dense arithmetic, which 512-bit units are for.
  set(TERRANE_FLAGS_avx512 -mavx512f -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512)
endif()

# Kernels under sanitizers take two minutes each to compile and hold no memory of their own: what calls them is
# checked, they are not.
set(TERRANE_UNCHECKED "")
if(TERRANE_SANITIZE)
  set(TERRANE_UNCHECKED "-fno-sanitize=all")
  list(REMOVE_ITEM TERRANE_INSTRUCTION_SETS avx512)
endif()

# Those of this machine alone: a third of the time to compile, and a program that runs on processors like this one.
if(TERRANE_KERNELS STREQUAL "NATIVE" AND NOT CMAKE_CROSSCOMPILING)
  foreach(TARGET IN LISTS TERRANE_INSTRUCTION_SETS)
    if(NOT "${TARGET}" STREQUAL "plain" AND NOT DEFINED TERRANE_RUNS_${TARGET})
      set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/terrane_runs_${TARGET}.cpp)
      string(REGEX MATCHALL "-m(avx[0-9a-z]*|fma)" wanted "${TERRANE_FLAGS_${TARGET}}")
      list(TRANSFORM wanted REPLACE "-m(.*)" "__builtin_cpu_supports(\"\\1\")")
      list(JOIN wanted " && " wanted)
      file(WRITE ${probe} "int main() { return (${wanted}) ? 0 : 1; }\n")
      try_run(status compiled ${PROJECT_BINARY_DIR}/CMakeFiles/terrane_runs ${probe})
      if(compiled AND status EQUAL 0)
        set(TERRANE_RUNS_${TARGET} ON CACHE INTERNAL "")
      else()
        set(TERRANE_RUNS_${TARGET} OFF CACHE INTERNAL "")
      endif()
    endif()
    if("${TARGET}" STREQUAL "plain" OR TERRANE_RUNS_${TARGET})
      set(native ${TARGET})
    endif()
  endforeach()
  set(TERRANE_INSTRUCTION_SETS ${native})
  message(STATUS "Kernels: ${native}, for this machine (TERRANE_KERNELS=ALL makes a build for others, too)")
endif()

list(JOIN TERRANE_INSTRUCTION_SETS "\", \"" TERRANE_INSTRUCTION_SET_NAMES)
configure_file(${PROJECT_SOURCE_DIR}/src/terrane/parallel/simd/built_sets.hpp.in
  ${PROJECT_BINARY_DIR}/generated/terrane/parallel/simd/built_sets.hpp @ONLY)

function(terrane_kernel source instruction_set)
  # always_inline across a whole kernel makes GCC's own intrinsics headers look uninitialised
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
    "${TERRANE_FLAGS_${instruction_set}};-O3;-Wno-uninitialized;-Wno-maybe-uninitialized;-Wno-psabi;${TERRANE_UNCHECKED}")
endfunction()
