// Estimates how large the contributions to a field are before they cancel, because rounding errors are
// relative to the contributions and not to the sum that remains.
//
//   S_k = Σ_i |c_ik|,   Q_k = (Σ_i |c_ik|²)^½,   c_ik: contribution of prism i to V, g, Γ (k = 0, 1, 2) at a
//                                                 station; |c|: length of g, Frobenius norm of Γ
//   rounding error of every method ≤ 4e-15 max Q + 5e-16 max S   (the floor; max: over the stations)
//
// Rounding errors of pairs are independent and add up like Q. Partial sums are rounded relative to their own
// size, which is up to S if neighbours have one sign. Measured against quadruple precision: up to 3e-15 Q if
// Q dominates, 2e-16 S if S does; docs/theory/fast.md.
//
// S and Q are computed from |mass|. At stations more than two radii away, clusters of an octree count as
// points. A single prism counts as a point mass, whose distance is measured to a box with the same centre and
// half the sides. Each value is limited to the least of these bounds, for G = 1:
//   V ≤ 3.6 ρ c (ab)^½, 1.5 m/R, ρ b c (2.4 + 2 ln(a/(bc)^½));  |g| ≤ 2π ρ c, m/R²;  ‖Γ‖ ≤ 4π ρ
// with ρ = |density|, m = |mass|, the prism's sides a ≥ b ≥ c, and R the radius of a sphere of its volume.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/report.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Magnitudes for V, g and Γ, with G = 1, as defined at the head of this file: the largest over the sampled
/// stations.
struct Magnitude {
  std::array<double, 3> sum{};       ///< S
  std::array<double, 3> rounding{};  ///< bound of the rounding error: 4e-15 Q + 5e-16 S
  std::size_t stations = 0;          ///< number of sampled stations, spread evenly over the list
};

/// Estimates the magnitudes within a factor of two; the tensor close to prisms up to four times too large.
/// seconds: time of one core that this may take; if that is too short, it samples the stations, and sampled
/// prisms represent their neighbours. The result is the same for any number of threads. Throws Cancelled.
Magnitude magnitude(const Prisms& prisms, const Stations& stations, double seconds, int threads,
                    Progress& progress);

/// The time that a run spends on magnitude(), in seconds of one core.
double seconds_to_look(double seconds_of_run, int threads);

/// Memory that magnitude() needs, bytes.
double bytes_of_magnitude(std::size_t prisms, std::size_t stations, double seconds);

/// The largest |V|, |g| and ‖Γ‖ over the stations, from the channels present; 0 for a kind without channels,
/// NaN if no station has a finite value.
std::array<double, 3> largest_values(const Fields& fields, int threads);

/// The accuracy that a run promises: relative to each pair (the direct sum), or to the largest value
/// (lattice, tree).
struct Promise {
  double accuracy;   ///< requested accuracy
  double of_method;  ///< error of the method without rounding
  bool of_pairs;
};

/// Writes the floor and the estimated error of the requested kinds into the report, and a warning if
/// cancellation leaves less accuracy than requested. largest: the result of largest_values(), with this G.
void report_rounding(const Magnitude& size, const std::array<double, 3>& largest, ChannelSet channels,
                     double gravitational_constant, const Promise& promise, Report& report);

/// The rounding error to expect in a run: floor, estimated error and warnings as in report_rounding(), from
/// the direct sum at eight stations or fewer, spread over the list. Empty if there are so many prisms that
/// this takes long.
Report expected_rounding(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                         const Promise& promise, Progress& progress);

/// "vector 4.6e-15, tensor 5.1e-15"
std::string rounding_text(const Report& report);

}  // namespace terrane::gravity
