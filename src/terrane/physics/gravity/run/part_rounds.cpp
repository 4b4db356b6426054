#include "terrane/physics/gravity/run/part_rounds.hpp"

#include <algorithm>
#include <stdexcept>

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

namespace {

/// Calls `use` for the parts of a round, counted from 0, that are sent in one message: some 10 MB, so that
/// the same buffer is used again. Larger messages would take longer, because the first access to new memory
/// is slow.
template <class Use>
void for_each_message(const Range& round, const Use& use) {
  constexpr std::size_t parts_per_message = 128;
  for (std::size_t first = 0; first < round.size(); first += parts_per_message)
    use(Range{first, std::min(first + parts_per_message, round.size())});
}

}  // namespace

void PartRounds::compute(const Range& round, Progress& progress) {
  trees_.assign(round.size(), ChunkTree(worker_.chunks()));
  worker_.sum(round, trees_, progress);
}

void PartRounds::hand_over(Comm& comm, const Range& round) {
  for_each_message(round, [&](const Range& some) {
    packet_.pack(std::span(trees_).subspan(some.first, some.size()), threads_);
    if (some.first == 0) wait_for_turn(comm);
    packet_.send(comm, 0);
  });
}

/// Copies every complete tree into the result.
void PartRounds::take_own(const Range& round) {
  contacts_.assign(round.size(), {});
  done_.assign(round.size(), 0);
  for_each(round.size(), threads_, [&](std::size_t p) { take_whole(p, trees_[p], round); });
}

void PartRounds::take(Comm& comm, int rank, const Range& round) {
  for_each_message(round, [&](const Range& some) {
    packet_.receive(comm, rank);
    take_packet(round, some);
  });
}

/// Adds the sums of some parts that another rank sent to the trees that are not complete yet.
void PartRounds::take_packet(const Range& round, const Range& some) {
  if (packet_.parts() != some.size()) throw std::logic_error("a rank did another round");
  for_each(some.size(), threads_, [&](std::size_t n) {
    const std::size_t p = some.first + n;
    packet_.read(n, [&](const TreePacket::Sums& sums) {
      if (trees_[p].whole(sums.node)) return put(p, sums.values, sums.contacts, round);
      PartSums own;
      for (const auto& values : sums.values) own.values.emplace_back(values.begin(), values.end());
      own.contacts.assign(sums.contacts.begin(), sums.contacts.end());
      trees_[p].add(sums.node, std::move(own));
    });
    take_whole(p, trees_[p], round);
  });
}

void PartRounds::take_whole(std::size_t part, ChunkTree& tree, const Range& round) {
  if (!tree.whole()) return;
  const auto sums = tree.take();
  put(part, std::vector<std::span<const double>>(sums.values.begin(), sums.values.end()), sums.contacts,
      round);
}

/// Called from several threads: no two parts have a station and channel in common.
void PartRounds::put(std::size_t part, std::span<const std::span<const double>> values,
                     std::span<const Contact> contacts, const Range& round) {
  scatter_values(worker_.part(round.first + part), values, channels_, *all_);
  contacts_[part].assign(contacts.begin(), contacts.end());
  done_[part] = 1;
}

void PartRounds::finish(const Range& round) {
  for (std::size_t p = 0; p < round.size(); ++p) {
    if (!done_[p]) throw std::logic_error("a part is not whole after its round");
    all_->contacts.insert(all_->contacts.end(), contacts_[p].begin(), contacts_[p].end());
  }
}

}  // namespace terrane::gravity
