// How data of electrode arrays depend on the conductivity of each cell: J of d(σ), as an operator.
//
//   d(V_MN/I_AB)/dσ_c = −φ_ABᵀ (∂K/∂σ_c) φ_MN        φ_AB = φ_A − φ_B, potentials of unit currents
//
// by reciprocity (McGillivray & Oldenburg 1990, Geophysical Prospecting 38, 499-524): one solve for each
// electrode gives all rows, and products with J and Jᵀ are sums over stored potentials, so they are each
// other's transposes to rounding, whatever the solver's tolerance.
//
// Potentials are total ones, which depend smoothly on every cell. Their error near electrodes is that of a
// homogeneous ground on the same mesh, too: ρ_a = ΔV[σ]/ΔV[1 S/m], both of the mesh, and R = ρ_a/k. Where
// sides are grounded or insulated, R is that of the mesh, and on flat ground ρ_a = k R with the k of a half
// space, as direct_current() has it; under uneven ground 1/ΔV[1 S/m] is k in both.
//
// For rock of small chargeability m_a = −J m with J = ∂ ln ρ_a/∂ ln σ (Seigel 1959): the same operator is
// that of induced polarization. The entries of a row of that J add up to −1.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/physics/electric/forward.hpp"
#include "terrane/solve/linear_operator.hpp"

namespace terrane::electric {

enum class Datum { resistance, apparent_resistivity, log_apparent_resistivity };
enum class Unknown { conductivity, log_conductivity };

/// ΔV/I of every array in a ground of 1 S/m, by the mesh: what Sensitivity holds data against. Of one mesh
/// and survey, whatever the conductivity.  comm: where this is rank 0, whose others help() · at_once: into
/// how many groups ranks are divided, as of direct_current()
std::vector<double> unit_transfers(const TensorMesh& mesh, const std::vector<double>& ground,
                                   const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                   Comm* comm = nullptr, int at_once = 0);

/// The other ranks of comm: each group solves for the electrodes that are its turn for rank 0, which has the
/// same bits as if it were alone.  all: as Sensitivity; else as unit_transfers()
void help(const TensorMesh& mesh, const std::vector<double>& conductivity, const std::vector<double>& ground,
          const Electrodes& electrodes, const Parameters& parameters, Stream& stream, bool all, Comm& comm,
          int at_once = 0);

class Sensitivity final : public solve::LinearOperator {
 public:
  /// Solves for every electrode, and keeps potentials: 8 bytes per node and electrode.  conductivity [cells]
  /// S/m, of all axes · ground: share that is not air, or empty · unit: unit_transfers(), or empty.  Throws
  /// as direct_current(), and InputError: an array without a geometric factor, but for resistances.
  /// comm: where this is rank 0, whose others help(): for the unit first, unless it is given.
  Sensitivity(TensorMesh mesh, const std::vector<double>& conductivity, std::vector<double> ground,
              Electrodes electrodes, const Parameters& parameters, Datum datum, Unknown unknown,
              Stream& stream, std::vector<double> unit = {}, DirectCurrentReport* report = nullptr,
              Progress* progress = nullptr, Comm* comm = nullptr, int at_once = 0);
  ~Sensitivity() override;

  const std::vector<double>& data() const;  ///< d(σ), [arrays]
  const std::vector<double>& unit() const;

  std::size_t rows() const override;     ///< arrays
  std::size_t columns() const override;  ///< cells
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  void row(std::size_t i, std::span<double> out) const override;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace terrane::electric
