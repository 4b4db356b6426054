// Meshes of Gmsh: .msh 4.1, ASCII or binary, hexahedra of 8, 20 or 27 nodes; physical volumes name rocks,
// physical surfaces name sides (gmsh.info, reference manual, "MSH file format"). Other versions and other
// volumes are refused.
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/hexahedra.hpp"

namespace terrane::io {

bool begins_gmsh(std::string_view head);

/// Throws InputError with the line, or the byte of a binary file.
HexahedraFile read_gmsh(std::string name, std::string bytes);

}  // namespace terrane::io
