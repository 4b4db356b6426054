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
  /// For a flux density such as B: whether 4πGρ at the station is added to Γee, to Γnn and to Γuu.
  std::array<bool, 3> flux{};

  /// One channel, times `factor`: the gravitational constant for SI.
  static Observable of(Channel channel, double factor);
  ChannelSet channels() const;
};

/// The channels that any of the observables needs.
ChannelSet channels_of(const std::vector<Observable>& observables);

/// Coordinates of stations that are stored with the sensitivities, m.
struct KeptStations {
  std::vector<double> easting, northing, up;
  std::size_t size() const noexcept { return easting.size(); }
  Stations view() const { return {easting, northing, up}; }
};

}  // namespace terrane::gravity
