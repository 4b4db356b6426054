// Floor of the direct sum: flops. A tile of 64 prisms (14 kB) meets a tile of 64 stations (1.5 kB): 4096
// pairs of 60 to 700 flops from the first-level cache; memory traffic is nothing.
//
// Order of summation: over the prisms of a tile in sequence, over the tiles of a strip of 32, over the strips
// of a chunk, over the chunks: each level starts from zero, so the error grows as 64 + 32 + ... and not as
// the number of prisms, and no level depends on the threads.
#include "terrane/physics/gravity/direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/for_each.hpp"
#include "terrane/physics/gravity/near_field.hpp"
#include "terrane/physics/gravity/tiles.hpp"
#include "terrane/physics/gravity/tiling.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t block_tiles = 16;  // station tiles in a block
constexpr std::size_t block_stations = block_tiles * tile_size;
constexpr std::size_t strip_tiles = 32;    // prism tiles in a strip
constexpr std::size_t tasks_wanted = 256;  // enough for balance on many threads
constexpr std::size_t most_chunks = 64;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Axes turned so that a kernel for g_u, Γuu or Γen serves the other axes as well.
struct Turn {
  int axis[3] = {0, 1, 2};  ///< axis[i]: which of easting, northing, up stands for the kernel's axis i
  ChannelSet channels;      ///< what the kernel is asked for
};

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

std::size_t smallest_kernel_set(ChannelSet channels) {
  std::size_t best = std::size(kernel_sets) - 1;
  for (std::size_t s = 0; s < std::size(kernel_sets); ++s)
    if (kernel_sets[s].contains(channels) && kernel_sets[s].size() < kernel_sets[best].size()) best = s;
  return best;
}

