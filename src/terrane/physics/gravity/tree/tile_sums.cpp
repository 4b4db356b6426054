#include "terrane/physics/gravity/tree/tile_sums.hpp"

#include <algorithm>
#include <memory>

#include "terrane/base/error.hpp"

namespace terrane::gravity {

TileSums::TileSums(const Tree& tree, const Tree::Expansions& expansions, const Switching& switching,
                   std::vector<std::size_t> tiles, Progress& progress)
    : tree_(tree),
      expansions_(expansions),
      switching_(switching),
      set_(smallest_kernel_set(tree.channels())),
      width_(kernel_sets[set_].size()),
      tiles_(std::move(tiles)),
      progress_(progress) {
  far_.assign(tiles_.size() * channel_count * tile_size, 0.0);
  near_.assign(tiles_.size() * width_ * tile_size, 0.0);
}

void TileSums::add_far(const Tree::Node& node, int order, std::size_t t) {
  expansion_kernels().evaluate(expansions_.of(node), order, tree_.wants_tensor(),
                               tree_.receivers().tile(tiles_[t]), far(t));
}

void TileSums::meet(const Tree::Node& leaf, std::size_t t) {
  meetings_.push_back({static_cast<std::uint32_t>(tree_.number(leaf)), static_cast<std::uint32_t>(t)});
}

void TileSums::stop_if_cancelled() const {
  if (progress_.cancelled()) throw Cancelled();
}

void TileSums::add_near() {
  // Meetings are sorted by leaf, so that each leaf is loaded once for all its tiles of stations.
  std::stable_sort(meetings_.begin(), meetings_.end(),
                   [](const Meeting& a, const Meeting& b) { return a.leaf < b.leaf; });
  NearPairsOfTask near_pairs(switching_, tree_.receivers());
  auto tile = std::make_unique<PrismTile>();
  for (std::size_t begin = 0, end = 0; begin < meetings_.size(); begin = end) {
    stop_if_cancelled();
    while (end < meetings_.size() && meetings_[end].leaf == meetings_[begin].leaf) ++end;
    const auto& leaf = tree_.nodes()[meetings_[begin].leaf];
    for (std::size_t first = leaf.first; first < leaf.last; first += tile_size) {
      tree_.sources().load(first, std::min<std::size_t>(first + tile_size, leaf.last), leaf.low, *tile);
      add_tile(*tile, begin, end, near_pairs);
    }
  }
  contacts_ = std::move(near_pairs.contacts);
}

void TileSums::add_tile(const PrismTile& prisms, std::size_t begin, std::size_t end,
                        NearPairsOfTask& near_pairs) {
  Bounds bounds;
  double longest = 0;
  const double* const centre[3] = {prisms.x, prisms.y, prisms.z};
  for (int a = 0; a < 3; ++a) {
    const auto [low, high] = std::minmax_element(centre[a], centre[a] + prisms.count);
    bounds.low[a] = prisms.origin[a] + *low;
    bounds.high[a] = prisms.origin[a] + *high;
  }
  for (int p = 0; p < prisms.count; ++p) longest = std::max(longest, prisms.longest[p]);
  const auto& receivers = tree_.receivers();
  for (std::size_t m = begin; m < end; ++m) {
    const std::size_t t = meetings_[m].tile;
    near_pairs.station_tile = tiles_[t];
    const auto kernel = choose_kernel(kernel_target().kernels[set_], switching_,
                                      squared_gap(bounds, receivers.bounds(tiles_[t])), longest);
    kernel(prisms, receivers.tile(tiles_[t]), near_pairs, near_.data() + t * width_ * tile_size);
  }
}

PartSums TileSums::part_sums() const {
  PartSums sums;
  sums.values.resize(tree_.channels().size());
  for (std::size_t t = 0; t < tiles_.size(); ++t)
    each_channel(t, [&](std::size_t wanted, Channel, const double* values) {
      sums.values[wanted].insert(sums.values[wanted].end(), values,
                                 values + tree_.receivers().tile(tiles_[t]).count);
    });
  sums.contacts = contacts_;
  return sums;
}

}  // namespace terrane::gravity
