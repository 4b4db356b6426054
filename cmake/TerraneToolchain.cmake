# Compiler settings shared by every component.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers can be cached when their macros and times are taken on trust (their content is not).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

# CUDA. Files of device code (*.cu) are compiled by nvcc, or else as C++: then the debug device runs them, and only GPUs
# are missing. nvcc takes minutes, so AUTO takes it where there is a GPU to run what it makes; ON compiles for GPUs elsewhere.
set(TERRANE_CUDA AUTO CACHE STRING "GPUs: AUTO (where there is one, and nvcc), ON (wherever there is nvcc) or OFF")
set_property(CACHE TERRANE_CUDA PROPERTY STRINGS AUTO ON OFF)
option(TERRANE_QUICK_CUDA "Compile CUDA files in half the time, for slow code: where no GPU will run it" OFF)
set(TERRANE_HAS_CUDA OFF)
# The driver's own sign that a GPU answers; under WSL the device has another name.
if(EXISTS /proc/driver/nvidia/version OR EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
  set(TERRANE_SEES_GPU ON)
else()
  set(TERRANE_SEES_GPU OFF)
endif()
if(TERRANE_CUDA STREQUAL "AUTO" AND NOT TERRANE_SEES_GPU)
  message(STATUS "This machine has no NVIDIA GPU: nothing is compiled for one (TERRANE_CUDA=ON does so all the same)")
elseif(TERRANE_CUDA AND NOT TERRANE_SANITIZE)
  set(why "there is no nvcc; put it on the PATH or set CUDACXX")
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(TERRANE_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
    if(TERRANE_NVCC)
      set(CMAKE_CUDA_COMPILER ${TERRANE_NVCC})
    endif()
  endif()
  if(NOT CMAKE_CUDA_HOST_COMPILER)
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real)  # machine code for Hopper; the driver compiles for others
  endif()
  if(CMAKE_CUDA_COMPILER)
    # Before CMake asks: an nvcc that is too old for this compiler or for C++20 would end the configuration.
    set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/terrane_nvcc.cu)
    file(WRITE ${probe} "#include <concepts>\n#include <vector>\n__global__ void f() {}\nint main() {}\n")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -arch=sm_90 -ccbin ${CMAKE_CUDA_HOST_COMPILER} -c ${probe}
      -o ${probe}.o RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
    if(failed)
      set(why "${CMAKE_CUDA_COMPILER} cannot compile C++20 for compute capability 9.0 with ${CMAKE_CUDA_HOST_COMPILER}: ${said}")
    else()
      set(TERRANE_HAS_CUDA ON)
    endif()
  endif()
  if(TERRANE_HAS_CUDA)
    if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know that nvcc has C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    if(TERRANE_QUICK_CUDA)
      set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")  # the host's part takes half the time of -O3
      execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --help OUTPUT_VARIABLE can)
      if(can MATCHES Ofast-compile)
        string(APPEND CMAKE_CUDA_FLAGS " --Ofast-compile=max")
      endif()
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    # The oldest GPU that finds code: what the library answers to older ones.
    set(TERRANE_LEAST_CAPABILITY 1000)
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS TERRANE_LEAST_CAPABILITY)
        set(TERRANE_LEAST_CAPABILITY ${CMAKE_MATCH_1})
      endif()
    endforeach()
  elseif(NOT TERRANE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "TERRANE_CUDA is ON, and ${why}. Leave TERRANE_CUDA=AUTO to build without GPUs.")
  elseif(CMAKE_CUDA_COMPILER)
    message(STATUS "${why}")
  endif()
endif()
message(STATUS "GPUs: ${TERRANE_HAS_CUDA}")

# Strict IEEE arithmetic everywhere: -ffast-math and -fassociative-math would undo the differences
# that the stable form takes analytically. Contraction to FMA and ignoring errno are safe.
add_library(terrane_flags INTERFACE)
set(terrane_cxx_options
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -fno-math-errno -fno-trapping-math -ffp-contract=fast)
if(CMAKE_UNITY_BUILD)
  # Sixteen files at once: what one of them names is global to the next, and none is the main file. So only names of one
  # function that hide each other are warned of; a build file by file warns of all.
  list(APPEND terrane_cxx_options -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(TERRANE_WARNINGS_AS_ERRORS)
  # GCC 12 warns of what std::string does inside (its bug 105651 and the like).
  list(APPEND terrane_cxx_options -Werror -Wno-error=restrict -Wno-error=stringop-overflow -Wno-error=array-bounds
       -Wno-error=free-nonheap-object)
endif()
# GCC tidies its memory each time that it has grown by a tenth of a gigabyte. A tenth of the time goes into that, which is
# saved where each of the compilers that run at once may have four gigabytes.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory_of_a_core "${memory} / ${cores}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory_of_a_core GREATER 4000)
  list(APPEND terrane_cxx_options "SHELL:--param ggc-min-heapsize=1000000")  # KiB
endif()
target_compile_options(terrane_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C,CXX>:${terrane_cxx_options}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-fno-math-errno,-fno-trapping-math>")
if(TERRANE_BUILD_FUZZERS AND NOT TERRANE_SANITIZE)
  set(TERRANE_SANITIZE fuzzer-no-link,address,undefined)
endif()
if(TERRANE_SANITIZE)
  add_compile_options(-fsanitize=${TERRANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Half of the compiler's time goes into checks of every access: for null, for the size of what lies there and for where
  # a pointer goes, most of which AddressSanitizer makes as well, and for alignment; clang makes them all for the readers
  # (fuzz). Its own are calls in functions that have hundreds of them. Registers of these large functions are allocated
  # in one region, which takes a fifth less time.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TERRANE_SANITIZE MATCHES "address.*undefined")
    add_compile_options(-fno-sanitize=null,object-size,alignment,pointer-overflow
      --param=asan-instrumentation-with-call-threshold=200 -fira-region=one)
  endif()
  add_link_options(-fsanitize=${TERRANE_SANITIZE})
endif()
