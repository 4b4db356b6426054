// Potentials in the middle of cells (grid/cells.hpp), and how they change with resistivities: one network and
// one multigrid for any number of currents.
//
//   K φ = q        K dφ = −(dK) φ        λᵀ dφ = −(K⁻¹ λ)ᵀ (dK) φ
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

/// Solver on one rank; all arrays are [cells], in [up, north, east].
class CellPotentials {
 public:
  /// resistivity: Ω·m · parameters: boundary, tolerance and most_iterations · fields: how many potentials the
  /// caller is going to keep, for which there must be room, too.  Throws ShapeError, InputError
  /// (CellScheme), MemoryError.
  CellPotentials(TensorMesh mesh, std::vector<double> resistivity, const Parameters& parameters,
                 Stream& stream, std::size_t fields = 0, const MemoryBudget& budget = {});
  ~CellPotentials();

  /// φ, V, of currents into the cells, A. Where all sides are insulated what they add up to leaves by the
  /// first cell, whose potential is zero. A solve that does not converge is in the report.
  std::vector<double> potential(std::span<const double> currents, solve::SolveReport& report);
  /// dφ where the resistivities change by `change`, Ω·m. One solve.
  std::vector<double> change(std::span<const double> phi, std::span<const double> change,
                             solve::SolveReport& report);
  /// λᵀ ∂φ/∂ρ_c of each cell, given K⁻¹ λ = potential(λ), is added to `slope`. No solve.
  void add_slope(std::span<const double> phi, std::span<const double> of_receivers,
                 std::span<double> slope) const;

  std::size_t cells() const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

/// Bytes of a solver for `cells` cells and of `fields` potentials.
double bytes_of_cell_potentials(double cells, double fields, bool on_gpu = false);

}  // namespace terrane::electric
