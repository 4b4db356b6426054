# Compiler settings shared by every room.
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
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Strict IEEE arithmetic everywhere: -ffast-math and -fassociative-math would undo the differences
# that the stable form takes analytically. Contraction to FMA and ignoring errno are safe.
add_library(terrane_flags INTERFACE)
target_compile_options(terrane_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -fno-math-errno -fno-trapping-math -ffp-contract=fast
  # GCC 12 warns of std::string's own operator+ (its bug 105651).
  $<$<BOOL:${TERRANE_WARNINGS_AS_ERRORS}>:-Werror;-Wno-error=restrict>)
if(TERRANE_BUILD_FUZZERS AND NOT TERRANE_SANITIZE)
  set(TERRANE_SANITIZE fuzzer-no-link,address,undefined)
endif()
if(TERRANE_SANITIZE)
  add_compile_options(-fsanitize=${TERRANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TERRANE_SANITIZE})
endif()
