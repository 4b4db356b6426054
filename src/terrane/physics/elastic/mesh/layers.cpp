#include "terrane/physics/elastic/mesh/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "terrane/base/error.hpp"

namespace terrane::elastic {

namespace {

/// Integer coordinates of a node: easting and northing in columns of the surface, depth in half rows.
using Knot = std::array<std::uint32_t, 3>;

constexpr int pattern[6][4][2] = {{{0, 0}, {2, 0}, {2, 1}, {1, 1}}, {{2, 0}, {4, 0}, {3, 1}, {2, 1}},
                                  {{0, 0}, {1, 1}, {1, 2}, {0, 2}}, {{1, 1}, {2, 1}, {2, 2}, {1, 2}},
                                  {{2, 1}, {3, 1}, {3, 2}, {2, 2}}, {{3, 1}, {4, 0}, {4, 2}, {3, 2}}};

class Stack {
 public:
  Stack(const LayeredBox& box, std::vector<std::uint32_t>& layer) : box_(box), layer_(layer) {
    for (const auto& one : box.layers) last_ += 2 * static_cast<std::uint32_t>(one.rows);
    top_ = box.surface;
    std::uint32_t width = 1, row = 0;
    for (now_ = 0; now_ < box.layers.size(); ++now_) {
      const auto& here = box.layers[now_];
      first_ = row;
      auto left = static_cast<std::uint32_t>(here.rows);
      if (here.doubling) {
        double_columns(width, row);
        width *= 2, row += 4, left -= 2;
      }
      for (; left > 0; --left, row += 2) plain_row(width, row);
      top_ = here.bottom;
    }
  }

  Mesh finish(const OpenSides& open) {
    const auto east = static_cast<std::uint32_t>(box_.columns_east),
               north = static_cast<std::uint32_t>(box_.columns_north);
    for (std::uint32_t n = 0; n < mesh_.size(); ++n)
      for (std::uint32_t side = 0; side < 6; ++side) {
        const auto lies_on = [&](std::size_t axis, std::uint32_t value) {
          for (std::size_t a = 0; a < 8; ++a)
            if ((a >> side / 2 & 1) == side % 2 && knots_[mesh_.elements[n][a]][axis] != value) return false;
          return true;
        };
        if ((open.west && lies_on(0, 0)) || (open.east && lies_on(0, east)) ||
            (open.south && lies_on(1, 0)) || (open.north && lies_on(1, north)) ||
            (open.top && lies_on(2, 0)) || (open.bottom && lies_on(2, last_)))
          mesh_.absorbing.push_back({n, side});
      }
    mesh_.medium.assign(mesh_.size(), 0);
    return std::move(mesh_);
  }

 private:
  void plain_row(std::uint32_t width, std::uint32_t row) {
    for (std::uint32_t j = 0; j < box_.columns_north; j += width)
      for (std::uint32_t i = 0; i < box_.columns_east; i += width) {
        std::array<Knot, 8> corners;
        for (std::uint32_t a = 0; a < 8; ++a)
          corners[a] = {i + (a & 1) * width, j + (a >> 1 & 1) * width, row + 2 - 2 * (a >> 2)};
        add(corners);
      }
  }

  /// Adds the two rows of a doubling: the first doubles widths along east, the second along north.
  void double_columns(std::uint32_t width, std::uint32_t row) {
    const auto extruded = [&](const int(&quad)[4][2], int axis, std::uint32_t across, std::uint32_t along,
                              std::uint32_t step, std::uint32_t bottom) {
      constexpr int around[2][2] = {{0, 1}, {3, 2}};  // corner of a quadrilateral: [up][across]
      std::array<Knot, 8> corners;
      for (std::uint32_t a = 0; a < 8; ++a) {
        const auto bit = [&](int d) { return a >> d & 1; };
        const auto& at = quad[around[bit(2)][bit(axis)]];
        Knot& knot = corners[a];
        knot[static_cast<std::size_t>(axis)] = across + width * static_cast<std::uint32_t>(at[0]);
        knot[static_cast<std::size_t>(1 - axis)] = along + step * bit(1 - axis);
        knot[2] = bottom - static_cast<std::uint32_t>(at[1]);
      }
      add(corners);
    };
    for (std::uint32_t j = 0; j < box_.columns_north; j += width)
      for (std::uint32_t i = 0; i < box_.columns_east; i += 4 * width)
        for (const auto& quad : pattern) extruded(quad, 0, i, j, width, row + 2);
    for (std::uint32_t j = 0; j < box_.columns_north; j += 4 * width)
      for (std::uint32_t i = 0; i < box_.columns_east; i += 2 * width)
        for (const auto& quad : pattern) extruded(quad, 1, j, i, 2 * width, row + 4);
  }

