# For Arm of 64 bits (Grace, Graviton, Apple's under Linux) on another machine, by Debian's compilers:
#   apt-get install g++-aarch64-linux-gnu qemu-user-static
#   tools/arm_root build/arm    # the libraries of an Arm Debian, unpacked
#   cmake -S . -B build/aarch64 -G Ninja --toolchain cmake/toolchains/aarch64.cmake -DTERRANE_ARM_ROOT=$PWD/build/arm \
#     -DTERRANE_MPI=OFF
# Tests then run by qemu: ctest --test-dir build/aarch64 -L fast
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TERRANE_ARM_ROOT)
if(NOT TERRANE_ARM_ROOT)
  message(FATAL_ERROR "TERRANE_ARM_ROOT is the folder that tools/arm_root made; -DTERRANE_ARM_ROOT=FOLDER")
endif()
get_filename_component(TERRANE_ARM_ROOT "${TERRANE_ARM_ROOT}" ABSOLUTE)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${TERRANE_ARM_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${TERRANE_ARM_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Libraries that others need, which a linker does not look for by itself in another root.
set(folders -Wl,-rpath-link=${TERRANE_ARM_ROOT}/usr/lib/aarch64-linux-gnu)
foreach(folder IN ITEMS blas lapack)
  list(APPEND folders -Wl,-rpath-link=${TERRANE_ARM_ROOT}/usr/lib/aarch64-linux-gnu/${folder})
endforeach()
list(JOIN folders " " folders)
set(CMAKE_EXE_LINKER_FLAGS_INIT "${folders}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${folders}")
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${TERRANE_ARM_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR} ${TERRANE_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${TERRANE_ARM_ROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TERRANE_ARM_ROOT})
