// Sums over chunks of prisms (parallel/threads/ordered_sum.hpp), and their transfer between ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/threads/ordered_sum.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

/// The sums at the stations of one part: a binary tree, with a leaf for each chunk of prisms.
using ChunkTree = OrderedSum<PartSums>;

/// The trees of several parts, packed for transfer to another rank. Each part has its own range of bytes, so
/// that several threads can write or read the packet at once.
class TreePacket {
 public:
  struct Sums {
    ChunkTree::Node node;
    std::vector<std::span<const double>> values;  ///< [channels][stations]
    std::span<const Contact> contacts;
  };

  /// Replaces what was packed or received before, and reuses its memory.
  void pack(std::span<const ChunkTree> trees, int threads);
  void send(Comm& comm, int to) const;
  void receive(Comm& comm, int from);
  /// The number of trees in the packet.
  std::size_t parts() const noexcept { return start_.empty() ? 0 : start_.size() - 1; }
  /// Calls `use` with each node of one tree, as views of the packet. Throws ShapeError: the bytes are too
  /// few.
  void read(std::size_t part, const std::function<void(const Sums&)>& use) const;

 private:
  std::vector<std::size_t> start_;  // offset of each part in bytes_, then the total
  Bytes bytes_;
};

}  // namespace terrane::gravity
