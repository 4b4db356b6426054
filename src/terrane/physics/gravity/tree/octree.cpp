#include "terrane/physics/gravity/tree/octree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/sort.hpp"
#include "terrane/physics/gravity/tiles/tiling.hpp"

namespace terrane::gravity {

namespace {

constexpr int deepest = 19;  // levels; 3 · 19 bits of place and 5 of level make a key

using Key = std::uint64_t;

/// Bits of x at every third place.
Key spread(Key x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffU;
  x = (x | x << 16) & 0x1f0000ff0000ffU;
  x = (x | x << 8) & 0x100f00f00f00f00fU;
  x = (x | x << 4) & 0x10c30c30c30c30c3U;
  return (x | x << 2) & 0x1249249249249249U;
}

}  // namespace

Octree grow_octree(const Prisms& prisms, std::size_t leaf, int threads, Progress& progress) {
  const std::size_t count = prisms.size();
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw UnsupportedError("forward", fmt::format("{} prisms in one call", count),
                           "The limit is 4294967295; split the run.");
  const double *low[3] = {prisms.west.data(), prisms.south.data(), prisms.bottom.data()},
               *high[3] = {prisms.east.data(), prisms.north.data(), prisms.top.data()};
  const auto centre = [&](int a, std::size_t n) { return low[a][n] + 0.5 * (high[a][n] - low[a][n]); };
  constexpr std::size_t chunk = 1 << 14;
  const std::size_t chunks = (count + chunk - 1) / chunk;
  std::vector<Bounds> boxes(chunks);
  for_each(chunks, threads, [&](std::size_t c) {
    for (int a = 0; a < 3; ++a) {
      double least = INFINITY, most = -INFINITY;
      for (std::size_t n = c * chunk; n < std::min((c + 1) * chunk, count); ++n) {
        least = std::min(least, centre(a, n));
        most = std::max(most, centre(a, n));
      }
      boxes[c].low[a] = least;
      boxes[c].high[a] = most;
    }
  });
  double corner[3], side = 0;
  for (int a = 0; a < 3; ++a) {
    corner[a] = INFINITY;
    double most = -INFINITY;
    for (const auto& box : boxes) {
      corner[a] = std::min(corner[a], box.low[a]);
      most = std::max(most, box.high[a]);
    }
    side = std::max(side, most - corner[a]);
  }
  if (!(side > 0)) side = 1;
  const double finest = std::ldexp(1.0, deepest);
  const auto place = [&](std::size_t n) {
    Key key = 0;
    for (int a = 0; a < 3; ++a) {
      const double at = std::clamp((centre(a, n) - corner[a]) / side * finest, 0.0, finest - 1);
      key |= spread(static_cast<Key>(at)) << a;
    }
    return key;
  };

  std::vector<Key> keys(count);
  Octree grown;
  auto& order = grown.order;
  order.resize(count);
  for_each(chunks, threads, [&](std::size_t c) {
    if (progress.cancelled()) throw Cancelled();
    for (std::size_t n = c * chunk; n < std::min((c + 1) * chunk, count); ++n) {
      double longest = 0;
      for (int a = 0; a < 3; ++a) longest = std::max(longest, high[a][n] - low[a][n]);
      // The finest cells that are at least half as long as the prism.
      const int level = std::clamp(std::ilogb(2 * side / longest), 0, deepest);
      const int free = 3 * (deepest - level);
      keys[n] = (place(n) >> free << free) << 5 | static_cast<Key>(level);
      order[n] = static_cast<std::uint32_t>(n);
    }
  });
  sort_by_key(keys, order, threads, progress);

  const auto sort_flat = [&](std::size_t first, std::size_t last) {
    std::vector<std::pair<Key, std::uint32_t>> members;
    members.reserve(last - first);
    for (std::size_t i = first; i < last; ++i) members.emplace_back(place(order[i]), order[i]);
    std::sort(members.begin(), members.end());
    for (std::size_t i = first; i < last; ++i) order[i] = members[i - first].second;
  };

  auto& cells = grown.cells;
  const auto cell = [](std::size_t first, std::size_t last, int level, bool flat) {
    Octree::Cell c;
    c.first = static_cast<std::uint32_t>(first);
    c.last = static_cast<std::uint32_t>(last);
    c.level = static_cast<std::uint8_t>(level);
    c.flat = flat;
    return c;
  };
  if (count > 0) cells.push_back(cell(0, count, 0, false));
  std::vector<Octree::Cell> children;
  for (std::size_t begin = 0; begin < cells.size();) {
    const std::size_t end = cells.size();
    grown.levels.push_back(begin);
    for (std::size_t i = begin; i < end; ++i) {
      children.clear();
      const Octree::Cell parent = cells[i];
      if (parent.size() <= leaf) continue;
      int level = parent.level;
      bool flat = parent.flat;
      std::size_t own = parent.first;
      while (!flat && children.empty()) {
        while (own < parent.last && static_cast<int>(keys[own] & 31) <= level) ++own;
        if (level == deepest || own == parent.last) {
          flat = true;
          sort_flat(parent.first, parent.last);
          break;
        }
        const int shift = 5 + 3 * (deepest - level - 1);
        if (own == parent.first && keys[own] >> shift == keys[parent.last - 1] >> shift) {
          ++level;  // all in one octant
          continue;
        }
        if (own > parent.first) {
          sort_flat(parent.first, own);
          children.push_back(cell(parent.first, own, level, true));
        }
        for (std::size_t first = own; first < parent.last;) {
          const Key octant = keys[first] >> shift;
          const auto last = static_cast<std::size_t>(
              std::partition_point(keys.begin() + static_cast<std::ptrdiff_t>(first),
                                   keys.begin() + static_cast<std::ptrdiff_t>(parent.last),
                                   [&](Key key) { return key >> shift <= octant; }) -
              keys.begin());
          children.push_back(cell(first, last, level + 1, false));
          first = last;
        }
      }
      if (flat) {
        const std::size_t leaves = (parent.size() + leaf - 1) / leaf,
                          parts = std::min<std::size_t>(8, leaves);
        for (std::size_t p = 0; p < parts; ++p) {
          const std::size_t first = parent.first + leaves * p / parts * leaf,
                            last = std::min<std::size_t>(parent.first + leaves * (p + 1) / parts * leaf,
                                                         parent.last);
          children.push_back(cell(first, last, level, true));
        }
      }
      cells[i].child = static_cast<std::uint32_t>(cells.size());
      cells[i].children = static_cast<std::uint8_t>(children.size());
      cells.insert(cells.end(), children.begin(), children.end());
    }
    begin = end;
  }
  grown.levels.push_back(cells.size());
  return grown;
}

}  // namespace terrane::gravity
