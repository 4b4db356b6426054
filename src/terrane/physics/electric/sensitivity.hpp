// Derivatives J of the data d(σ) of electrode arrays with respect to the conductivity σ_c of each cell, as an
// operator.
//
//   d(V_MN/I_AB)/dσ_c = −φ_ABᵀ (∂K/∂σ_c) φ_MN        φ_AB = φ_A − φ_B, potentials of unit currents
//
// by reciprocity (McGillivray & Oldenburg 1990, Geophysical Prospecting 38, 499-524). A, B: current
// electrodes; M, N: potential electrodes; K: the network of grid/assemble.hpp. One solve for each electrode
// gives all rows. Products with J and Jᵀ are sums over stored potentials; so the two operators are each
// other's transposes to rounding, whatever the solver's tolerance.
//
// If the medium is anisotropic, c denotes a cell and an axis, and its edges are those along that axis. If the
// medium stores charge, φ and σ are complex, and the formula holds without conjugation. With σ = |σ| e^{iθ},
// d ln σ = d ln |σ| + i dθ.
//
// Total potentials are used, because they depend smoothly on every cell. Their error near electrodes also
// occurs over homogeneous ground on the same mesh and is divided out: ρ_a = ΔV[σ]/ΔV[1 S/m], both computed on
// the mesh, and the resistance is R = ρ_a/k, with the geometric factor k of direct_current(). If sides are
// grounded or insulated, R is used as computed on the mesh, and over flat ground ρ_a = k R with the k of a
// half space; over uneven ground with such sides k = 1/ΔV[1 S/m]. direct_current() uses the same k. Mixed
// walls depend on the mean conductivities along the axes; the derivative of the walls' conductances with
// respect to these means, which is small for distant walls and zero for isotropic media, is neglected.
//
// For media of small chargeability m, the apparent chargeability is m_a = −J m with J = ∂ ln ρ_a/∂ ln σ
// (Seigel 1959): so this operator also serves induced polarization. The entries of a row of that J add up to
// −1.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/physics/electric/forward.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electric {

enum class Datum { resistance, apparent_resistivity, log_apparent_resistivity };
enum class Unknown { conductivity, log_conductivity };

/// ΔV/I of every array over a ground of 1 S/m, computed on the mesh: the reference by which Sensitivity
/// divides data. Over uneven ground they are followed by ΔV/I from direct_current(), which do not have the
/// mesh's error near electrodes. They depend on mesh and survey only. comm, at_once: as in direct_current();
/// rank 0 has the result; slopes: as in Medium
std::vector<double> unit_transfers(const TensorMesh& mesh, const std::vector<double>& ground,
                                   const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                   Comm* comm = nullptr, int at_once = 0,
                                   const std::vector<double>& slopes = {});

/// Rows: [arrays]; for complex conductivities [2, arrays]: resistance and reactance, V/A; or apparent
/// resistivity, or its logarithm, and the phase by which the voltage lags, rad.
/// Columns: [cells], or [axes, cells] if the medium is anisotropic (easting, northing, up); for complex
/// conductivities [2, axes, cells]: real and imaginary part of σ, or ln |σ| and the angle of σ, rad.
class Sensitivity final : public solve::PartedOperator {
 public:
  /// Solves for every electrode and stores the potentials: 8 bytes per node and electrode, 16 if complex.
  /// medium: without chargeability; unit: unit_transfers(), or empty.  Throws what direct_current() throws,
  /// and InputError: an array without a geometric factor, unless data are resistances; a chargeability. comm:
  /// collective over its ranks, which pass the same problem, and `unit` on all ranks or none. As
  /// solve::SharedOperator needs it, each rank stores some ranges of layers of cells, and the potentials on
  /// their nodes.
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

/// Bytes of the potentials that one of `ranks` ranks stores for an operator.
double bytes_of_potentials(const TensorMesh& mesh, std::size_t electrodes, bool complex, int ranks);
/// Bytes that J v or Jᵀ v needs on a rank while it is computed, in addition to potentials and models.
double bytes_of_product(const TensorMesh& mesh, bool complex, int ranks, int threads);

}  // namespace terrane::electric