  void add(const std::array<Knot, 8>& corners) {
    std::array<std::uint32_t, 8> nodes;
    for (std::size_t a = 0; a < 8; ++a) {
      const auto [at, is_new] = known_.emplace(corners[a], static_cast<std::uint32_t>(mesh_.nodes.size()));
      if (is_new) {
        mesh_.nodes.push_back(place(corners[a]));
        knots_.push_back(corners[a]);
      }
      nodes[a] = at->second;
    }
    mesh_.elements.push_back(nodes);
    layer_.push_back(static_cast<std::uint32_t>(now_));
  }

  Vector place(const Knot& knot) const {
    const double e = box_.west + (box_.east - box_.west) * knot[0] / static_cast<double>(box_.columns_east),
                 n = box_.south +
                     (box_.north - box_.south) * knot[1] / static_cast<double>(box_.columns_north);
    const auto& here = box_.layers[now_];
    const double above = top_(e, n), below = here.bottom(e, n);
    if (!(above > below))
      throw InputError(
          "elastic: layers",
          fmt::format("layer {}{} lies between {:.6g} and {:.6g} m at easting {:.6g}, northing {:.6g} m",
                      now_ + 1, here.name.empty() ? "" : " (" + here.name + ")", below, above, e, n),
          "Interfaces must be known over the whole box and may not meet; give a layer that ends a small "
          "thickness.");
    const double part = static_cast<double>(knot[2] - first_) / (2 * static_cast<double>(here.rows));
    return {e, n, part == 0 ? above : part == 1 ? below : above + (below - above) * part};
  }

  const LayeredBox& box_;
  std::vector<std::uint32_t>& layer_;
  Mesh mesh_;
  std::map<Knot, std::uint32_t> known_;
  std::vector<Knot> knots_;
  std::function<double(double, double)> top_;
  std::size_t now_ = 0;
  std::uint32_t first_ = 0, last_ = 0;
};

}  // namespace

Mesh layered(const LayeredBox& box, const OpenSides& open, std::vector<std::uint32_t>& layer) {
  const auto wrong = [](const std::string& what, const std::string& next) {
    return InputError("elastic: layers", what, next);
  };
  if (!(box.east > box.west) || !(box.north > box.south) || box.columns_east == 0 || box.columns_north == 0)
    throw wrong("the box has no width or no columns",
                "Give west < east, south < north, columns of 1 and more.");
  if (box.layers.empty()) throw wrong("there are none", "Give one or more, from the surface down.");
  std::size_t width = 1, rows = 0;
  for (std::size_t n = 0; n < box.layers.size(); ++n) {
    const auto& here = box.layers[n];
    if (here.rows == 0 || here.rows > 100'000)
      throw wrong(fmt::format("layer {} has {} rows", n + 1, here.rows), "One to 100,000.");
    rows += here.rows;
    if (!here.doubling) continue;
    if (here.rows < 2)
      throw wrong(fmt::format("layer {} begins with a doubling and has one row", n + 1),
                  "A doubling is two rows high.");
    if (box.columns_east % (4 * width) != 0 || box.columns_north % (4 * width) != 0)
      throw wrong(fmt::format("layer {} cannot double {} x {} columns", n + 1, box.columns_east / width,
                              box.columns_north / width),
                  fmt::format("Columns at the surface must be multiples of {}.", 4 * width));
    width *= 2;
  }
  if (static_cast<double>(box.columns_east) * static_cast<double>(box.columns_north) *
          static_cast<double>(rows) >
      4e8)
    throw wrong(
        fmt::format("{} x {} columns of {} rows are too many", box.columns_east, box.columns_north, rows),
        "Take fewer columns, or double them.");
  return Stack(box, layer).finish(open);
}

double quality(const Hexahedron& element) {
  double least = 1;
  for (int a = 0; a < 8; ++a) {
    const auto map = element.map({a & 1 ? 1. : -1., a & 2 ? 1. : -1., a & 4 ? 1. : -1.});
    const double sizes = norm(map.tangent[0]) * norm(map.tangent[1]) * norm(map.tangent[2]);
    least = std::min(least, sizes > 0 ? map.det / sizes : 0);
  }
  return least;
}

}  // namespace terrane::elastic
