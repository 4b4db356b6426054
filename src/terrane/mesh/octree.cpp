#include "terrane/mesh/octree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/parallel/threads/sort.hpp"

namespace terrane {

namespace {

constexpr int deepest = 19;  // finest level: 3 · 19 bits of octants and 5 of the level fit 64 bits
constexpr std::size_t chunk = 1 << 14;  // boxes per task
constexpr std::size_t together = 64;    // cells per task

using Key = std::uint64_t;

/// Moves bit n of x to bit 3 n.
Key spread(Key x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffU;
  x = (x | x << 16) & 0x1f0000ff0000ffU;
  x = (x | x << 8) & 0x100f00f00f00f00fU;
  x = (x | x << 4) & 0x10c30c30c30c30c3U;
  return (x | x << 2) & 0x1249249249249249U;
}

Octree::Cell cell(std::size_t first, std::size_t last, int level, bool flat) {
  Octree::Cell made;
  made.first = static_cast<std::uint32_t>(first);
  made.last = static_cast<std::uint32_t>(last);
  made.level = static_cast<std::uint8_t>(level);
  made.flat = flat;
  return made;
}

/// Computes the smallest cube around the centres, sorts the boxes by its octants, and divides the cells level
/// by level.
class Grower {
 public:
  Grower(const Boxes& boxes, std::size_t leaf, int threads, Progress& progress)
      : boxes_(boxes),
        leaf_(leaf),
        threads_(threads),
        progress_(progress),
        chunks_((boxes.size() + chunk - 1) / chunk) {}

  Octree grow() {
    frame();
    sort();
    cut();
    return std::move(grown_);
  }

 private:
  double centre(int a, std::size_t n) const {
    return boxes_.low[a][n] + 0.5 * (boxes_.high[a][n] - boxes_.low[a][n]);
  }
  std::size_t end_of(std::size_t c) const { return std::min((c + 1) * chunk, boxes_.size()); }

  void frame();
  Key place(std::size_t n) const;
  Key key(std::size_t n) const;
  void sort();
  void sort_flat(std::size_t first, std::size_t last);
  using Children = std::vector<Octree::Cell>;
  void cut();
  void cut(const Octree::Cell& parent, Children& children);
  void cut_into_octants(const Octree::Cell& parent, std::size_t own, int level, Children& children);
  void cut_equally(const Octree::Cell& parent, int level, Children& children);

