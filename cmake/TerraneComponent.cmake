# terrane_component(<folder> DEPENDS <component>... [PUBLIC <library>...] [PRIVATE <library>...] [KERNELS])
# One component of the program: every .cpp and .cu in src/terrane/<folder> and below, as a static library terrane::<folder>.
# A component may use the components it names and what those use; nothing else.
# KERNELS: the component computes, and is compiled with all of -O3. The others are compiled with -O2, in two thirds of the time.

# terrane_precompiled(<target> <kind> [<header>...])
# Headers of the standard library and {fmt} that nearly every file includes, and those named, parsed once for all targets
# of a kind. Every file still includes what it uses: CMAKE_DISABLE_PRECOMPILE_HEADERS=ON makes the same programs. (They are
# named here and not in a header of ours, whose path would keep compiler caches from serving two checkouts.)
function(terrane_precompiled target kind)
  # What the compiler defines must be the same for all of a kind; some have OpenMP from parallel.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${OpenMP_CXX_FLAGS}>)
  get_property(first GLOBAL PROPERTY TERRANE_PRECOMPILED_${kind})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  set_property(GLOBAL PROPERTY TERRANE_PRECOMPILED_${kind} ${target})
  set(headers fmt/format.h algorithm array cmath cstddef cstdint filesystem functional limits map memory optional span
    string string_view utility variant vector ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# Where there is no CUDA, device code is C++.
function(terrane_device_code)
  if(NOT TERRANE_HAS_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  endif()
  if(TERRANE_BUILD_FUZZERS)  # readers have no device code, and Clang takes minutes to instrument it
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# terrane_take_sources(<target> <pattern> <result>)
# The sources of a target that fit are no longer its, and are in <result>.
function(terrane_take_sources target pattern result)
  get_target_property(sources ${target} SOURCES)
  set(taken ${sources})
  list(FILTER taken INCLUDE REGEX "${pattern}")
  list(FILTER sources EXCLUDE REGEX "${pattern}")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  set(${result} ${taken} PARENT_SCOPE)
endfunction()

# terrane_debug_kernels(<target> <pattern>)
# Device code that CPUs have a twin of. Where there is no CUDA the debug device alone runs it, which nobody times: it
# becomes one file, compiled with -O1 in half the time.
function(terrane_debug_kernels target pattern)
  if(TERRANE_HAS_CUDA OR TERRANE_SANITIZE OR NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  terrane_take_sources(${target} "${pattern}" kernels)
  list(TRANSFORM kernels REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN kernels "" includes)
  set(source ${PROJECT_BINARY_DIR}/generated/${target}_debug_kernels.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// What the debug device runs (cmake/TerraneComponent.cmake).\n@includes@")
  # The level of optimisation of precompiled headers is another.
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -O1)
  target_sources(${target} PRIVATE ${source})
endfunction()

# nvcc drops the pragma by which the C++ compiler knows that rows of a sweep (parallel/device/sweep.hpp) may be
# vectorised. So it has to look whether arrays overlap, of which these kernels have many.
function(terrane_rows_of_sweeps)
  if(TERRANE_HAS_CUDA AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
      "-Xcompiler=--param=vect-max-version-for-alias-checks=200")
  endif()
endfunction()

function(terrane_component folder)
  cmake_parse_arguments(COMPONENT "KERNELS" "" "DEPENDS;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/terrane/${folder}/*.cpp)
  file(GLOB_RECURSE device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/terrane/${folder}/*.cu)
  terrane_device_code(${device_sources})
  list(APPEND sources ${device_sources})
  list(FILTER sources EXCLUDE REGEX "/(main|comm_mpi|comm_nccl)\\.cpp$")
  set(target terrane_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:terrane_flags> ${COMPONENT_PRIVATE})
    if(NOT COMPONENT_KERNELS)
      target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O2>)
    endif()
    terrane_precompiled(${target} component)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(terrane::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} ${scope} cxx_std_20)
  foreach(component IN LISTS COMPONENT_DEPENDS)
    string(REPLACE "/" "_" component ${component})
    target_link_libraries(${target} ${scope} terrane::${component})
  endforeach()
  if(COMPONENT_PUBLIC)
    target_link_libraries(${target} ${scope} ${COMPONENT_PUBLIC})
  endif()
  set_property(GLOBAL APPEND PROPERTY TERRANE_COMPONENTS ${target})
endfunction()
