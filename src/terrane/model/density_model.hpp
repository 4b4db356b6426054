// The earth model of gravity: bodies of constant density, on a mesh or as a list of prisms.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// Densities on a tensor mesh. Only cells with a density other than zero are held, so that a large ensemble
/// with a few bodies in it stays small.
struct MeshModel {
  TensorMesh mesh;
  std::vector<std::uint64_t> cell;  ///< index of each cell held, ascending
  std::vector<double> density;      ///< kg/m³, one for each cell held

  /// density [cells of the mesh] kg/m³; zeros are dropped. Throws ShapeError, InputError (NaN).
  static MeshModel from_dense(TensorMesh mesh, const std::vector<double>& density);
  /// One value per cell of the mesh, zero where none is held.
  std::vector<double> dense() const;
};

/// Densities of free prisms.
struct PrismModel {
  PrismSet prisms;
  std::vector<double> density;  ///< kg/m³ [prisms]
};

using DensityModel = std::variant<MeshModel, PrismModel>;

/// The prisms that have a density other than zero, in the model's order.
PrismModel sources(const DensityModel& model);

/// How many prisms sources() would return.
std::size_t source_count(const DensityModel& model);

}  // namespace terrane
