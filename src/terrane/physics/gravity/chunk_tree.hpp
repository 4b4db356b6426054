// Sums over chunks of prisms, added in a binary tree that depends on the number of chunks alone: whoever
// holds which chunk, and whatever comes first, the bits are the same.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "terrane/physics/gravity/summation.hpp"

namespace terrane::gravity {

class ChunkTree {
 public:
  /// The chunks place · 2^level .. (place + 1) · 2^level − 1, as far as there are any.
  struct Node {
    std::uint32_t level, place;
    friend bool operator<(const Node& a, const Node& b) {
      return a.level < b.level || (a.level == b.level && a.place < b.place);
    }
  };

  explicit ChunkTree(std::size_t chunks = 1) : chunks_(chunks) {}

  /// The sums of a node that was not added before; it is joined with its neighbours as far as they are there.
  void add(Node node, PartSums&& sums);
  /// What could not be joined yet; when all chunks were added, the whole alone.
  const std::map<Node, PartSums>& nodes() const noexcept { return nodes_; }
  bool whole() const noexcept;
  /// Precondition: whole().
  PartSums take() { return std::move(nodes_.begin()->second); }

 private:
  std::size_t chunks_;
  std::map<Node, PartSums> nodes_;
};

}  // namespace terrane::gravity
