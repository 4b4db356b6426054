// Reads values of cells (models, active cells) from files of any format that may contain them.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/model/properties.hpp"

namespace terrane::inversion {

/// The kind of a property or, of a vector such as "magnetization", of its components, whose unit the length
/// of the vector has. Throws InputError for unknown names.
const PropertyKind& kind_of_values(const std::string& property);

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
