// Numerical dispersion: the differences in space make the waves of a grid too slow or too fast.
//
// A plane wave of wavenumber k in the direction n has the slowness 1/v (1 + ε) on the grid. To first order
//
//   ε = ½ (1 − Σ_a K(k n_a h_a)² / (h_a² k²)) + ω'/ω − 1
//
// K/h_a: what the differences make of a wavenumber along axis a (formula/stencil.hpp); ω' = (2/Δt) sin(ωΔt/2)
// if the error of the time steps is not corrected, else ω. A wave that has travelled for the time τ arrives
// ετ too late. In a trace p(t) of the source's time t₀ that is the error
//
//   δp(t) = −(t − t₀) F⁻¹[iω ε(ω) F[p]]
//
// to first order: each wave of the trace has travelled since t₀, in the direction n and in rock of velocity
// v.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/parallel/fft/host_fft.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// The number K h by which differences replace the wavenumber k h of a wave along an axis.
double wavenumber_on_grid(const Differences& differences, double kh);

/// ε at the frequency ω, rad/s, of a wave along the unit vector `direction` [up, north, east] in rock of
/// `velocity`, m/s.
double slowness_error(const Problem& problem, const Differences& differences,
                      const std::array<double, 3>& direction, double velocity, double omega);

/// The unit vector [up, north, east] from one place to another; up if they coincide.
std::array<double, 3> direction_between(const Grid& grid, const Place& from, const Place& to);

/// The velocity of the node nearest to a place, m/s.
double velocity_at(const Problem& problem, const Place& place);

/// Relative error, rms over time, of the wavelet after it has travelled over `length`, m, along `direction`.
double error_of_wavelet(const Problem& problem, const std::array<double, 3>& direction, double velocity,
                        double length);

/// Computes δp(t) of traces of one number of samples.
class DispersionOfTrace {
 public:
  explicit DispersionOfTrace(const Problem& problem);

  /// epsilon: ε at frequencies(); trace, out [samples]
  void operator()(std::span<const double> epsilon, std::span<const double> trace, std::span<double> out);
  /// The frequencies ω of the transform, rad/s.
  const std::vector<double>& frequencies() const { return frequencies_; }

 private:
  std::size_t samples_;
  double step_, start_;
  std::vector<double> frequencies_;
  HostFft fft_;
  std::vector<double> room_;
};

}  // namespace terrane::acoustic
