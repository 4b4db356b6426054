# terrane_all_physics(DEPENDS <component>...)
# The physics: every folder src/terrane/physics/<physics> that has physics.hpp, which declares
#   namespace terrane::<physics> { Physics physics(); }
# is a component, terrane::physics_<physics>, that may use the components named here. A file physics.cmake in it is included for
# what else it needs: libraries, kernels; ${physics_target} is its target there. The component terrane::physics is the list
# of all (physics/all.hpp). TERRANE_ALL_PHYSICS holds the names. A physics whose models are found from data has
# inverse/inverse.hpp, which declares
#   namespace terrane::<physics>::inverse { inversion::Inverse inverse(); }
# TERRANE_PHYSICS chooses among them.
function(terrane_all_physics)
  set(folder ${PROJECT_SOURCE_DIR}/src/terrane/physics)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*/physics.hpp)
  set(known)
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH physics_folder)
    cmake_path(GET physics_folder FILENAME physics)
    list(APPEND known ${physics})
  endforeach()
  foreach(physics IN LISTS TERRANE_PHYSICS)
    if(NOT physics IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "TERRANE_PHYSICS: there is no physics \"${physics}\"; there are ${known}")
    endif()
  endforeach()
  set(all_physics)
  set(includes "")
  set(list "")
  set(inverses "")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH physics_folder)
    cmake_path(GET physics_folder FILENAME physics)
    if(TERRANE_PHYSICS AND NOT physics IN_LIST TERRANE_PHYSICS)
      string(APPEND list "  registry.leave_out(\"${physics}\");\n")
      if(EXISTS ${physics_folder}/inverse/inverse.hpp)
        string(APPEND inverses "    each.leave_out(\"${physics}\");\n")
      endif()
      continue()
    endif()
    terrane_component(physics/${physics} ${ARGN} KERNELS)
    set(physics_target terrane_physics_${physics})
    include(${physics_folder}/physics.cmake OPTIONAL)
    list(APPEND all_physics ${physics})
    string(APPEND includes "#include \"terrane/physics/${physics}/physics.hpp\"\n")
    string(APPEND list "  registry.add(${physics}::physics());\n")
    if(EXISTS ${physics_folder}/inverse/inverse.hpp)
      string(APPEND includes "#include \"terrane/physics/${physics}/inverse/inverse.hpp\"\n")
      string(APPEND inverses "    each.add(${physics}::inverse::inverse());\n")
    endif()
  endforeach()

  set(source ${PROJECT_BINARY_DIR}/generated/physics/all.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// The physics of this build, from the folders below src/terrane/physics (cmake/TerranePhysics.cmake).
#include "terrane/physics/all.hpp"

@includes@
namespace terrane::physics {

Registry all() {
  Registry registry;
@list@  return registry;
}

const inversion::Inverses& inversions() {
  static const inversion::Inverses all = [] {
    inversion::Inverses each;
@inverses@    return each;
  }();
  return all;
}

}  // namespace terrane::physics
]])
  add_library(terrane_physics STATIC ${source})
  add_library(terrane::physics ALIAS terrane_physics)
  set_target_properties(terrane_physics PROPERTIES EXPORT_NAME physics)
  list(TRANSFORM all_physics PREPEND terrane::physics_ OUTPUT_VARIABLE components)
  target_link_libraries(terrane_physics PUBLIC ${components} terrane::inversion PRIVATE $<BUILD_INTERFACE:terrane_flags>)
  set_property(GLOBAL APPEND PROPERTY TERRANE_COMPONENTS terrane_physics)
  set(TERRANE_ALL_PHYSICS ${all_physics} PARENT_SCOPE)
endfunction()
