// The least cost is about 50 ns per prism and axis: a look-up in a hash table, with one or two cache misses.
#include "terrane/physics/gravity/direct/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

namespace {

using Index = std::uint32_t;
constexpr Index none = 0xffffffffU;

/// Key that two neighbours along an axis have in common: the coordinate of the face between them, the four
/// coordinates of its edges, and the density.
using BarKey = std::array<std::uint64_t, 6>;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x + 0.0); }  // −0 and 0 are the same face

std::uint64_t hash_of_bar(const BarKey& key) {
  std::uint64_t h = 0x9e3779b97f4a7c15U;
  for (const auto word : key) {
    h = (h ^ word) * 0xff51afd7ed558ccdU;
    h ^= h >> 32;
  }
  return h;
}

class Neighbours {
 public:
  Neighbours(const Prisms& prisms, int axis, const Progress& progress) : density_(prisms.density) {
    const std::span<const double> low[3] = {prisms.west, prisms.south, prisms.bottom},
                                  high[3] = {prisms.east, prisms.north, prisms.top};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    low_ = low[axis];
    high_ = high[axis];
    sides_ = {low[a], high[a], low[b], high[b]};
    next_.assign(prisms.size(), none);
    const std::size_t slots = std::bit_ceil(2 * prisms.size() + 1);
    std::vector<Index> table(slots, none);
    const auto keep_going = [&](std::size_t n) {
      if (n % 65536 == 0 && progress.cancelled()) throw Cancelled();
    };
    for (std::size_t n = 0; n < prisms.size(); ++n) {
      keep_going(n);
      const BarKey key = key_of(n, low_[n]);
      std::size_t slot = hash_of_bar(key) & (slots - 1);
      while (table[slot] != none && key_of(table[slot], low_[table[slot]]) != key)
        slot = (slot + 1) & (slots - 1);
      if (table[slot] == none)
        table[slot] = static_cast<Index>(n);  // an occupied slot: the prism occurs twice and is not merged
    }
    std::vector<bool> taken(prisms.size());
    for (std::size_t n = 0; n < prisms.size(); ++n) {
      keep_going(n);
      const BarKey key = key_of(n, high_[n]);
      std::size_t slot = hash_of_bar(key) & (slots - 1);
      while (table[slot] != none && key_of(table[slot], low_[table[slot]]) != key)
        slot = (slot + 1) & (slots - 1);
      if (table[slot] == none || taken[table[slot]]) continue;
      next_[n] = table[slot];
      taken[table[slot]] = true;
      ++links_;
    }
  }

  std::size_t links() const { return links_; }

  /// First and last prism of every chain, in the order of the first.
  std::vector<std::array<Index, 2>> chains() const {
    std::vector<bool> follows(next_.size());
    for (const auto n : next_)
      if (n != none) follows[n] = true;
    std::vector<std::array<Index, 2>> chains;
    chains.reserve(next_.size() - links_);
    for (std::size_t n = 0; n < next_.size(); ++n) {
      if (follows[n]) continue;
      auto last = static_cast<Index>(n);
      while (next_[last] != none) last = next_[last];
      chains.push_back({static_cast<Index>(n), last});
    }
    return chains;
  }

 private:
  BarKey key_of(std::size_t n, double face) const {
    return {bits(face),         bits(sides_[0][n]), bits(sides_[1][n]),
            bits(sides_[2][n]), bits(sides_[3][n]), bits(density_[n])};
  }

  std::span<const double> low_, high_, density_;
  std::array<std::span<const double>, 4> sides_;
  std::vector<Index> next_;
  std::size_t links_ = 0;
};

MergedPrisms joined_along(const Prisms& prisms, const Neighbours& neighbours, int axis) {
  MergedPrisms out;
  const std::span<const double> from[7] = {prisms.west,   prisms.east, prisms.south,  prisms.north,
                                           prisms.bottom, prisms.top,  prisms.density};
  std::vector<double>* const to[7] = {&out.west,   &out.east, &out.south,  &out.north,
                                      &out.bottom, &out.top,  &out.density};
  const auto chains = neighbours.chains();
  for (int column = 0; column < 7; ++column) {
    to[column]->reserve(chains.size());
    // The far face of a bar comes from the last prism of its chain.
    const std::size_t end = column == 2 * axis + 1 ? 1 : 0;
    for (const auto& chain : chains) to[column]->push_back(from[column][chain[end]]);
  }
  return out;
}

}  // namespace

std::string MergedPrisms::text() const {
  return fmt::format("{} prisms merged into {} bars", original, size());
}

MergedPrisms merge(const Prisms& prisms, int threads, Progress* progress) {
  Progress silent;
  if (!progress) progress = &silent;
  if (prisms.size() >= none)
    throw UnsupportedError("merge", fmt::format("{} prisms in one call", prisms.size()),
                           "The limit is 4294967294; split the run.");
  int first = 0;
  MergedPrisms out;
  {
    std::vector<std::unique_ptr<Neighbours>> along(3);
    for_each(3, threads, [&](std::size_t axis) {
      along[axis] = std::make_unique<Neighbours>(prisms, static_cast<int>(axis), *progress);
    });
    for (int axis = 1; axis < 3; ++axis)
      if (along[static_cast<std::size_t>(axis)]->links() > along[static_cast<std::size_t>(first)]->links())
        first = axis;
    out = joined_along(prisms, *along[static_cast<std::size_t>(first)], first);
  }
  for (const int axis : {(first + 1) % 3, (first + 2) % 3}) {
    const Neighbours neighbours(out.view(), axis, *progress);
    if (neighbours.links() > 0) out = joined_along(out.view(), neighbours, axis);
  }
  out.original = prisms.size();
  return out;
}

double bytes_to_merge(std::size_t prisms, int threads) {
  // Memory for links to the neighbours along three axes, and for the hash tables of the axes that are
  // searched at the same time.
  const double tables = std::min(3, thread_count(threads));
  return sizeof(Index) *
         (3 * static_cast<double>(prisms) + tables * static_cast<double>(std::bit_ceil(2 * prisms + 1)));
}

double share_that_merges(const Prisms& prisms) {
  if (prisms.size() < 2) return 0;
  constexpr std::size_t sample = 4096;
  const std::size_t step = std::max<std::size_t>(1, prisms.size() / sample);
  std::vector<double> densities;
  std::size_t joins = 0;
  for (std::size_t n = 0; n + 1 < prisms.size(); n += step) {
    densities.push_back(prisms.density[n]);
    const std::size_t m = n + 1;  // the next prism: meshes list their cells along an axis
    const bool same[3] = {prisms.west[n] == prisms.west[m] && prisms.east[n] == prisms.east[m],
                          prisms.south[n] == prisms.south[m] && prisms.north[n] == prisms.north[m],
                          prisms.bottom[n] == prisms.bottom[m] && prisms.top[n] == prisms.top[m]};
    joins +=
        prisms.density[n] == prisms.density[m] &&
        ((prisms.east[n] == prisms.west[m] && same[1] && same[2]) ||
         (prisms.north[n] == prisms.south[m] && same[0] && same[2]) ||
         ((prisms.top[n] == prisms.bottom[m] || prisms.bottom[n] == prisms.top[m]) && same[0] && same[1]));
  }
  const std::size_t sampled = densities.size();
  if (joins > 0) return static_cast<double>(joins) / static_cast<double>(sampled);
  std::sort(densities.begin(), densities.end());
  const auto different =
      static_cast<std::size_t>(std::unique(densities.begin(), densities.end()) - densities.begin());
  return 2 * different <= sampled || sampled < 64 ? 0.5 : 0;
}

}  // namespace terrane::gravity
