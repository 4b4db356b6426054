#include "terrane/physics/gravity/direct/direct_cost.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/physics/gravity/sum/candidate.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

namespace {

constexpr double seconds_to_sort = 25e-9;  // seconds to sort a point, for each halving of the set
constexpr double share_of_gpu = 0.8;       // fraction of a GPU's double precision rate that kernels reach

struct PairCost {
  double operations;  ///< operations for one prism and a pack: the stations that fit into one SIMD register
  bool near;  ///< whether the two tiles of the pair are too near for one multipole order for all pairs of
              ///< these tiles
  bool by_itself;  ///< whether the pair is computed alone, in extended precision
};

/// Cost of one prism at one station, with the formula that kernels.hpp chooses.  r, h: distance from the
/// prism's centre and surface; pack, tile: radius of a pack and of a tile of stations
PairCost pair_cost(const Switching& s, const PrismSwitching& p, double r, double h, double pack, double tile,
                   double lanes) {
  constexpr double far[4] = {63, 96, 144, 222};
  for (int order = 0; order < 4; ++order)
    if (r - tile >= s.multipole_from[order] * p.longest) return {far[order], false, false};
  if (r - pack >= s.multipole_from[3] * p.longest) return {far[3], true, false};
  if (r - pack >= 3 * p.longest) return {480, true, false};
  if (h * h >= p.stable_h2) return {740, true, false};
  if (p.stretched || h == 0) return {6000 * lanes, true, true};
  return {1400, true, false};
}

double share_of_channels(ChannelSet channels) {
  const auto size = kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size();
  return size == 1 ? 0.45 : size <= 4 ? 0.65 : size <= 6 ? 0.85 : 1.0;
}

}  // namespace

DirectCost direct_cost(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy) {
  const std::size_t m = prisms.size(), n = stations.size();
  if (m == 0 || n == 0) return {};
  const auto switching = Switching::for_accuracy(accuracy);
  const double lanes = kernel_target().kernels[0].lanes;
  const std::size_t prism_sample = std::min<std::size_t>(m, 1021),
                    station_sample = std::min<std::size_t>(n, 61);
  // A kernel chooses one formula for a pack of stations, or for two whole tiles: the formula that the pair
  // with the smallest distance needs.
  double diagonal = 0;
  for (const auto& axis : {stations.easting, stations.northing, stations.up}) {
    const auto [least, most] = std::minmax_element(axis.begin(), axis.end());
    diagonal += (*most - *least) * (*most - *least);
  }
  const auto radius = [&](double count) {
    return 0.5 * std::sqrt(diagonal * std::min(1.0, count / static_cast<double>(n)));
  };
  const double pack = radius(lanes), tile = radius(tile_size);
  double operations = 0, by_themselves = 0, near = 0;
  for (std::size_t i = 0; i < prism_sample; ++i) {
    const std::size_t p = i * m / prism_sample;
    const double low[3] = {prisms.west[p], prisms.south[p], prisms.bottom[p]},
                 high[3] = {prisms.east[p], prisms.north[p], prisms.top[p]};
    const PrismSwitching limits(switching, high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    for (std::size_t j = 0; j < station_sample; ++j) {
      const std::size_t s = j * n / station_sample;
      const double at[3] = {stations.easting[s], stations.northing[s], stations.up[s]};
      double r2 = 0, h2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double r = at[a] - (low[a] + 0.5 * (high[a] - low[a])),
                     h = std::max({low[a] - at[a], at[a] - high[a], 0.0});
        r2 += r * r;
        h2 += h * h;
      }
      const auto pair = pair_cost(switching, limits, std::sqrt(r2), std::sqrt(h2), pack, tile, lanes);
      operations += pair.operations;
      if (pair.by_itself) by_themselves += pair.operations;
      if (pair.near) ++near;
    }
  }
  const double pairs = static_cast<double>(m) * static_cast<double>(n);
  const auto sort = [](std::size_t count) {
    return seconds_to_sort * static_cast<double>(count) *
           std::max(1.0, std::log2(static_cast<double>(count) / tile_size));
  };
  const double sampled = static_cast<double>(prism_sample * station_sample),
               operation = pairs / sampled / lanes * seconds_per_pack_operation * share_of_channels(channels);
  return {operations * operation, sort(m) + sort(n), by_themselves * operation, near / sampled};
}

double speed_in_cores(Device device) {
  if (device.kind != Device::Kind::cuda) return 1;
  const double core = kernel_target().kernels[0].lanes / seconds_per_pack_operation;
  return share_of_gpu * gpu(device.index).fp64_per_second / core;
}

}  // namespace terrane::gravity
