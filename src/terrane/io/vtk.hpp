// VTK XML for ParaView and PyVista: rectilinear meshes (.vtr) and station grids with heights (.vts).
// Arrays are appended raw, little-endian, with UInt64 headers.
#pragma once

#include <string>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Cell properties of a mesh.
void write_vtr(const std::string& path, const MeshData& mesh);
/// Fields at the nodes of a grid; heights from its field "up" (0 without it).
void write_vts(const std::string& path, const GridData& grid);

}  // namespace terrane::io
