terrane_rows_of_sweeps(${CMAKE_CURRENT_LIST_DIR}/grid/maxwell.cu)
target_link_libraries(${physics_target} PUBLIC terrane::multigrid)
