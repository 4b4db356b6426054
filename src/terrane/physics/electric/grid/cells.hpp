// div (1/ρ) grad φ = −I δ for φ at the centres of the cells of a tensor mesh, as a network of conductances
// (solve/networks/network.hpp): the same equations as SimPEG's Simulation3DCellCentered.
//
// A face of area A adds a conductance C between the centres of its two cells,
//
//   inside     C = A/((h₁ρ₁ + h₂ρ₂)/2)     the resistances of two halves of cells in series
//   grounded   C = A/(ρh/2)
//   mixed      C = A α/(ρ (1 + αh/2))      ∂φ/∂n + αφ = 0, α = cos θ/r from the middle of the top
//   insulated  C = 0
//
// with h the width of a cell across the face, ρ its resistivity, r the distance of the face from the middle
// of the top, and θ the angle between this line and the outward normal. The current of an electrode enters
// the whole cell that contains it. If all sides are insulated, the sum of currents leaves at the first cell,
// whose potential is zero.
//
// Near electrodes potentials are less accurate than those of assemble.hpp with a secondary potential: the
// position of an electrode within its cell is neglected.
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

/// The point source assumed by mixed walls: at the median faces along east and north, at the top.
Point middle_of_top(const TensorMesh& mesh);

/// The scheme for given resistivities, Ω·m [up, north, east]. The object keeps references to its arguments.
class CellScheme {
 public:
  /// Throws ShapeError: there is not one resistivity per cell; InputError: one is not finite and positive, or
  /// the condition at the top is mixed.
  CellScheme(const TensorMesh& mesh, std::span<const double> resistivity, const Boundaries& boundary);

  /// The network; its nodes are the cells.
  HostNetwork network() const;
  /// Returns −(dK) φ in amperes, where K is the matrix of network(): the change of currents that is
  /// equivalent to a change of resistivities by `change`, Ω·m. phi: potential, V. All [cells].
  std::vector<double> currents_of_change(std::span<const double> change, std::span<const double> phi,
                                         int threads) const;
  /// Adds −λᵀ (∂K/∂ρ_c) φ for each cell c to `slope`: the transpose of currents_of_change(). All [cells].
  void add_slope(std::span<const double> phi, std::span<const double> lambda, std::span<double> slope,
                 int threads) const;

 private:
  /// One side of a cell.
  struct Face {
    double conductance = 0;  ///< S
    double by_own = 0,
           by_other = 0;  ///< −∂(conductance)/∂ρ for ρ of the cell and of its neighbour across the face
    bool wall = false;
    std::size_t other = 0;  ///< index of the cell on the other side of the face
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
