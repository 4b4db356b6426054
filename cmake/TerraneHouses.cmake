# terrane_houses(DEPENDS <room>...)
# The physics: every folder src/terrane/physics/<house> that has physics.hpp, which declares
#   namespace terrane::<house> { Physics physics(); }
# is a room, terrane::physics_<house>, that may use the rooms named here. A file house.cmake in it is included for
# what else it needs: libraries, kernels; ${house_target} is its target there. The room terrane::physics is the list
# of all (physics/all.hpp). TERRANE_HOUSES holds the names. A house whose models are found from data has
# inverse/inverse.hpp, which declares
#   namespace terrane::<house>::inverse { inversion::Inverse inverse(); }
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
  set(inverses "")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH house_folder)
    cmake_path(GET house_folder FILENAME house)
    if(TERRANE_PHYSICS AND NOT house IN_LIST TERRANE_PHYSICS)
      string(APPEND list "  all.leave_out(\"${house}\");\n")
      if(EXISTS ${house_folder}/inverse/inverse.hpp)
        string(APPEND inverses "    all.leave_out(\"${house}\");\n")
      endif()
      continue()
    endif()
    terrane_room(physics/${house} ${ARGN} KERNELS)
    set(house_target terrane_physics_${house})
    include(${house_folder}/house.cmake OPTIONAL)
    list(APPEND houses ${house})
    string(APPEND includes "#include \"terrane/physics/${house}/physics.hpp\"\n")
    string(APPEND list "  all.add(${house}::physics());\n")
    if(EXISTS ${house_folder}/inverse/inverse.hpp)
      string(APPEND includes "#include \"terrane/physics/${house}/inverse/inverse.hpp\"\n")
      string(APPEND inverses "    all.add(${house}::inverse::inverse());\n")
    endif()
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

const inversion::Inverses& inversions() {
  static const inversion::Inverses all = [] {
    inversion::Inverses all;
@inverses@    return all;
  }();
  return all;
}

}  // namespace terrane::physics
]])
  add_library(terrane_physics STATIC ${source})
  add_library(terrane::physics ALIAS terrane_physics)
  set_target_properties(terrane_physics PROPERTIES EXPORT_NAME physics)
  list(TRANSFORM houses PREPEND terrane::physics_ OUTPUT_VARIABLE rooms)
  target_link_libraries(terrane_physics PUBLIC ${rooms} terrane::inversion PRIVATE $<BUILD_INTERFACE:terrane_flags>)
  set_property(GLOBAL APPEND PROPERTY TERRANE_ROOMS terrane_physics)
  set(TERRANE_HOUSES ${houses} PARENT_SCOPE)
endfunction()
