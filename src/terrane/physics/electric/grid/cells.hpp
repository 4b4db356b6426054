// div (1/ρ) grad φ = −I δ in the middle of the cells of a tensor mesh, as a network of conductances
// (solve/networks/network.hpp): what SimPEG's Simulation3DCellCentered solves.
//
// A face of area A is a conductance C between the middles of its two cells,
//
//   inside     C = A/((h₁ρ₁ + h₂ρ₂)/2)     the resistances of two halves of cells in series
//   grounded   C = A/(ρh/2)
//   mixed      C = A α/(ρ (1 + αh/2))      ∂φ/∂n + αφ = 0, α = cos θ/r from the middle of the top
//   insulated  C = 0
//
// with h the width of a cell across the face. A current is that of the whole cell it flows into. Where all
// sides are insulated, what flows in leaves by the first cell, whose potential is zero.
//
// Near electrodes potentials are less accurate than those of assemble.hpp with a secondary potential: the
// place of an electrode within its cell does not count.
//
// Source: Haber 2014, Computational Methods in Geophysical Electromagnetics, SIAM, chapter 3; Cockett et al.
// 2015, Computers & Geosciences 85, 142–154.
#pragma once

#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electric/parameters.hpp"

namespace terrane::electric {

/// The point source that mixed walls are made for: at the median faces along east and north, on the top.
Point middle_of_top(const TensorMesh& mesh);

/// The scheme for resistivities, Ω·m [up, north, east]. It keeps references to its arguments.
class CellScheme {
 public:
  /// Throws ShapeError: resistivities that are not one per cell; InputError: one that is not finite and above
  /// zero, a top that is mixed.
  CellScheme(const TensorMesh& mesh, std::span<const double> resistivity, const Boundaries& boundary);

  /// Nodes are cells.
  HostNetwork network() const;
  /// −(dK) φ, A: what currents must change by where resistivities change by `change`. φ of unit currents, V;
  /// all [cells]. By cell, 14 values are read and one is written.
  std::vector<double> currents_of_change(std::span<const double> change, std::span<const double> phi,
                                         int threads) const;
  /// Adds −λᵀ (∂K/∂ρ_c) φ of each cell c to `slope` [cells]: its transpose, seen from λ.
  void add_slope(std::span<const double> phi, std::span<const double> lambda, std::span<double> slope,
                 int threads) const;

 private:
  /// One side of a cell.
  struct Face {
    double conductance = 0;           ///< S
    double by_own = 0, by_other = 0;  ///< −∂C/∂ρ of this cell and of the other
    bool wall = false;
    std::size_t other = 0;  ///< the cell beyond
  };
  Face face(const Index (&cell)[3], std::size_t a, bool high) const;
  std::size_t number(const Index (&cell)[3]) const;
  template <class Visit>
  void each_face(int threads, const Visit& visit) const;

  const TensorMesh& mesh_;
  std::span<const double> resistivity_;
  Boundaries boundary_;
  Viewpoint from_;
};

}  // namespace terrane::electric
