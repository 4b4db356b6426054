// The settings of a gravity run; they print, compare, read from the job file, and are the documentation.
#pragma once

#include <string>

#include "terrane/base/constants.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/channels.hpp"

namespace terrane::gravity {

/// What the gradient tensor is on edges, corners and faces of a prism, where it jumps or is unbounded.
///   nan      every component that has no single value is NaN
///   mean     on a face the mean of both one-sided limits; NaN on edges and corners
///   outside  on a face the limit from outside; NaN on edges and corners
///   inside   on a face the limit from inside; NaN on edges and corners
enum class SingularPolicy { nan, mean, outside, inside };

/// How the sum over prisms is done. automatic chooses the cheapest that keeps the accuracy.
enum class Method { automatic, direct, lattice, tree };

/// How a run on several ranks is shared. By stations, every rank holds all prisms; by prisms (direct sum
/// only), each rank holds its part of them. automatic takes stations unless the prisms do not fit.
enum class Partition { automatic, stations, prisms };

/// Precision of the result's storage. On a GPU single also computes distant pairs in float, right to
/// single_accuracy; sums are always formed in double.
enum class Precision { double_precision, single_precision };

/// Relative accuracies that can be asked for; the best is what double precision can give.
inline constexpr double best_accuracy = 2e-15, default_accuracy = 1e-12, loosest_accuracy = 1e-3;

/// What single precision on a GPU keeps.
inline constexpr double single_accuracy = 2e-6;

struct Parameters {
  ChannelSet channels{Channel::g_u};
  /// Relative, norm-wise (V, |g|, ‖Γ‖ each by itself): for the direct method of every prism-station pair, for
  /// lattice and tree of the largest value over the survey. From best_accuracy to loosest_accuracy.
  double accuracy = default_accuracy;
  Method method = Method::automatic;
  Partition partition = Partition::automatic;
  SingularPolicy singular = SingularPolicy::nan;
  Precision precision = Precision::double_precision;
  double gravitational_constant = default_gravitational_constant;  ///< m³ kg⁻¹ s⁻²
  std::size_t verify = 0;  ///< stations, spread over the survey, to recompute in quadruple precision
  Device device;           ///< automatic: a GPU if there is one and the run is long enough
  int threads = 0;         ///< threads of the CPU; 0: as many as OpenMP gives
  std::size_t memory = 0;  ///< most bytes the run may take; 0: what the machine has left

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::gravity
