// Reads values of cells (models, active cells) from files of any format that may contain them.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::inversion {

/// Whether the file contains an octree mesh; false for an empty name.
bool is_octree(const std::string& mesh_file);

/// A property of the cells of the mesh, SI.  mesh_file: the file that the mesh was read from; empty if the
/// job specifies the mesh.  Throws InputError at table.key.
std::vector<double> values_of_file(const Config& table, const char* key, const std::string& property,
                                   const TensorMesh& mesh, const std::string& mesh_file);

/// Numbers as written in the file, without units: 1, 0 and −1 for active cells, or weights. Formats: UBC
/// models with any extension, lists of numbers in UBC's order, .npy, tables of easting, northing, up and a
/// last column, and all formats that contain a mesh.
std::vector<double> marks_of_file(const Config& table, const char* key, const TensorMesh& mesh,
                                  const std::string& mesh_file);

}  // namespace terrane::inversion
