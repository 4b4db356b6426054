// What is observed, as a sum of the ten quantities of a prism.
#pragma once

#include <array>
#include <vector>

#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Σ_c weight_c q_c, q in the order of Channel.
struct Observable {
  std::array<double, channel_count> weight{};
  /// Of a flux density, as B is: Γee, Γnn and Γuu count with the 4πGρ at the station added. Each by itself.
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
