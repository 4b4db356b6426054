# Every library Terrane stands on, found in one place. tools/packages.txt says which Debian packages bring them.
find_package(fmt REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
if(CMAKE_CROSSCOMPILING)
  pkg_check_modules(PROJ REQUIRED IMPORTED_TARGET GLOBAL proj)  # its package wants to be cross-compiled itself
  add_library(PROJ::proj ALIAS PkgConfig::PROJ)
else()
  find_package(PROJ CONFIG REQUIRED)
endif()
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)

# Libraries without a CMake target of their own, under one kind of name. The installed package knows them too.
function(terrane_library name)
  add_library(terrane_${name} INTERFACE)
  set_target_properties(terrane_${name} PROPERTIES EXPORT_NAME ${name}_library)
  set(TERRANE_LIBRARY_TARGETS ${TERRANE_LIBRARY_TARGETS} terrane_${name} PARENT_SCOPE)
endfunction()

terrane_library(netcdf)
pkg_check_modules(NETCDF REQUIRED IMPORTED_TARGET netcdf)
target_link_libraries(terrane_netcdf INTERFACE PkgConfig::NETCDF)

terrane_library(hdf5)
if(CMAKE_CROSSCOMPILING)
  # FindHDF5 would ask the wrapper compiler of this machine.
  pkg_search_module(CROSS_HDF5 REQUIRED IMPORTED_TARGET GLOBAL hdf5-serial hdf5)
  add_library(hdf5::hdf5 ALIAS PkgConfig::CROSS_HDF5)
  set(HDF5_VERSION ${CROSS_HDF5_VERSION})
else()
  find_package(HDF5 REQUIRED COMPONENTS C)
endif()
target_link_libraries(terrane_hdf5 INTERFACE hdf5::hdf5)

terrane_library(toml)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
target_include_directories(terrane_toml SYSTEM INTERFACE $<BUILD_INTERFACE:${TOMLPLUSPLUS_INCLUDE}>)

terrane_library(fftw)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3)
target_link_libraries(terrane_fftw INTERFACE PkgConfig::FFTW)

# AUTO becomes ON or OFF here. 4.5 is the first whose errors go to the reader of one file.
if(TERRANE_TIFF STREQUAL "AUTO")
  find_package(TIFF 4.5 QUIET)
  set(TERRANE_TIFF ${TIFF_FOUND})
elseif(TERRANE_TIFF)
  find_package(TIFF 4.5 REQUIRED)
endif()
message(STATUS "GeoTIFF: ${TERRANE_TIFF}")
terrane_library(tiff)
if(TERRANE_TIFF)
  target_link_libraries(terrane_tiff INTERFACE TIFF::TIFF)
endif()

if(TERRANE_BUILD_CLI)
  terrane_library(cli11)
  find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
  target_include_directories(terrane_cli11 SYSTEM INTERFACE $<BUILD_INTERFACE:${CLI11_INCLUDE}>)
endif()

# AUTO becomes ON or OFF here.
if(TERRANE_MPI STREQUAL "AUTO")
  find_package(MPI COMPONENTS C QUIET)
  set(TERRANE_MPI ${MPI_C_FOUND})
elseif(TERRANE_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# Likewise.
if(TERRANE_NCCL)
  if(TERRANE_HAS_CUDA AND TERRANE_MPI)
    find_path(NCCL_INCLUDE nccl.h HINTS ENV NCCL_HOME ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
    find_library(NCCL_LIBRARY nccl HINTS ENV NCCL_HOME ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_LIBRARY_DIR}
      PATH_SUFFIXES lib lib64)
  endif()
  if(TERRANE_HAS_CUDA AND TERRANE_MPI AND NCCL_INCLUDE AND NCCL_LIBRARY)
    set(TERRANE_NCCL ON)
  elseif(TERRANE_NCCL STREQUAL "AUTO")
    set(TERRANE_NCCL OFF)
  else()
    message(FATAL_ERROR "TERRANE_NCCL is ON, and CUDA, MPI or NCCL (nccl.h, libnccl; Debian: libnccl-dev) is missing. "
      "Set NCCL_HOME to where NCCL is, or leave TERRANE_NCCL=AUTO.")
  endif()
endif()
message(STATUS "NCCL: ${TERRANE_NCCL}")
