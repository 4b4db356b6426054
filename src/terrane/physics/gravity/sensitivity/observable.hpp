// An observable: a weighted sum of the ten quantities of a prism.
#pragma once

#include <array>
#include <vector>

#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Σ_c weight_c q_c, q in the order of Channel.
struct Observable {
  std::array<double, channel_count> weight{};
  /// For a flux density such as B: whether Γee, Γnn, Γuu count with the 4πGρ at the station added, each by
  /// itself.
  std::array<bool, 3> flux{};

  /// One channel, times `factor`: the gravitational constant for SI.
  static Observable of(Channel channel, double factor);
  ChannelSet channels() const;
};

/// The channels that any of them needs.
ChannelSet channels_of(const std::vector<Observable>& observables);

/// Stations that the sensitivities keep, m.
struct KeptStations {
  std::vector<double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
  Stations view() const { return {easting, northing, up}; }
};

}  // namespace terrane::gravity
