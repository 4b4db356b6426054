// Prisms and stations cut into tiles, for every method that runs the tile kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/order.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// A rotation of the axes (a cyclic permutation): with it a kernel for g_u, Γuu or Γen also computes the
/// component of the same kind along other axes: g_e, Γee or Γeu, for example.
struct Turn {
  int axis[3] = {0, 1, 2};  ///< axis[i]: the axis (0 easting, 1 northing, 2 up) used as the kernel's axis i
  ChannelSet channels;      ///< channels that the kernel computes
};

Turn turn_for(ChannelSet channels);

/// Converts octants along the kernel's axes to octants along east, north, up.
std::uint8_t turned_back(std::uint8_t octants, const Turn& turn);

/// The index in kernel_sets of the smallest set that contains the channels.
std::size_t smallest_kernel_set(ChannelSet channels);

/// The prisms, with rotated axes, in an order in which each run of tile_size prisms is a tile.
class Sources {
 public:
  /// Sorts the prisms into compact order.
  Sources(const Prisms& prisms, const Turn& turn, const Switching& switching);
  /// The prisms in a given order; tiles are then loaded by load(first, last, origin, tile).
  Sources(const Prisms& prisms, const Turn& turn, const Switching& switching,
          std::vector<std::uint32_t> order);

  std::size_t tiles() const { return (order_.size() + tile_size - 1) / tile_size; }
  const Bounds& bounds(std::size_t tile) const { return bounds_[tile]; }
  double longest(std::size_t tile) const { return longest_[tile]; }
  const std::vector<std::uint32_t>& order() const { return order_; }
  void set_switching(const Switching& switching) { switching_ = switching; }

  void load(std::size_t t, PrismTile& tile) const {
    load(t * tile_size, std::min((t + 1) * tile_size, order_.size()), bounds_[t].low, tile);
  }
  /// Loads the prisms first .. last − 1 of the order, at most tile_size; origin: a point near them.
  void load(std::size_t first, std::size_t last, const double (&origin)[3], PrismTile& tile) const;
  /// Loads a single prism; n is the caller's number of it. Its centre becomes the origin and is returned.
  std::array<double, 3> load_one(std::size_t n, PrismTile& tile) const;

 private:
  void load(std::span<const std::uint32_t> prisms, const double (&origin)[3], PrismTile& tile) const;

  Switching switching_;
  std::span<const double> low_[3], high_[3], density_;
  std::vector<std::uint32_t> order_;
  std::vector<Bounds> bounds_;
  std::vector<double> longest_;
};

/// The stations, with rotated axes, sorted and cut into tiles.
class Receivers {
 public:
  /// per_tile: stations per tile, at most tile_size; threads: 0 for all
  Receivers(const Stations& stations, const Turn& turn, int lanes, std::size_t per_tile = tile_size,
            int threads = 1);

  std::size_t tiles() const { return tiles_.size(); }
  const StationTile& tile(std::size_t t) const { return tiles_[t]; }
  const Bounds& bounds(std::size_t t) const { return bounds_[t]; }
  std::size_t station(std::size_t tile, int s) const {
    return order_[tile * per_tile_ + static_cast<std::size_t>(s)];
  }
  /// The stations of the tiles first .. last − 1, in order.
  std::span<const std::uint32_t> stations(std::size_t first, std::size_t last) const {
    const std::size_t begin = first * per_tile_, end = std::min(last * per_tile_, order_.size());
    return std::span(order_).subspan(begin, end - begin);
  }

 private:
  std::size_t per_tile_;
  std::vector<std::uint32_t> order_;
  std::vector<StationTile> tiles_;
  std::vector<Bounds> bounds_;
};

/// Computes near pairs one by one, without SIMD.
class PlainNearPairs : public NearPairs {
 public:
  explicit PlainNearPairs(const Switching& switching) : switching_(switching) {}
  void evaluate(const PrismTile& tile, int p, int s, double x, double y, double z, double (&q)[10]) override;

 private:
  const Switching& switching_;
};

/// Computes near pairs one by one, and lists the stations inside and on prisms.
class NearPairsOfTask final : public PlainNearPairs {
 public:
  NearPairsOfTask(const Switching& switching, const Receivers& receivers)
      : PlainNearPairs(switching), receivers_(receivers) {}

  std::size_t station_tile = 0;
  std::vector<Contact> contacts;

  void evaluate(const PrismTile& tile, int p, int s, double x, double y, double z, double (&q)[10]) override;

 private:
  const Receivers& receivers_;
};

/// The kernel for two tiles: a multipole if even their nearest points are far enough for it.
TileKernel choose_kernel(const TileKernels& kernels, const Switching& switching, double gap2, double longest);

}  // namespace terrane::gravity
