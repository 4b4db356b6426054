#include "terrane/physics/gravity/tiles/tile_sets.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"

namespace terrane::gravity {

Turn turn_for(ChannelSet channels) {
  if (channels.size() != 1) return {{0, 1, 2}, channels};
  switch (channels.list().front()) {
    case Channel::g_e:
      return {{1, 2, 0}, {Channel::g_u}};
    case Channel::g_n:
      return {{2, 0, 1}, {Channel::g_u}};
    case Channel::g_ee:
      return {{1, 2, 0}, {Channel::g_uu}};
    case Channel::g_nn:
      return {{2, 0, 1}, {Channel::g_uu}};
    case Channel::g_nu:
      return {{1, 2, 0}, {Channel::g_en}};
    case Channel::g_eu:
      return {{2, 0, 1}, {Channel::g_en}};
    default:
      return {{0, 1, 2}, channels};
  }
}

std::uint8_t turned_back(std::uint8_t octants, const Turn& turn) {
  std::uint8_t result = 0;
  for (int o = 0; o < 8; ++o)
    if (octants >> o & 1) {
      int turned = 0;
      for (int a = 0; a < 3; ++a) turned |= (o >> a & 1) << turn.axis[a];
      result = static_cast<std::uint8_t>(result | 1 << turned);
    }
  return result;
}

std::size_t smallest_kernel_set(ChannelSet channels) {
  std::size_t best = std::size(kernel_sets) - 1;
  for (std::size_t s = 0; s < std::size(kernel_sets); ++s)
    if (kernel_sets[s].contains(channels) && kernel_sets[s].size() < kernel_sets[best].size()) best = s;
  return best;
}

Sources::Sources(const Prisms& prisms, const Turn& turn, const Switching& switching,
                 std::vector<std::uint32_t> order)
    : switching_(switching), order_(std::move(order)) {
  const auto faces = boxes(prisms);
  for (int a = 0; a < 3; ++a) {
    low_[a] = faces.low[turn.axis[a]];
    high_[a] = faces.high[turn.axis[a]];
  }
  density_ = prisms.density;
}

Sources::Sources(const Prisms& prisms, const Turn& turn, const Switching& switching)
    : Sources(prisms, turn, switching, {}) {
  std::vector<double> centre[3];
  for (int a = 0; a < 3; ++a) {
    centre[a].resize(prisms.size());
    for (std::size_t n = 0; n < prisms.size(); ++n) centre[a][n] = 0.5 * (low_[a][n] + high_[a][n]);
  }
  order_ = compact_order(centre[0], centre[1], centre[2], tile_size);
  // Bounds of the centres and the longest side of each tile.
  bounds_.resize(tiles());
  longest_.resize(tiles());
  for (std::size_t t = 0; t < tiles(); ++t) {
    auto& b = bounds_[t];
    std::fill_n(b.low, 3, INFINITY);
    std::fill_n(b.high, 3, -INFINITY);
    for (std::size_t i = t * tile_size; i < std::min((t + 1) * tile_size, order_.size()); ++i)
      for (int a = 0; a < 3; ++a) {
        b.low[a] = std::min(b.low[a], centre[a][order_[i]]);
        b.high[a] = std::max(b.high[a], centre[a][order_[i]]);
        longest_[t] = std::max(longest_[t], high_[a][order_[i]] - low_[a][order_[i]]);
      }
  }
}

void Sources::load(std::size_t first, std::size_t last, const double (&origin)[3], PrismTile& tile) const {
  load(std::span(order_).subspan(first, last - first), origin, tile);
}

std::array<double, 3> Sources::load_one(std::size_t n, PrismTile& tile) const {
  const double centre[3] = {0.5 * (low_[0][n] + high_[0][n]), 0.5 * (low_[1][n] + high_[1][n]),
                            0.5 * (low_[2][n] + high_[2][n])};
  const auto prism = static_cast<std::uint32_t>(n);
  load({&prism, 1}, centre, tile);
  return {centre[0], centre[1], centre[2]};
}

void Sources::load(std::span<const std::uint32_t> prisms, const double (&origin)[3], PrismTile& tile) const {
  tile.count = static_cast<int>(prisms.size());
  std::copy_n(origin, 3, tile.origin);
  double* const low[3] = {tile.west, tile.south, tile.bottom};
  double* const high[3] = {tile.east, tile.north, tile.top};
  double* const centre[3] = {tile.x, tile.y, tile.z};
  double first_side[3] = {};
  tile.same_size = true;
  for (int p = 0; p < tile.count; ++p) {
    const std::size_t n = prisms[static_cast<std::size_t>(p)];
    double side[3];
    for (int a = 0; a < 3; ++a) {
      low[a][p] = low_[a][n];
      high[a][p] = high_[a][n];
      side[a] = high_[a][n] - low_[a][n];
      centre[a][p] = 0.5 * ((low_[a][n] - tile.origin[a]) + (high_[a][n] - tile.origin[a]));
      if (p == 0) first_side[a] = side[a];
      if (std::fabs(side[a] - first_side[a]) > switching_.shape_tolerance * first_side[a])
        tile.same_size = false;
    }
    tile.density[p] = density_[n];
    tile.mass[p] = density_[n] * (side[0] * side[1] * side[2]);
    const PrismSwitching limits(switching_, side[0], side[1], side[2]);
    tile.longest[p] = limits.longest;
    tile.multipole2[p] = limits.multipole2_8;
    tile.stable_h2[p] = limits.stable_h2;
    tile.stretched[p] = limits.stretched;
  }
  for (int p = 0; p < (tile.same_size ? 1 : tile.count); ++p)
    tile.coefficients[p] =
        multipole_coefficients(high[0][p] - low[0][p], high[1][p] - low[1][p], high[2][p] - low[2][p]);
}

Receivers::Receivers(const Stations& stations, const Turn& turn, int lanes, std::size_t per_tile, int threads)
    : per_tile_(per_tile) {
  const std::span<const double> given[3] = {stations.easting, stations.northing, stations.up};
  const std::span<const double> at[3] = {given[turn.axis[0]], given[turn.axis[1]], given[turn.axis[2]]};
  order_ = compact_order(at[0], at[1], at[2], per_tile, threads);
  tiles_.resize((order_.size() + per_tile - 1) / per_tile);
  bounds_.resize(tiles_.size());
  for_each((tiles_.size() + 63) / 64, threads, [&](std::size_t chunk) {
    for (std::size_t t = chunk * 64; t < std::min((chunk + 1) * 64, tiles_.size()); ++t) {
      auto& tile = tiles_[t];
      auto& b = bounds_[t];
      const std::size_t first = t * per_tile;
      tile.count = static_cast<int>(std::min<std::size_t>(per_tile, order_.size() - first));
      double* const to[3] = {tile.x, tile.y, tile.z};
      const int padded = (tile.count + lanes - 1) / lanes * lanes;
      for (int a = 0; a < 3; ++a) {
        for (int s = 0; s < padded; ++s)
          to[a][s] = at[a][order_[first + static_cast<std::size_t>(std::min(s, tile.count - 1))]];
        b.low[a] = *std::min_element(to[a], to[a] + tile.count);
        b.high[a] = *std::max_element(to[a], to[a] + tile.count);
      }
    }
  });
}

void PlainNearPairs::evaluate(const PrismTile& tile, int p, int, double x, double y, double z,
                              double (&q)[10]) {
  const Prism prism{tile.west[p], tile.east[p], tile.south[p], tile.north[p], tile.bottom[p], tile.top[p]};
  const auto field = field_of_prism(prism, x, y, z, switching_);
  const double values[10] = {field.v,  field.e,  field.n,  field.u,  field.ee,
                             field.nn, field.uu, field.en, field.eu, field.nu};
  std::copy_n(values, 10, q);
}

void NearPairsOfTask::evaluate(const PrismTile& tile, int p, int s, double x, double y, double z,
                               double (&q)[10]) {
  PlainNearPairs::evaluate(tile, p, s, x, y, z, q);
  const Prism prism{tile.west[p], tile.east[p], tile.south[p], tile.north[p], tile.bottom[p], tile.top[p]};
  const double fx[2] = {prism.west - x, prism.east - x}, fy[2] = {prism.south - y, prism.north - y},
               fz[2] = {prism.bottom - z, prism.top - z};
  if (fx[0] <= 0 && fx[1] >= 0 && fy[0] <= 0 && fy[1] >= 0 && fz[0] <= 0 && fz[1] >= 0)
    contacts.push_back({receivers_.station(station_tile, s), tile.density[p], octants_filled(fx, fy, fz)});
}

TileKernel choose_kernel(const TileKernels& kernels, const Switching& switching, double gap2,
                         double longest) {
  for (int order = 0; order < 4; ++order) {
    const double from = switching.multipole_from[order] * longest;
    if (gap2 >= from * from) return kernels.far[order];
  }
  return kernels.near;
}

}  // namespace terrane::gravity
