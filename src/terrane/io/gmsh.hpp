// Meshes of Gmsh: .msh 4.1, ASCII or binary, hexahedra with 8, 20 or 27 nodes. Names of physical volumes are
// those of media, names of physical surfaces those of sides (gmsh.info, reference manual, "MSH file format").
// Other versions and other volume elements are refused.
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/hexahedra.hpp"

namespace terrane::io {

bool begins_gmsh(std::string_view head);

/// Throws InputError with the line or, for a binary file, the byte.
HexahedraFile read_gmsh(std::string name, std::string bytes);

}  // namespace terrane::io
