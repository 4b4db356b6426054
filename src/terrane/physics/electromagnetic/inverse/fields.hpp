// Electromagnetic fields as data of an inversion for resistivity: complex values at receivers, each of which
// is two real data.
//
//   parts   amplitude_phase: ln|d| and arg d, on the branch nearest to the observed phase; they depend almost
//           linearly on the logarithm of the model, and one relative uncertainty suits all data;
//           real_imaginary: Re d and Im d, V/m or A/m
//   J       Re and Im of c ∂d/∂m, c = 1/d or 1, m: the model
//
// For plane waves, d are impedances and tippers, whose derivatives are weighted sums of those of fields
// (transfer.hpp). ln|Z| is (ln ρ_a)/2 plus a constant. Impedances ee and nn and tippers, which are zero over
// layers, always enter with real and imaginary parts.
//
//   Jᵀ w    Re Σ c (w₁ − i w₂) ∂d/∂m over all d; w₁, w₂: the values in w of the two real data of d
//   model   the resistivity of each active cell, Ω·m; the inversion uses its logarithm
//
// A sensitivity is the product of two fields, of the source and of a source at the receiver
// (physics/electromagnetic/sensitivity.hpp), recomputed for every model. Either J is computed, with one solve
// for each receiver, and stored; or every product with J solves once for each source.
#pragma once

#include <complex>

#include "terrane/inversion/data/forward.hpp"
#include "terrane/physics/electromagnetic/sensitivity.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::electromagnetic::inverse {

class FieldModel;
class FieldRanks;

enum class Parts { amplitude_phase, real_imaginary };

/// Measured complex values and their uncertainties.
struct MeasuredFields {
  /// The index of each datum in Outcome::data; for plane waves in [number, frequency, receiver], where number
  /// is one of the six values of a transfer function.
  std::vector<std::size_t> place;
  std::vector<std::complex<double>> value;  ///< V/m, A/m, ohm; nonzero if amplitude and phase are data
  std::vector<double> sigma;                ///< standard deviation of the real and of the imaginary part
  std::vector<char> straight;  ///< [datum] 1: real and imaginary parts are the data in any case; empty: 0

  std::size_t size() const { return place.size(); }
  Parts parts(std::size_t n, Parts of_others) const {
    return !straight.empty() && straight[n] ? Parts::real_imaginary : of_others;
  }
  /// The two real data of every complex value and their standard deviations, to first order.
  void as(Parts parts, std::vector<double>& data, std::vector<double>& deviation) const;
};

class ElectromagneticFields final : public inversion::Forward {
 public:
  /// problem: inactive cells keep its conductivity; receivers keep its contrasts; active: indices of active
  /// cells, ascending; empty: all; device: computes the fields; comm: null, or collective: this is rank 0,
  /// the other ranks are in serve(); ranks share sources, frequencies and sites, with bitwise identical
  /// results; workers: the other ranks, if they wait as workers, or null
  ElectromagneticFields(Problem problem, std::vector<std::uint32_t> active, MeasuredFields measured,
                        Parts parts, bool in_memory, Device device, int threads = 0, Comm* comm = nullptr,
                        std::shared_ptr<solve::Workers> workers = nullptr);
  std::size_t rows() const override { return 2 * measured_.size(); }
  std::size_t columns() const override { return active_.empty() ? problem_.mesh.size() : active_.size(); }
  /// model: Ω·m. The warnings name solves that did not converge.
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
  mutable std::shared_ptr<FieldRanks> ranks_;  // the other ranks; made together with the first model
};

}  // namespace terrane::electromagnetic::inverse
