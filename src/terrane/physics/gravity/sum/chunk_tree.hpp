// Sums over chunks of prisms (parallel/threads/ordered_sum.hpp), and how they travel from rank to rank.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/threads/ordered_sum.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

/// The sums of one part over chunks of prisms.
using ChunkTree = OrderedSum<PartSums>;

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
