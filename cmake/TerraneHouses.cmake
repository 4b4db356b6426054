# terrane_houses(DEPENDS <room>...)
# The physics: every folder src/terrane/physics/<house> that has physics.hpp, which declares
#   namespace terrane::<house> { Physics physics(); }
# is a room, terrane::physics_<house>, that may use the rooms named here. A file house.cmake in it is included for
# what else it needs: libraries, kernels; ${house_target} is its target there. The room terrane::physics is the list
# of all (physics/all.hpp). TERRANE_HOUSES holds the names.
# TERRANE_PHYSICS chooses among them.
function(terrane_houses)
  set(folder ${PROJECT_SOURCE_DIR}/src/terrane/physics)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*/physics.hpp)
  set(known)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH house_folder)
    cmake_path(GET house_folder FILENAME house)
    list(APPEND known ${house})
  endforeach()
  foreach(house IN LISTS TERRANE_PHYSICS)
    if(NOT house IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "TERRANE_PHYSICS: there is no physics \"${house}\"; there are ${known}")
    endif()
  endforeach()
  set(houses)
  set(includes "")
  set(list "")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH house_folder)
    cmake_path(GET house_folder FILENAME house)
    if(TERRANE_PHYSICS AND NOT house IN_LIST TERRANE_PHYSICS)
      string(APPEND list "  all.leave_out(\"${house}\");\n")
      continue()
    endif()
    terrane_room(physics/${house} ${ARGN} KERNELS)
    set(house_target terrane_physics_${house})
    include(${house_folder}/house.cmake OPTIONAL)
    list(APPEND houses ${house})
    string(APPEND includes "#include \"terrane/physics/${house}/physics.hpp\"\n")
    string(APPEND list "  all.add(${house}::physics());\n")
  endforeach()

  set(source ${PROJECT_BINARY_DIR}/generated/physics/all.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// The physics of this build, from the folders below src/terrane/physics (cmake/TerraneHouses.cmake).
#include "terrane/physics/all.hpp"

@includes@
namespace terrane::physics {

Registry all() {
  Registry all;
@list@  return all;
}

}  // namespace terrane::physics
]])
  add_library(terrane_physics STATIC ${source})
  add_library(terrane::physics ALIAS terrane_physics)
  set_target_properties(terrane_physics PROPERTIES EXPORT_NAME physics)
  list(TRANSFORM houses PREPEND terrane::physics_ OUTPUT_VARIABLE rooms)
  target_link_libraries(terrane_physics PUBLIC ${rooms} terrane::simulation PRIVATE $<BUILD_INTERFACE:terrane_flags>)
  set_property(GLOBAL APPEND PROPERTY TERRANE_ROOMS terrane_physics)
  set(TERRANE_HOUSES ${houses} PARENT_SCOPE)
endfunction()
