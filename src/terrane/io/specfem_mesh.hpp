// Meshes of SPECFEM3D: a folder with nodes_coords_file, mesh_file, materials_file, nummaterial_velocity_file
// and optional surface files (SPECFEM3D Cartesian, user manual 4.0, "external mesh"). Elements have 8 or 27
// nodes. Anisotropy flags, poroelastic domains and materials of interfaces are refused.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "terrane/io/hexahedra.hpp"

namespace terrane::io {

/// (name, content) of each file.
using SpecfemMeshFiles = std::vector<std::pair<std::string, std::string>>;

/// Whether a path is a folder with a mesh of SPECFEM3D.
bool is_specfem_mesh(const std::string& folder);

/// Throws FileError, InputError with file and line.
HexahedraFile read_specfem_mesh(const std::string& folder, std::size_t memory = 0);
HexahedraFile read_specfem_mesh(const std::string& name, const SpecfemMeshFiles& files);

}  // namespace terrane::io
