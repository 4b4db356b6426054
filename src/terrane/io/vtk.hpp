// VTK XML for ParaView and PyVista: rectilinear meshes (.vtr) and station grids with heights (.vts).
// Arrays are appended as raw little-endian bytes, with UInt64 headers.
#pragma once

#include <string>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Writes the cell properties of a mesh.
void write_vtr(const std::string& path, const MeshData& mesh);
/// Writes the fields at the nodes of a grid; heights are its field "up", or 0 without it.
void write_vts(const std::string& path, const GridData& grid);

}  // namespace terrane::io
