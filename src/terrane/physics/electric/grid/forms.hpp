// φᵀ (∂K/∂σ_c) ψ of cells, and φᵀ K(δσ) ψ of layers of them, for potentials on a slab of nodes.
//
// K is a sum over cells: each adds a quarter of its σV/h² to its twelve edges and, where it lies at a wall
// that conducts, a term to the four nodes there. So the terms of a layer of cells need only its two planes of
// nodes.
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

/// The forms φᵀ (∂K/∂σ_c) ψ of all cells of a mesh, which must outlive this.
class CellForms {
 public:
  CellForms(const TensorMesh& mesh, const Boundaries& boundary, const Viewpoint& from);

  /// The forms of the cells (k, j), a row from west to east: sums [3, cells of the row], of edges along
  /// easting, northing and up, with the walls across that axis. phi, psi: the lower plane of nodes of layer
  /// k, followed by the upper one
  void row(std::size_t k, std::size_t j, const double* phi, const double* psi, double* sums) const;

 private:
  /// The term of a wall of a cell for one of its nodes.
  struct Corner {
    std::size_t i, axis, node;  // cell of the row, axis of `sums`, and node of the two planes
    double weight;              // m
  };
  void add_wall(Boundary boundary, const Viewpoint& from, const Wall& wall);

  const TensorMesh& mesh_;
  std::size_t row_, plane_;
  std::unordered_map<std::size_t, std::vector<Corner>> corners_;  // corners of the cells of a row
};

/// K(δσ) of some layers of cells, on their nodes.
class LayersNetwork {
 public:
  /// along: easting, northing, up, [cells] of the whole mesh, any numbers · layers: of it
  LayersNetwork(const TensorMesh& mesh, const std::array<const std::vector<double>*, 3>& along,
                const Boundaries& boundary, const Viewpoint& from, const Range& layers);

  /// Numbers of u as multiply() reads it: the nodes of the layers within a frame of zeros.
  std::size_t framed_size() const { return static_cast<std::size_t>(network_.nodes.grown(1).count()); }
  std::size_t size() const { return static_cast<std::size_t>(network_.nodes.count()); }
  /// u = Σ weight φ.  terms: planes of nodes of the layers, [size()] each · u [framed_size()], whose frame
  /// stays
  void combine(std::span<const std::pair<const double*, double>> terms, std::span<double> u) const;
  /// y = K u.  u [framed_size()] · y [size()], overwritten
  void multiply(std::span<const double> u, std::span<double> y) const;

 private:
  /// Calls use(node of the frame, node of the nodes, count) for each row of nodes.
  template <class Use>
  void for_rows(const Use& use) const;

  HostNetwork network_;
};

}  // namespace terrane::electric