  const Boxes& boxes_;
  std::size_t leaf_;
  int threads_;
  Progress& progress_;
  std::size_t chunks_;
  double corner_[3] = {}, side_ = 0;
  std::vector<Key> keys_;  // sort keys of boxes, in the order of grown_.order
  Octree grown_;
};

/// The smallest cube around the centres.
void Grower::frame() {
  std::vector<Bounds> around(chunks_);
  for_each(chunks_, threads_, [&](std::size_t c) {
    for (int a = 0; a < 3; ++a) {
      double least = INFINITY, most = -INFINITY;
      for (std::size_t n = c * chunk; n < end_of(c); ++n) {
        least = std::min(least, centre(a, n));
        most = std::max(most, centre(a, n));
      }
      around[c].low[a] = least;
      around[c].high[a] = most;
    }
  });
  for (int a = 0; a < 3; ++a) {
    corner_[a] = INFINITY;
    double most = -INFINITY;
    for (const auto& box : around) {
      corner_[a] = std::min(corner_[a], box.low[a]);
      most = std::max(most, box.high[a]);
    }
    side_ = std::max(side_, most - corner_[a]);
  }
  if (!(side_ > 0)) side_ = 1;
}

/// The octant of a centre on the finest level: its bits are the octant numbers of all levels, coarsest first.
Key Grower::place(std::size_t n) const {
  const double finest = std::ldexp(1.0, deepest);
  Key bits = 0;
  for (int a = 0; a < 3; ++a) {
    const double at = std::clamp((centre(a, n) - corner_[a]) / side_ * finest, 0.0, finest - 1);
    bits |= spread(static_cast<Key>(at)) << a;
  }
  return bits;
}

/// The sort key of the n-th box: the octant numbers of its centre, down to the finest level whose cells are
/// at least half as long as the box, followed by the number of that level.
Key Grower::key(std::size_t n) const {
  double longest = 0;
  for (int a = 0; a < 3; ++a) longest = std::max(longest, boxes_.high[a][n] - boxes_.low[a][n]);
  const int level = longest > 0 ? std::clamp(std::ilogb(2 * side_ / longest), 0, deepest) : deepest;
  const int free = 3 * (deepest - level);
  return (place(n) >> free << free) << 5 | static_cast<Key>(level);
}

void Grower::sort() {
  keys_ = filled(boxes_.size(), Key{0});
  grown_.order = filled(boxes_.size(), std::uint32_t{0});
  for_each(chunks_, threads_, [&](std::size_t c) {
    if (progress_.cancelled()) throw Cancelled();
    for (std::size_t n = c * chunk; n < end_of(c); ++n) {
      keys_[n] = key(n);
      grown_.order[n] = static_cast<std::uint32_t>(n);
    }
  });
  sort_by_key(keys_, grown_.order, threads_, progress_);
}

/// Sorts the boxes of a flat cell (boxes too large for finer cells) by the octants of their centres.
void Grower::sort_flat(std::size_t first, std::size_t last) {
  auto& order = grown_.order;
  std::vector<std::pair<Key, std::uint32_t>> members;
  members.reserve(last - first);
  for (std::size_t i = first; i < last; ++i) members.emplace_back(place(order[i]), order[i]);
  std::sort(members.begin(), members.end());
  for (std::size_t i = first; i < last; ++i) order[i] = members[i - first].second;
}

/// Divides all cells, level by level, so that children follow their parents. Cells of one level are
/// independent: each thread divides a range of them, and the children of all ranges are then concatenated.
void Grower::cut() {
  auto& cells = grown_.cells;
  if (boxes_.size() > 0) cells.push_back(cell(0, boxes_.size(), 0, false));
  for (std::size_t begin = 0; begin < cells.size();) {
    const std::size_t end = cells.size(), count = end - begin;
    grown_.levels.push_back(begin);
    std::vector<Children> made((count + together - 1) / together);
    const auto cut_stretch = [&](std::size_t first, std::size_t last) {
      auto& children = made[first / together];
      for (auto* parent = &cells[begin + first]; parent != &cells[begin] + last; ++parent) {
        if (parent->size() <= leaf_) continue;
        const auto known = children.size();
        cut(*parent, children);
        parent->child = static_cast<std::uint32_t>(known);  // index among the children of this range
        parent->children = static_cast<std::uint8_t>(children.size() - known);
      }
    };
    for_each_stretch(count, threads_, cut_stretch, together);
    for (std::size_t n = 0; n < count; n += together) {
      const auto before = static_cast<std::uint32_t>(cells.size());
      for (std::size_t i = begin + n; i < begin + std::min(n + together, count); ++i)
        if (cells[i].children > 0) cells[i].child += before;
      const auto& children = made[n / together];
      cells.insert(cells.end(), children.begin(), children.end());
    }
    begin = end;
  }
  grown_.levels.push_back(cells.size());
}

/// Divides a cell. Boxes too large for its octants become a cell of their own; the others are divided among
/// octants of the first level at which they do not all lie in one octant.
void Grower::cut(const Octree::Cell& parent, Children& children) {
  int level = parent.level;
  std::size_t own = parent.first;  // first box that is small enough for the next level
  while (!parent.flat) {
    while (own < parent.last && static_cast<int>(keys_[own] & 31) <= level) ++own;
    if (level == deepest || own == parent.last) {
      sort_flat(parent.first, parent.last);
      break;
    }
    const int shift = 5 + 3 * (deepest - level - 1);
    const bool one_octant = own == parent.first && keys_[own] >> shift == keys_[parent.last - 1] >> shift;
    if (!one_octant) return cut_into_octants(parent, own, level, children);
    ++level;
  }
  cut_equally(parent, level, children);
}

void Grower::cut_into_octants(const Octree::Cell& parent, std::size_t own, int level, Children& children) {
  const int shift = 5 + 3 * (deepest - level - 1);
  if (own > parent.first) {
    sort_flat(parent.first, own);
    children.push_back(cell(parent.first, own, level, true));
  }
  for (std::size_t first = own; first < parent.last;) {
    const Key octant = keys_[first] >> shift;
    const auto last = static_cast<std::size_t>(
        std::partition_point(keys_.begin() + static_cast<std::ptrdiff_t>(first),
                             keys_.begin() + static_cast<std::ptrdiff_t>(parent.last),
                             [&](Key k) { return k >> shift <= octant; }) -
        keys_.begin());
    children.push_back(cell(first, last, level + 1, false));
    first = last;
  }
}

/// Divides a cell into at most eight parts, each a whole number of leaves.
void Grower::cut_equally(const Octree::Cell& parent, int level, Children& children) {
  const std::size_t leaves = (parent.size() + leaf_ - 1) / leaf_, parts = std::min<std::size_t>(8, leaves);
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t first = parent.first + leaves * p / parts * leaf_,
                      last =
                          std::min<std::size_t>(parent.first + leaves * (p + 1) / parts * leaf_, parent.last);
    children.push_back(cell(first, last, level, true));
  }
}

}  // namespace

Octree grow_octree(const Boxes& boxes, std::size_t leaf, int threads, Progress& progress) {
  if (boxes.size() > std::numeric_limits<std::uint32_t>::max())
    throw UnsupportedError("run", fmt::format("{} prisms, cells or stations in one call", boxes.size()),
                           "The limit is 4294967295; split the run.");
  return Grower(boxes, leaf, threads, progress).grow();
}

}  // namespace terrane
