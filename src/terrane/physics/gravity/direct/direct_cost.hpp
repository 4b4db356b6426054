// The time of the direct sum, from a sample of pairs and the form that each takes.
#pragma once

#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Seconds of one core.
struct DirectCost {
  double arithmetic = 0, sorting = 0;
  double one_by_one = 0;  ///< part of the arithmetic: pairs in extended precision, which devices leave to the
                          ///< CPU
  double near_share = 0;  ///< fraction of pairs in tiles too near for one multipole

  /// speedup: of the arithmetic that devices do
  double seconds(double speedup = 1) const {
    return (arithmetic - one_by_one) / speedup + one_by_one + sorting;
  }
};
DirectCost direct_cost(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy);

/// How many cores of this CPU do the arithmetic of the kernels as fast as the device.
double speed_in_cores(Device device);

}  // namespace terrane::gravity
