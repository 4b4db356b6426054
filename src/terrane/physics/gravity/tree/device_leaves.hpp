// The leaves of the tree as tiles of prisms on a device, which are summed pair by pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

class DeviceLeaves {
 public:
  explicit DeviceLeaves(const Tree& tree) : range_of_(tree.clusters()) {
    std::uint32_t ranges = 0;
    for (std::size_t c = 0; c < tree.clusters(); ++c)
      if (tree.is_leaf(c)) range_of_[c] = ranges++;
  }

  /// The prisms of each leaf, one leaf after the other.
  static std::vector<PrismRange> ranges(const Tree& tree) {
    std::vector<PrismRange> ranges;
    for (std::size_t c = 0; c < tree.clusters(); ++c)
      if (tree.is_leaf(c)) ranges.push_back({tree.prisms_of(c).first, tree.prisms_of(c).second});
    return ranges;
  }
  /// The precision of pairs. If contributions cancel, each pair must be more accurate than the sum; single
  /// precision is used only if it is accurate enough for that.
  static Precision precision_for(const Tree& tree, Precision wanted) {
    constexpr double of_float = 1e-7;  // relative error of a pair; pairs may use a quarter of the tolerance
    const bool enough = of_float * tree.accuracy() <= 4 * single_accuracy * tree.pair_accuracy();
    return enough ? wanted : Precision::double_precision;
  }

  /// Range of the tiles of a leaf: the first, and one past the last.
  std::pair<std::uint32_t, std::uint32_t> tiles(const DeviceSources& sources, std::uint32_t leaf) const {
    return {sources.first_tile(range_of_[leaf]), sources.first_tile(range_of_[leaf] + 1)};
  }
  std::size_t tiles(const DeviceSources& sources, std::span<const std::uint32_t> leaves) const {
    std::size_t count = 0;
    for (const auto leaf : leaves) count += tiles(sources, leaf).second - tiles(sources, leaf).first;
    return count;
  }

  /// Lists the tiles of the leaves near(g) for each group of stations g, divided into chunks of equal length.
  template <class Near>
  DeviceTileSum::Lists deal(const DeviceSources& sources, std::size_t groups, std::uint32_t chunks,
                            int threads, const Near& near) const {
    DeviceTileSum::Lists lists{chunks, std::vector<std::uint64_t>(chunks * groups + 1), {}};
    auto& start = lists.start;
    const auto each_group = [&](const auto& work) {
      constexpr std::size_t some = 16;
      for_each((groups + some - 1) / some, threads, [&](std::size_t c) {
        for (std::size_t g = c * some; g < std::min((c + 1) * some, groups); ++g) work(g);
      });
    };
    each_group([&](std::size_t g) {
      const std::size_t count = tiles(sources, near(g));
      for (std::size_t c = 0; c < chunks; ++c)
        start[c * groups + g + 1] = count * (c + 1) / chunks - count * c / chunks;
    });
    std::partial_sum(start.begin(), start.end(), start.begin());
    lists.tile.resize(start.back());
    each_group([&](std::size_t g) {
      std::size_t c = 0, at = start[g];
      for (const auto leaf : near(g)) {
        const auto [from, to] = tiles(sources, leaf);
        for (std::uint32_t t = from; t < to; ++t) {
          while (at == start[c * groups + g + 1]) at = start[++c * groups + g];
          lists.tile[at++] = t;
        }
      }
    });
    return lists;
  }

 private:
  std::vector<std::uint32_t> range_of_;  // index of each leaf in ranges()
};

}  // namespace terrane::gravity
