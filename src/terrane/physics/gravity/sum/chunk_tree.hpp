// Sums over chunks of prisms, added in a binary tree that depends on the number of chunks alone: whoever
// holds which chunk, and whatever comes first, the bits are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

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
  /// Is this node all chunks?
  bool whole(Node node) const noexcept { return std::size_t{1} << node.level >= chunks_; }
  /// Precondition: whole(). Nothing is left.
  PartSums take() { return std::move(nodes_.extract(nodes_.begin()).mapped()); }

 private:
  std::size_t chunks_;
  std::map<Node, PartSums> nodes_;
};

/// The trees of some parts on their way to another rank. Each part has a place of its own, so that several
/// threads write and read them.
class TreePacket {
 public:
  struct Sums {
    ChunkTree::Node node;
    std::vector<std::span<const double>> values;  ///< [channels][stations]
    std::span<const Contact> contacts;
  };

  /// Takes the place of what was packed or received before, and of its memory.
  void pack(std::span<const ChunkTree> trees, int threads);
  void send(Comm& comm, int to) const;
  void receive(Comm& comm, int from);
  /// How many trees there are.
  std::size_t parts() const noexcept { return start_.empty() ? 0 : start_.size() - 1; }
  /// The nodes of one tree, as views of the packet. Throws ShapeError: the packet is no such thing.
  void read(std::size_t part, const std::function<void(const Sums&)>& use) const;

 private:
  std::vector<std::size_t> start_;  // where a part begins among the bytes, and the end
  Bytes bytes_;
};

}  // namespace terrane::gravity
