# What this build is: version, commit, compiler, features. The commit is asked for at every build and the
# header touched only when something changed, so that a commit rebuilds base/version.cpp and nothing else.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(features "OpenMP ${OpenMP_CXX_VERSION}" "NetCDF ${NETCDF_VERSION}" "HDF5 ${HDF5_VERSION}" "PROJ ${PROJ_VERSION}")
  if(TERRANE_HAS_CUDA)
    list(APPEND features "CUDA ${CUDAToolkit_VERSION}")
  endif()
  if(TERRANE_SANITIZE)
    list(APPEND features "sanitizers ${TERRANE_SANITIZE}")
  endif()
  list(JOIN features ", " features)
  set(header ${PROJECT_BINARY_DIR}/generated/terrane/base/build_info.hpp)
  set(make_header ${CMAKE_COMMAND}
    "-DTERRANE_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DTERRANE_HEADER=${header}"
    "-DTERRANE_VERSION=${PROJECT_VERSION}"
    "-DTERRANE_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DTERRANE_BUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DTERRANE_FEATURES=${features}"
    -P ${CMAKE_CURRENT_LIST_FILE})
  execute_process(COMMAND ${make_header} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(terrane_build_info COMMAND ${make_header} BYPRODUCTS ${header}
    COMMENT "Looking at the commit" VERBATIM)
  return()
endif()

# As a script. A source tree that is not its own git checkout (an archive, perhaps unpacked inside another
# repository) has no commit, unless who builds it says so (tools/wheel).
set(TERRANE_COMMIT unknown)
find_program(GIT git)
if(NOT "$ENV{TERRANE_COMMIT}" STREQUAL "")
  set(TERRANE_COMMIT $ENV{TERRANE_COMMIT})
elseif(GIT AND EXISTS ${TERRANE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${TERRANE_SOURCE_DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0 AND described)
    set(TERRANE_COMMIT ${described})
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.hpp.in ${TERRANE_HEADER} @ONLY)
