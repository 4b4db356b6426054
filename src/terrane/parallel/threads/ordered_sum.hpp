// Sums over numbered pieces, added in a binary tree that depends on the number of pieces alone: the bits do
// not depend on which rank has which piece, or on the order in which pieces are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace terrane {

/// Sums: the type of the summands, with a function join(Sums& left, const Sums& right), left += right, in its
/// namespace.
template <class Sums>
class OrderedSum {
 public:
  /// A node of the tree: the pieces place · 2^level .. (place + 1) · 2^level − 1, as far as these exist.
  struct Node {
    std::uint32_t level, place;
    friend bool operator<(const Node& a, const Node& b) {
      return a.level < b.level || (a.level == b.level && a.place < b.place);
    }
  };

  explicit OrderedSum(std::size_t pieces = 1) : pieces_(pieces) {}

  /// Adds the sums of a node that was not added before, and joins it with sibling nodes that have been added.
  void add(Node node, Sums&& sums) {
    for (; width(node.level) < pieces_; ++node.level, node.place /= 2) {
      const Node sibling{node.level, node.place ^ 1};
      if (sibling.place * width(sibling.level) >= pieces_) continue;  // the sibling has no pieces
      const auto found = nodes_.find(sibling);
      if (found == nodes_.end()) break;
      if (node < sibling) {
        join(sums, found->second);
      } else {
        join(found->second, sums);
        sums = std::move(found->second);
      }
      nodes_.erase(found);
    }
    nodes_.emplace(node, std::move(sums));
  }
  /// The sums that are not joined yet; a single one if all pieces have been added.
  const std::map<Node, Sums>& nodes() const noexcept { return nodes_; }
  bool whole() const noexcept { return nodes_.size() == 1 && whole(nodes_.begin()->first); }
  /// Whether this node contains all pieces.
  bool whole(Node node) const noexcept { return width(node.level) >= pieces_; }
  /// Precondition: whole(). Moves the total sum out of this object, which is empty afterwards.
  Sums take() { return std::move(nodes_.extract(nodes_.begin()).mapped()); }

 private:
  static std::size_t width(std::uint32_t level) { return std::size_t{1} << level; }

  std::size_t pieces_;
  std::map<Node, Sums> nodes_;
};

}  // namespace terrane
