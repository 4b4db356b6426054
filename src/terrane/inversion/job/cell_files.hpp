// Values of cells from files of any format that may hold them: models, active cells.
#pragma once

#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::inversion {

/// Whether a file holds an octree mesh; false for an empty name.
bool is_octree(const std::string& mesh_file);

/// A property of the cells of the mesh, SI.  mesh_file: the file of the mesh; empty where the job gives the
/// mesh.  Throws InputError at table.key.
std::vector<double> values_of_file(const Config& table, const char* key, const std::string& property,
                                   const TensorMesh& mesh, const std::string& mesh_file);

/// Numbers as they stand in the file: 1, 0 and −1 of active cells, weights. UBC models of any extension and
/// lists of bare numbers (in UBC's order), .npy, tables with easting, northing, up and a last column, and
/// what else holds a mesh.
std::vector<double> marks_of_file(const Config& table, const char* key, const TensorMesh& mesh,
                                  const std::string& mesh_file);

}  // namespace terrane::inversion
