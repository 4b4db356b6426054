#include "terrane/physics/gravity/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "terrane/base/error.hpp"

namespace terrane::gravity {

namespace {

using Points = std::span<const double>[3];

void sort_tiles(std::span<std::uint32_t> order, const Points& points, std::size_t tile_size) {
  if (order.size() <= tile_size) return;
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
  const std::size_t cut = tiles / 2 * tile_size;
  const auto& along = points[axis];
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(cut), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     return along[a] < along[b] || (along[a] == along[b] && a < b);
                   });
  sort_tiles(order.first(cut), points, tile_size);
  sort_tiles(order.subspan(cut), points, tile_size);
}

}  // namespace

double squared_gap(const Bounds& a, const Bounds& b) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double gap = std::max({a.low[axis] - b.high[axis], b.low[axis] - a.high[axis], 0.0});
    sum += gap * gap;
  }
  return sum;
}

std::vector<std::uint32_t> compact_order(std::span<const double> x, std::span<const double> y,
                                         std::span<const double> z, std::size_t tile_size) {
  if (x.size() > std::numeric_limits<std::uint32_t>::max())
    throw UnsupportedError("forward", fmt::format("{} prisms or stations in one call", x.size()),
                           "The limit is 4294967295; split the run.");
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  const Points points{x, y, z};
  sort_tiles(order, points, tile_size);
  // Within a tile the original order: the sum of a tile should not depend on how the tiles were found.
  for (std::size_t first = 0; first < order.size(); first += tile_size)
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first),
              order.begin() + static_cast<std::ptrdiff_t>(std::min(first + tile_size, order.size())));
  return order;
}

}  // namespace terrane::gravity
