// Bilinear forms φᵀ (∂K/∂σ_c) ψ of cells c, and φᵀ K(δσ) ψ of layers of cells, for two potentials φ and ψ on
// a slab of nodes. K(σ) is the network of conductances for the conductivities σ (assemble.hpp).
//
// K is a sum over cells: each cell adds σV/(4h²), with its volume V and its width h along the edge, to its
// twelve edges and, if it lies at a wall that conducts, a term to its four nodes on the wall. So the terms of
// a layer of cells need only the two planes of nodes below and above it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// The forms φᵀ (∂K/∂σ_c) ψ of all cells of a mesh, which must outlive this object.
class CellForms {
 public:
  CellForms(const TensorMesh& mesh, const Boundaries& boundary, const Viewpoint& from);

  /// The forms of the cells (k, j), a row from west to east: sums [3, cells of the row], one for the edges
  /// along each of easting, northing and up, including walls across that axis. phi, psi: the lower plane of
  /// nodes of layer k, followed by the upper plane
  void row(std::size_t k, std::size_t j, const double* phi, const double* psi, double* sums) const;

 private:
  /// The contribution of a wall to the form of a cell, at one of the cell's nodes.
  struct Corner {
    // Index of the cell in the row; index of its first sum in `sums`; index of the node in the two planes.
    std::size_t i, axis, node;
    double weight;  // m
  };
  void add_wall(Boundary boundary, const Viewpoint& from, const Wall& wall);

  const TensorMesh& mesh_;
  std::size_t row_, plane_;
  std::unordered_map<std::size_t, std::vector<Corner>> corners_;  // corners by row of cells
};

/// The network K(δσ) of some layers of cells, on the nodes of these layers.
class LayersNetwork {
 public:
  /// along: δσ along easting, northing, up, [cells] of the whole mesh; may be zero or negative;
  /// layers: range of layers of the mesh
  LayersNetwork(const TensorMesh& mesh, const std::array<const std::vector<double>*, 3>& along,
                const Boundaries& boundary, const Viewpoint& from, const Range& layers);

  /// framed_size(): length of u for multiply(): the nodes of the layers, surrounded by a frame of zeros.
  /// size(): number of the nodes.
  std::size_t framed_size() const { return static_cast<std::size_t>(network_.nodes.grown(1).count()); }
  std::size_t size() const { return static_cast<std::size_t>(network_.nodes.count()); }
  /// u = Σ weight φ over `terms`, pairs of a potential φ and its weight. A potential has size() values, on
  /// the nodes of the layers; u has framed_size() values, of which the frame is not changed.
  void combine(std::span<const std::pair<const double*, double>> terms, std::span<double> u) const;
  /// y = K u.  u [framed_size()]; y [size()], overwritten
  void multiply(std::span<const double> u, std::span<double> y) const;

 private:
  /// Calls use(index in the framed array, index among the nodes, count) for each row of nodes.
  template <class Use>
  void for_rows(const Use& use) const;

  HostNetwork network_;
};

}  // namespace terrane::electric
