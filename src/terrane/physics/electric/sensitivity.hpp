// How data of electrode arrays depend on the conductivity of each cell: J of d(σ), as an operator.
//
//   d(V_MN/I_AB)/dσ_c = −φ_ABᵀ (∂K/∂σ_c) φ_MN        φ_AB = φ_A − φ_B, potentials of unit currents
//
// by reciprocity (McGillivray & Oldenburg 1990, Geophysical Prospecting 38, 499-524): one solve for each
// electrode gives all rows, and products with J and Jᵀ are sums over stored potentials, so they are each
// other's transposes to rounding, whatever the solver's tolerance.
//
// Where the medium conducts by direction, c is a cell and an axis, and its edges are those along that axis.
// Where it stores charge, φ and σ are complex, and the same holds without conjugates: σ = |σ| e^{iθ}, and d
// ln σ = d ln |σ| + i dθ.
//
// Potentials are total ones, which depend smoothly on every cell. Their error near electrodes is that of a
// homogeneous ground on the same mesh, too: ρ_a = ΔV[σ]/ΔV[1 S/m], both of the mesh, and R = ρ_a/k, k under
// uneven ground that of direct_current(). Where sides are grounded or insulated, R is that of the mesh, and
// on flat ground ρ_a = k R with the k of a half space, as direct_current() has it; under uneven ground beside
// such sides 1/ΔV[1 S/m] is k in both. Mixed walls are those of the mean conductivities along the axes; their
// change with these, which walls that are far do not show, is left out: none where all axes conduct alike.
//
// For media of small chargeability m_a = −J m with J = ∂ ln ρ_a/∂ ln σ (Seigel 1959): the same operator is
// that of induced polarization. The entries of a row of that J add up to −1.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/physics/electric/forward.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electric {

enum class Datum { resistance, apparent_resistivity, log_apparent_resistivity };
enum class Unknown { conductivity, log_conductivity };

/// ΔV/I of every array in a ground of 1 S/m, computed on the mesh: the reference that Sensitivity divides
/// data by. Under uneven ground these are followed by ΔV/I of direct_current(), without the error of the
/// singularity. They depend on mesh and survey only. comm, at_once: as in direct_current(); rank 0 has the
/// result · slopes: as in Medium
std::vector<double> unit_transfers(const TensorMesh& mesh, const std::vector<double>& ground,
                                   const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                   Comm* comm = nullptr, int at_once = 0,
                                   const std::vector<double>& slopes = {});

/// Rows [arrays]; of complex conductivities [2, arrays]: resistance and reactance, V/A; or apparent
/// resistivity, or its logarithm, and the phase by which the voltage lags, rad.
/// Columns [cells]; [axes, cells] where the medium differs by axis (easting, northing, up); of complex ones
/// [2, axes, cells]: both parts of σ, or ln |σ| and its angle, rad.
class Sensitivity final : public solve::PartedOperator {
 public:
  /// Solves for every electrode, and keeps potentials: 8 bytes per node and electrode, 16 of complex ones.
  /// medium: without a chargeability · unit: unit_transfers(), or empty.  Throws as direct_current(), and
  /// InputError: an array without a geometric factor, but for resistances; a chargeability.
  /// comm: collective over its ranks, which pass the same problem and, or none, the unit. Each holds its
  /// share of the parts, which are layers of cells, and potentials on their nodes: for solve::SharedOperator.
  Sensitivity(TensorMesh mesh, const Medium& medium, Electrodes electrodes, const Parameters& parameters,
              Datum datum, Unknown unknown, Stream& stream, std::vector<double> unit = {},
              DirectCurrentReport* report = nullptr, Progress* progress = nullptr, Comm* comm = nullptr,
              int at_once = 0);
  ~Sensitivity() override;

  const std::vector<double>& data() const;  ///< d(σ), [rows]
  const std::vector<double>& unit() const;

  std::size_t rows() const override;
  std::size_t columns() const override;
  std::size_t parts() const override;
  Range held() const override;
  std::vector<std::uint32_t> columns_of(const Range& parts) const override;
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override;
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// Bytes of potentials that one of `ranks` ranks keeps of an operator.
double bytes_of_potentials(const TensorMesh& mesh, std::size_t electrodes, bool complex, int ranks);
/// Bytes that J v or Jᵀ v takes on a rank while it is computed, besides potentials and models.
double bytes_of_product(const TensorMesh& mesh, bool complex, int ranks, int threads);

}  // namespace terrane::electric
