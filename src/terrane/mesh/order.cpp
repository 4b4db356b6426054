#include "terrane/mesh/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

using Points = std::span<const double>[3];

using Segment = std::span<std::uint32_t>;

/// Divides a segment near its middle, so that the first part is a whole number of tiles.
std::pair<Segment, Segment> cut(Segment order, const Points& points, std::size_t tile_size) {
  int axis = 0;
  double longest = -1;
  for (int a = 0; a < 3; ++a) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (auto n : order) {
      low = std::min(low, points[a][n]);
      high = std::max(high, points[a][n]);
    }
    if (high - low > longest) {
      longest = high - low;
      axis = a;
    }
  }
  const std::size_t tiles = (order.size() + tile_size - 1) / tile_size;
  const std::size_t at = tiles / 2 * tile_size;
  const auto& along = points[axis];
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return along[a] < along[b] || (along[a] == along[b] && a < b);
                   });
  return {order.first(at), order.subspan(at)};
}

void sort_tiles(Segment order, const Points& points, std::size_t tile_size) {
  if (order.size() <= tile_size) {
    // Within a tile, points are in their original order: sums over a tile depend only on its points.
    std::sort(order.begin(), order.end());
    return;
  }
  const auto [first, second] = cut(order, points, tile_size);
  sort_tiles(first, points, tile_size);
  sort_tiles(second, points, tile_size);
}

}  // namespace

std::vector<std::uint32_t> compact_order(std::span<const double> x, std::span<const double> y,
                                         std::span<const double> z, std::size_t tile_size, int threads) {
  if (x.size() > std::numeric_limits<std::uint32_t>::max())
    throw UnsupportedError("run", fmt::format("{} prisms, cells or stations in one call", x.size()),
                           "The limit is 4294967295; split the run.");
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  const Points points{x, y, z};
  // Divides level by level until there are enough segments for all threads.
  const auto wanted = threads == 1 ? std::size_t{1} : 4 * static_cast<std::size_t>(thread_count(threads));
  std::vector<Segment> pieces{order};
  while (pieces.size() < wanted && pieces.front().size() > 64 * tile_size) {
    std::vector<Segment> halves(2 * pieces.size());
    for_each(pieces.size(), threads, [&](std::size_t p) {
      std::tie(halves[2 * p], halves[2 * p + 1]) = cut(pieces[p], points, tile_size);
    });
    pieces = std::move(halves);
  }
  for_each(pieces.size(), threads, [&](std::size_t p) { sort_tiles(pieces[p], points, tile_size); });
  return order;
}

std::vector<std::uint32_t> compact_order(const Boxes& boxes, std::size_t tile_size, int threads) {
  std::vector<double> centre[3];
  for (int a = 0; a < 3; ++a) {
    centre[a].resize(boxes.size());
    constexpr std::size_t chunk = 1 << 16;
    for_each((boxes.size() + chunk - 1) / chunk, threads, [&](std::size_t c) {
      const std::size_t last = std::min((c + 1) * chunk, boxes.size());
      for (std::size_t n = c * chunk; n < last; ++n)
        centre[a][n] = 0.5 * (boxes.low[a][n] + boxes.high[a][n]);
    });
  }
  return compact_order(centre[0], centre[1], centre[2], tile_size, threads);
}

}  // namespace terrane
