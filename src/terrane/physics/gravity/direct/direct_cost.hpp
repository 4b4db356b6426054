// Estimates the time of the direct sum from a sample of pairs and the formula that each pair needs.
#pragma once

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Estimated time of the direct sum, in seconds of one CPU core.
struct DirectCost {
  double arithmetic = 0, sorting = 0;
  /// Part of the arithmetic for pairs in extended precision, which devices leave to the CPU.
  double one_by_one = 0;
  /// Fraction of pairs in tiles too close for one multipole order for all their pairs.
  double near_share = 0;

  /// speedup: speed of the device relative to the CPU
  double seconds(double speedup = 1) const {
    return (arithmetic - one_by_one) / speedup + one_by_one + sorting;
  }
};
DirectCost direct_cost(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy);

/// How many cores of this CPU compute the kernels as fast as the device.
double speed_in_cores(Device device);

}  // namespace terrane::gravity
