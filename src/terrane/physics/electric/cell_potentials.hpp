// Potentials φ at the centres of cells (grid/cells.hpp) and their derivatives with respect to resistivities.
// The network of conductances K and its multigrid hierarchy are made once, for any number of sources.
//
//   K φ = q        K dφ = −(dK) φ        λᵀ dφ = −(K⁻¹ λ)ᵀ (dK) φ
//
// q: currents that enter the cells, A; λ: weights with which a receiver adds the potentials of cells.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/electric/grid/cells.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::electric {

/// Solver on one rank; all arrays are [cells], in the order [up, north, east].
class CellPotentials {
 public:
  /// resistivity: Ω·m; parameters: only boundary, tolerance and most_iterations are used; fields: number of
  /// potentials that the caller will store, which must also fit into memory.  Throws ShapeError, InputError
  /// (CellScheme), MemoryError.
  CellPotentials(TensorMesh mesh, std::vector<double> resistivity, const Parameters& parameters,
                 Stream& stream, std::size_t fields = 0, const MemoryBudget& budget = {});
  ~CellPotentials();

  /// φ, V, due to currents that enter the cells, A. If all sides are insulated, the sum of the currents
  /// leaves at the first cell, whose potential is zero. If the solve does not converge, the report says so.
  std::vector<double> potential(std::span<const double> currents, solve::SolveReport& report);
  /// dφ for a change of the resistivities by `change`, Ω·m. Needs one solve.
  std::vector<double> change(std::span<const double> phi, std::span<const double> change,
                             solve::SolveReport& report);
  /// Adds λᵀ ∂φ/∂ρ_c for each cell c to `slope`.  of_receivers: K⁻¹ λ = potential(λ). Needs no solve.
  void add_slope(std::span<const double> phi, std::span<const double> of_receivers,
                 std::span<double> slope) const;

  std::size_t cells() const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

/// Bytes of a solver for `cells` cells, and of `fields` stored potentials.
double bytes_of_cell_potentials(double cells, double fields, bool on_gpu = false);

}  // namespace terrane::electric
