// How large the contributions to a field are before they cancel, because rounding is relative to them and
// not to what is left.
//
//   S_k = Σ_i |c_ik|,   Q_k = (Σ_i |c_ik|²)^½,   c_ik: what prism i contributes to V, g, Γ (k = 0, 1, 2) at a
//                                                 station, |c| of the vector, Frobenius of the tensor
//   error by rounding of every method ≤ 4e-15 max Q + 5e-16 max S   (the floor)
//
// Every pair is rounded for itself, which adds up like Q, and so are the sums, relative to what they hold,
// which is S where neighbours have one sign. Measured against quadruple precision: up to 3e-15 Q where Q
// dominates, 2e-16 S where S does; docs/theory/fast.md.
//
// S and Q come from |mass|: clusters of an octree seen from two radii and more are points, and a prism is a
// point no nearer than half its box, capped at what a body of its sides can do:
//   V ≤ 3.6 ρ c (ab)^½, 1.5 m/R, ρ b c (2.4 + 2 ln(a/(bc)^½));  |g| ≤ 2π ρ c, m/R²;  ‖Γ‖ ≤ 4π ρ
// with sides a ≥ b ≥ c and R the radius of the sphere of its volume.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/report.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Magnitudes for V, g and Γ, for G = 1: the largest over the stations looked at.
struct Magnitude {
  std::array<double, 3> sum{};       ///< S
  std::array<double, 3> rounding{};  ///< error of rounding: 4e-15 Q + 5e-16 S
  std::size_t stations = 0;          ///< number of stations that were looked at, spread evenly over the list
};

/// Within a factor of two; up to four times too large for the tensor close by. seconds: of one core, that it
/// may take; for less than all takes, it looks at some of the stations and lets some of the prisms stand for
/// their neighbours. The same for any number of threads. Throws Cancelled.
Magnitude magnitude(const Prisms& prisms, const Stations& stations, double seconds, int threads,
                    Progress& progress);

/// How many seconds of one core a run gives magnitude().
double seconds_to_look(double seconds_of_run, int threads);

/// Memory that magnitude() takes, bytes.
double bytes_of_magnitude(std::size_t prisms, std::size_t stations, double seconds);

/// The largest |V|, |g| and ‖Γ‖ over the stations, of the channels that there are; 0 where there are none,
/// NaN where no station has a value.
std::array<double, 3> largest_values(const Fields& fields, int threads);

/// The accuracy that a run promises, of every pair (the direct sum) or of the largest value (lattice, tree).
struct Promise {
  double accuracy;   ///< asked for
  double of_method;  ///< error of the method without that of rounding
  bool of_pairs;
};

/// Writes the floor and the estimated error of the kinds asked for into the report, and a warning where
/// cancellation leaves less than was asked for. largest: as of largest_values(), for this G.
void report_rounding(const Magnitude& size, const std::array<double, 3>& largest, ChannelSet channels,
                     double gravitational_constant, const Promise& promise, Report& report);

/// The rounding that a run is to expect: floor, estimated error and warnings as of report_rounding(), from
/// the direct sum at eight stations or fewer, spread over the list. Empty for so many prisms that this takes
/// long.
Report expected_rounding(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                         const Promise& promise, Progress& progress);

/// "vector 4.6e-15, tensor 5.1e-15"
std::string rounding_text(const Report& report);

}  // namespace terrane::gravity
