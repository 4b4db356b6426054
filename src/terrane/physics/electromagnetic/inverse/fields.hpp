// Electromagnetic fields as data of resistivities: complex values at receivers, each of them two numbers.
//
//   parts   amplitude_phase: ln|d| and arg d, on the branch nearest to the observed phase: in the logarithms
//           of data and model they are nearly linear, and an uncertainty of some percent is one for all;
//           real_imaginary: of d, V/m or A/m
//   J       Re and Im of c ∂d/∂m, c = 1/d or 1
//
// Of plane waves d are impedances and tippers, whose changes are sums over those of fields (transfer.hpp).
// ln|Z| is half of ln ρ_a. Impedances ee and nn and tippers, which are zero over layers, have real and
// imaginary parts.
//
//   Jᵀ w    Re Σ c (w₁ − i w₂) ∂d/∂m
//   model   the resistivity of each cell that takes part, Ω·m; the inversion takes its logarithm
//
// Sensitivities are products of the fields that sources and receivers send (physics/electromagnetic/
// sensitivity.hpp), at every model: in memory from one solve for each receiver; or every product solves for
// each source anew.
#pragma once

#include <complex>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electromagnetic::inverse {

class FieldModel;
class FieldRanks;

enum class Parts { amplitude_phase, real_imaginary };

/// Data that were measured.
struct MeasuredFields {
  /// The place of each datum in Outcome::data; of plane waves in [number, frequency, receiver], numbers of a
  /// transfer function.
  std::vector<std::size_t> place;
  std::vector<std::complex<double>> value;  ///< V/m, A/m, ohm; not zero where amplitude and phase are data
  std::vector<double> sigma;                ///< standard deviation of the real and of the imaginary part
  std::vector<char> straight;  ///< 1: its real and imaginary parts are data in any case; empty: of none

  std::size_t size() const { return place.size(); }
  Parts parts(std::size_t n, Parts of_others) const {
    return !straight.empty() && straight[n] ? Parts::real_imaginary : of_others;
  }
  /// Both numbers of every datum and their standard deviations, to first order.
  void as(Parts parts, std::vector<double>& data, std::vector<double>& deviation) const;
};

class ElectromagneticFields final : public inversion::Forward {
 public:
  /// problem: cells that take no part keep its conductivity; receivers keep its contrasts · active: cells
  /// that take part, ascending; empty: all · device: computes the fields · comm: null, or collective with
  /// this as rank 0, while the others serve(): sources, frequencies and sites are shared, with the same bits
  /// · workers: null, or those that the other ranks serve as
  ElectromagneticFields(Problem problem, std::vector<std::uint32_t> active, MeasuredFields measured,
                        Parts parts, bool in_memory, Device device, int threads = 0, Comm* comm = nullptr,
                        std::shared_ptr<solve::Workers> workers = nullptr);
  std::size_t rows() const override { return 2 * measured_.size(); }
  std::size_t columns() const override { return active_.empty() ? problem_.mesh.size() : active_.size(); }
  /// model: Ω·m. A solve that does not converge is among the warnings.
  inversion::Linearised at(std::span<const double> resistivity, Progress* progress = nullptr) const override;

 private:
  std::shared_ptr<FieldModel> model(const Problem& problem, Progress* progress) const;

  Problem problem_;
  std::vector<std::uint32_t> active_;
  MeasuredFields measured_;
  Parts parts_;
  bool in_memory_;
  Device device_;
  int threads_;
  Comm* comm_;
  std::shared_ptr<solve::Workers> workers_;
  mutable std::shared_ptr<FieldRanks> ranks_;  // the other ranks, from the first model on
};

}  // namespace terrane::electromagnetic::inverse
