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

/// Axes turned so that a kernel for g_u, Γuu or Γen serves the other axes as well.
struct Turn {
  int axis[3] = {0, 1, 2};  ///< axis[i]: which of easting, northing, up stands for the kernel's axis i
  ChannelSet channels;      ///< what the kernel is asked for
};

Turn turn_for(ChannelSet channels);

/// Octants along the kernels' axes, turned back to octants along east, north, up.
std::uint8_t turned_back(std::uint8_t octants, const Turn& turn);

/// The index in kernel_sets of the smallest set that contains the channels.
std::size_t smallest_kernel_set(ChannelSet channels);

/// The prisms, turned and in tile order.
class Sources {
 public:
  /// In compact order.
  Sources(const Prisms& prisms, const Turn& turn, const Switching& switching);
  /// In an order found elsewhere; tiles are then loaded by load(first, last, tile).
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
  /// The prisms first .. last − 1 in order, at most tile_size; origin: a point near them.
  void load(std::size_t first, std::size_t last, const double (&origin)[3], PrismTile& tile) const;
  /// The prism n alone, as the caller numbers them, its centre as the origin, which is returned.
  std::array<double, 3> load_one(std::size_t n, PrismTile& tile) const;

 private:
  void load(std::span<const std::uint32_t> prisms, const double (&origin)[3], PrismTile& tile) const;

  Switching switching_;
  std::span<const double> low_[3], high_[3], density_;
  std::vector<std::uint32_t> order_;
  std::vector<Bounds> bounds_;
  std::vector<double> longest_;
};

/// The stations, turned and in tile order.
class Receivers {
 public:
  /// per_tile: at most tile_size · threads: 0 for all
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

/// Near pairs one by one, without SIMD.
class PlainNearPairs : public NearPairs {
 public:
  explicit PlainNearPairs(const Switching& switching) : switching_(switching) {}
  void evaluate(const PrismTile& tile, int p, int s, double x, double y, double z, double (&q)[10]) override;

 private:
  const Switching& switching_;
};

/// Near pairs one by one, which also notes stations inside and on prisms.
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