/// The prisms, turned and in tile order.
class Sources {
 public:
  Sources(const Prisms& prisms, const Turn& turn, const Switching& switching) : switching_(switching) {
    const std::span<const double> faces[6] = {prisms.west,  prisms.east,   prisms.south,
                                              prisms.north, prisms.bottom, prisms.top};
    for (int a = 0; a < 3; ++a) {
      low_[a] = faces[2 * turn.axis[a]];
      high_[a] = faces[2 * turn.axis[a] + 1];
    }
    density_ = prisms.density;
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

  std::size_t tiles() const { return ceil_div(order_.size(), tile_size); }
  const Bounds& bounds(std::size_t tile) const { return bounds_[tile]; }
  double longest(std::size_t tile) const { return longest_[tile]; }

  void load(std::size_t t, PrismTile& tile) const {
    const std::size_t first = t * tile_size;
    tile.count = static_cast<int>(std::min<std::size_t>(tile_size, order_.size() - first));
    for (int a = 0; a < 3; ++a) tile.origin[a] = bounds_[t].low[a];
    double* const low[3] = {tile.west, tile.south, tile.bottom};
    double* const high[3] = {tile.east, tile.north, tile.top};
    double* const centre[3] = {tile.x, tile.y, tile.z};
    double first_side[3] = {};
    tile.same_size = true;
    for (int p = 0; p < tile.count; ++p) {
      const std::size_t n = order_[first + static_cast<std::size_t>(p)];
      double side[3];
      for (int a = 0; a < 3; ++a) {
        low[a][p] = low_[a][n];
        high[a][p] = high_[a][n];
        side[a] = high_[a][n] - low_[a][n];
        centre[a][p] = 0.5 * ((low_[a][n] - tile.origin[a]) + (high_[a][n] - tile.origin[a]));
        if (p == 0) first_side[a] = side[a];
        // Evenly spaced faces differ in the last bits; the shape only enters as a small correction.
        if (std::fabs(side[a] - first_side[a]) > 1e-13 * first_side[a]) tile.same_size = false;
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

 private:
  Switching switching_;
  std::span<const double> low_[3], high_[3], density_;
  std::vector<std::uint32_t> order_;
  std::vector<Bounds> bounds_;
  std::vector<double> longest_;
};

/// The stations, turned and in tile order.
class Receivers {
 public:
  Receivers(const Stations& stations, const Turn& turn, int lanes) {
    const std::span<const double> given[3] = {stations.easting, stations.northing, stations.up};
    const std::span<const double> at[3] = {given[turn.axis[0]], given[turn.axis[1]], given[turn.axis[2]]};
    order_ = compact_order(at[0], at[1], at[2], tile_size);
    tiles_.resize(ceil_div(order_.size(), tile_size));
    bounds_.resize(tiles_.size());
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
      auto& tile = tiles_[t];
      auto& b = bounds_[t];
      const std::size_t first = t * tile_size;
      tile.count = static_cast<int>(std::min<std::size_t>(tile_size, order_.size() - first));
      double* const to[3] = {tile.x, tile.y, tile.z};
      const int padded = (tile.count + lanes - 1) / lanes * lanes;
      for (int a = 0; a < 3; ++a) {
        for (int s = 0; s < padded; ++s)
          to[a][s] = at[a][order_[first + static_cast<std::size_t>(std::min(s, tile.count - 1))]];
        b.low[a] = *std::min_element(to[a], to[a] + tile.count);
        b.high[a] = *std::max_element(to[a], to[a] + tile.count);
      }
    }
  }

  std::size_t tiles() const { return tiles_.size(); }
  const StationTile& tile(std::size_t t) const { return tiles_[t]; }
  const Bounds& bounds(std::size_t t) const { return bounds_[t]; }
  std::size_t station(std::size_t tile, int s) const {
    return order_[tile * tile_size + static_cast<std::size_t>(s)];
  }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<StationTile> tiles_;
  std::vector<Bounds> bounds_;
};

/// The scalar way, which also takes note of stations inside and on prisms.
class NearPairsOfTask final : public NearPairs {
 public:
  NearPairsOfTask(const Switching& switching, const Receivers& receivers)
      : switching_(switching), receivers_(receivers) {}

  std::size_t station_tile = 0;
  std::vector<Contact> contacts;

  void evaluate(const PrismTile& tile, int p, int s, double x, double y, double z, double (&q)[10]) override {
    const Prism prism{tile.west[p], tile.east[p], tile.south[p], tile.north[p], tile.bottom[p], tile.top[p]};
    const auto field = field_of_prism(prism, x, y, z, switching_);
    const double values[10] = {field.v,  field.e,  field.n,  field.u,  field.ee,
                               field.nn, field.uu, field.en, field.eu, field.nu};
    std::copy_n(values, 10, q);
    const double fx[2] = {prism.west - x, prism.east - x}, fy[2] = {prism.south - y, prism.north - y},
                 fz[2] = {prism.bottom - z, prism.top - z};
    if (fx[0] <= 0 && fx[1] >= 0 && fy[0] <= 0 && fy[1] >= 0 && fz[0] <= 0 && fz[1] >= 0)
      contacts.push_back({receivers_.station(station_tile, s), tile.density[p], octants_filled(fx, fy, fz)});
  }

 private:
  const Switching& switching_;
  const Receivers& receivers_;
};

/// The kernel for two tiles: a multipole if even their nearest points are far enough for it.
TileKernel choose_kernel(const TileKernels& kernels, const Switching& switching, double gap2,
                         double longest) {
  for (int order = 0; order < 4; ++order) {
    const double from = switching.multipole_from[order] * longest;
    if (gap2 >= from * from) return kernels.far[order];
  }
  return kernels.near;
}

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

DirectPlan::DirectPlan(std::size_t prisms, std::size_t stations, ChannelSet channels) {
  station_blocks = std::max<std::size_t>(1, ceil_div(stations, block_stations));
  const std::size_t strips = std::max<std::size_t>(1, ceil_div(prisms, strip_tiles * tile_size));
  prism_chunks = std::min({most_chunks, strips, std::max<std::size_t>(1, tasks_wanted / station_blocks)});
  blocks_at_once = std::max<std::size_t>(1, 2 * tasks_wanted / prism_chunks);
  const std::size_t sums =
      block_stations * kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size() * sizeof(double);
  memory_bytes = prisms * (sizeof(std::uint32_t) + 3 * sizeof(double)) +
                 stations * (sizeof(std::uint32_t) + 3 * sizeof(double) + channels.size() * sizeof(double)) +
                 std::min(blocks_at_once, station_blocks) * prism_chunks * sums +
                 static_cast<std::size_t>(thread_count(0)) * (2 * sums + sizeof(PrismTile));
}

DirectSums direct_sum(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                      int threads, Progress& progress) {
  const DirectPlan plan(prisms.size(), stations.size(), channels);
  const Turn turn = turn_for(channels);
  const std::size_t set = smallest_kernel_set(turn.channels);
  const TileKernels& kernels = kernel_target().kernels[set];
  const Switching switching = Switching::for_accuracy(accuracy);
  const Sources sources(prisms, turn, switching);
  const Receivers receivers(stations, turn, kernels.lanes);
  const std::size_t width = kernel_sets[set].size();  // channels of the kernel

  DirectSums out;
  out.values.assign(channels.size(), std::vector<double>(stations.size()));
  progress.start("gravity", prisms.size() * stations.size());
  for (std::size_t batch = 0; batch < plan.station_blocks; batch += plan.blocks_at_once) {
    const std::size_t blocks = std::min(plan.blocks_at_once, plan.station_blocks - batch);
    std::vector<std::vector<double>> partial(blocks * plan.prism_chunks);
    std::vector<std::vector<Contact>> contacts(partial.size());

    for_each(partial.size(), threads, [&](std::size_t task) {
      const std::size_t block = batch + task / plan.prism_chunks, chunk = task % plan.prism_chunks;
      const std::size_t first_tile = block * block_tiles,
                        last_tile = std::min(first_tile + block_tiles, receivers.tiles());
      const std::size_t first_source = sources.tiles() * chunk / plan.prism_chunks,
                        last_source = sources.tiles() * (chunk + 1) / plan.prism_chunks;
      std::vector<double> total(block_stations * width), strip(total.size()), sums(width * tile_size);
      NearPairsOfTask near_pairs(switching, receivers);
      auto tile = std::make_unique<PrismTile>();
      for (std::size_t s = first_source; s < last_source; ++s) {
        if (progress.cancelled()) throw Cancelled();
        sources.load(s, *tile);
        for (std::size_t t = first_tile; t < last_tile; ++t) {
          near_pairs.station_tile = t;
          const auto kernel = choose_kernel(
              kernels, switching, squared_gap(sources.bounds(s), receivers.bounds(t)), sources.longest(s));
          double* const at = strip.data() + (t - first_tile) * width * tile_size;
          std::fill(sums.begin(), sums.end(), 0.0);
          kernel(*tile, receivers.tile(t), near_pairs, sums.data());
          for (std::size_t i = 0; i < sums.size(); ++i) at[i] += sums[i];
          progress.advance(static_cast<std::uint64_t>(tile->count) *
                           static_cast<std::uint64_t>(receivers.tile(t).count));
        }
        if ((s + 1 - first_source) % strip_tiles == 0 || s + 1 == last_source) {
          add(total, strip);
          std::fill(strip.begin(), strip.end(), 0.0);
        }
      }
      partial[task] = std::move(total);
      contacts[task] = std::move(near_pairs.contacts);
    });

    for (std::size_t b = 0; b < blocks; ++b) {
      auto& total = partial[b * plan.prism_chunks];
      for (std::size_t chunk = 1; chunk < plan.prism_chunks; ++chunk)
        add(total, partial[b * plan.prism_chunks + chunk]);
      for (std::size_t t = 0; t < block_tiles && (batch + b) * block_tiles + t < receivers.tiles(); ++t) {
        const std::size_t tile = (batch + b) * block_tiles + t;
        std::size_t column = 0, wanted = 0;
        for (auto channel : kernel_sets[set].list()) {
          if (turn.channels.contains(channel)) {
            for (int s = 0; s < receivers.tile(tile).count; ++s)
              out.values[wanted][receivers.station(tile, s)] =
                  total[(t * width + column) * tile_size + static_cast<std::size_t>(s)];
            ++wanted;
          }
          ++column;
        }
      }
    }
    for (auto& list : contacts) out.contacts.insert(out.contacts.end(), list.begin(), list.end());
  }
  // Back to the axes of the earth: octants are the only thing that knows them here.
  for (auto& contact : out.contacts) {
    std::uint8_t octants = 0;
    for (int o = 0; o < 8; ++o)
      if (contact.octants >> o & 1) {
        int turned = 0;
        for (int a = 0; a < 3; ++a) turned |= (o >> a & 1) << turn.axis[a];
        octants = static_cast<std::uint8_t>(octants | 1 << turned);
      }
    contact.octants = octants;
  }
  std::stable_sort(out.contacts.begin(), out.contacts.end(),
                   [](const Contact& a, const Contact& b) { return a.station < b.station; });
  progress.finish();
  return out;
}

}  // namespace terrane::gravity
