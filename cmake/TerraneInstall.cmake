# cmake --install: the libraries, their headers, the terrane command, its scripts for plots, and a package, so that
# another CMake project needs only
#   find_package(terrane CONFIG REQUIRED)
#   target_link_libraries(program PRIVATE terrane::terrane)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/terrane)

get_property(components GLOBAL PROPERTY TERRANE_COMPONENTS)
if(TARGET terrane_mpi)
  list(APPEND components terrane_mpi)
endif()
install(TARGETS terrane ${components} ${TERRANE_LIBRARY_TARGETS} EXPORT terrane
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/terrane DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TARGET terrane_command)
  install(TARGETS terrane_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY python/terrane/plotting DESTINATION ${CMAKE_INSTALL_DATADIR}/terrane FILES_MATCHING PATTERN "*.py")
  # Where bash-completion, zsh, fish and man look for them.
  install(FILES packaging/shell/terrane.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME terrane)
  install(FILES packaging/shell/_terrane DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES packaging/shell/terrane.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES packaging/shell/terrane.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT terrane NAMESPACE terrane:: FILE terraneTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/terraneConfig.cmake.in ${PROJECT_BINARY_DIR}/terraneConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/terraneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/terraneConfig.cmake ${PROJECT_BINARY_DIR}/terraneConfigVersion.cmake
  DESTINATION ${package_folder})

# The same for builds without CMake: c++ -std=c++20 program.cpp $(pkg-config --cflags --libs terrane)
include(TerranePkgConfig)
