#include "terrane/physics/gravity/sum/chunk_tree.hpp"

#include <cstring>
#include <type_traits>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

namespace {

/// Header before the values [channels][stations] and the contacts of a node.
struct Head {
  ChunkTree::Node node;
  std::size_t channels, stations, contacts;

  static Head of(ChunkTree::Node node, const PartSums& sums) {
    return {node, sums.values.size(), sums.values.empty() ? 0 : sums.values.front().size(),
            sums.contacts.size()};
  }
  std::size_t bytes() const {
    return sizeof(Head) + channels * stations * sizeof(double) + contacts * sizeof(Contact);
  }
};
// With these sizes all values in a packet are aligned.
static_assert(sizeof(Head) % alignof(double) == 0 && sizeof(Contact) % alignof(double) == 0 &&
              alignof(Contact) == alignof(double) && std::is_trivially_copyable_v<Contact>);

}  // namespace

void TreePacket::pack(std::span<const ChunkTree> trees, int threads) {
  start_.assign(1, 0);
  for (const auto& tree : trees) {
    std::size_t bytes = 0;
    for (const auto& [node, sums] : tree.nodes()) bytes += Head::of(node, sums).bytes();
    start_.push_back(start_.back() + bytes);
  }
  bytes_.clear();  // emptied first, so that growing need not copy old bytes
  bytes_.resize(start_.back());
  for_each(trees.size(), threads, [&](std::size_t part) {
    std::byte* to = bytes_.data() + start_[part];
    const auto put = [&](const auto* from, std::size_t count) {
      if (count > 0) std::memcpy(to, from, count * sizeof(*from));
      to += count * sizeof(*from);
    };
    for (const auto& [node, sums] : trees[part].nodes()) {
      const auto head = Head::of(node, sums);
      put(&head, 1);
      for (const auto& values : sums.values) put(values.data(), values.size());
      put(sums.contacts.data(), sums.contacts.size());
    }
  });
}

void TreePacket::send(Comm& comm, int to) const {
  Packet packet;
  packet.put(start_);
  packet.send(comm, to);
  comm.send(bytes_, to);
}

void TreePacket::receive(Comm& comm, int from) {
  start_ = Packet::receive(comm, from).get_vector<std::size_t>();
  bytes_.clear();
  bytes_.resize(start_.back());
  comm.receive(bytes_, from);
}

void TreePacket::read(std::size_t part, const std::function<void(const Sums&)>& use) const {
  const std::byte *at = bytes_.data() + start_[part], *end = bytes_.data() + start_[part + 1];
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    Head head{};
    if (left >= sizeof(head)) std::memcpy(&head, at, sizeof(head));
    if (left < sizeof(head) || left < head.bytes())
      throw ShapeError("ranks", "a message is shorter than it says", "Start the same version on every node.");
    Sums sums{head.node, {}, {}};
    const auto* values = reinterpret_cast<const double*>(at + sizeof(head));
    for (std::size_t c = 0; c < head.channels; ++c)
      sums.values.emplace_back(values + c * head.stations, head.stations);
    sums.contacts = {reinterpret_cast<const Contact*>(values + head.channels * head.stations), head.contacts};
    use(sums);
    at += head.bytes();
  }
}

}  // namespace terrane::gravity
