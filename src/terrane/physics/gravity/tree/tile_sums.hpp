// Sums the fields at a list of station tiles: of distant clusters by expansions, of leaves of the tree pair
// by pair.
#pragma once

#include <cstdint>
#include <vector>

#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

class TileSums {
 public:
  /// tiles: indices in tree.receivers(). The arguments passed by reference must outlive this object.
  TileSums(const Tree& tree, const Tree::Expansions& expansions, const Switching& switching,
           std::vector<std::size_t> tiles, Progress& progress);

  std::size_t size() const { return tiles_.size(); }
  std::size_t tile(std::size_t t) const { return tiles_[t]; }
  /// Sums of expansions at tile t of the list: [10][tile_size], in the order of Channel.
  double* far(std::size_t t) { return far_.data() + t * channel_count * tile_size; }
  /// Adds the field of an expansion at tile t of the list immediately.
  void add_far(const Tree::Node& node, int order, std::size_t t);
  /// Stores a leaf whose field add_near() will add at tile t.
  void meet(const Tree::Node& leaf, std::size_t t);
  void add_near();                 ///< throws Cancelled
  void stop_if_cancelled() const;  ///< throws Cancelled
  const std::vector<Contact>& contacts() const { return contacts_; }

  /// Calls use(index of the channel in the requested set, channel, sums [tile_size]) for tile t.
  template <class Use>
  void each_channel(std::size_t t, const Use& use) const {
    std::size_t column = 0, wanted = 0;
    double sums[tile_size];
    for (const auto channel : kernel_sets[set_].list()) {
      if (tree_.channels().contains(channel)) {
        const double* a = far_.data() + (t * channel_count + static_cast<std::size_t>(channel)) * tile_size;
        const double* b = near_.data() + (t * width_ + column) * tile_size;
        for (int s = 0; s < tile_size; ++s) sums[s] = a[s] + b[s];
        use(wanted++, channel, sums);
      }
      ++column;
    }
  }
  /// The sums of all tiles, in the form that a Summation returns.
  PartSums part_sums() const;

 private:
  /// A leaf that is summed pair by pair at a tile: their indices in tree.nodes() and in tiles_.
  struct Meeting {
    std::uint32_t leaf, tile;
  };
  void add_tile(const PrismTile& prisms, std::size_t begin, std::size_t end, NearPairsOfTask& near_pairs);

  const Tree& tree_;
  const Tree::Expansions& expansions_;
  const Switching& switching_;
  std::size_t set_, width_;  // index in kernel_sets of the set for near pairs; number of its channels
  std::vector<std::size_t> tiles_;
  std::vector<Meeting> meetings_;
  std::vector<double> far_, near_;  // far_: [tiles][10][tile_size]; near_: [tiles][width_][tile_size]
  std::vector<Contact> contacts_;
  Progress& progress_;
};

}  // namespace terrane::gravity
