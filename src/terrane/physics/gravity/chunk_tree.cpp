#include "terrane/physics/gravity/chunk_tree.hpp"

namespace terrane::gravity {

namespace {

std::size_t width(std::uint32_t level) { return std::size_t{1} << level; }

/// left += right
void join(PartSums& left, const PartSums& right) {
  for (std::size_t c = 0; c < left.values.size(); ++c)
    for (std::size_t s = 0; s < left.values[c].size(); ++s) left.values[c][s] += right.values[c][s];
  left.contacts.insert(left.contacts.end(), right.contacts.begin(), right.contacts.end());
}

}  // namespace

void ChunkTree::add(Node node, PartSums&& sums) {
  for (; width(node.level) < chunks_; ++node.level, node.place /= 2) {
    const Node sibling{node.level, node.place ^ 1};
    if (sibling.place * width(sibling.level) >= chunks_) continue;  // there are no such chunks
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

bool ChunkTree::whole() const noexcept {
  return nodes_.size() == 1 && width(nodes_.begin()->first.level) >= chunks_;
}

}  // namespace terrane::gravity
