#include "terrane/physics/gravity/inverse/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/mesh/graded.hpp"

namespace terrane::gravity::inverse {

namespace {
constexpr double beside = 1.3, down = 1.1;  // size of each cell relative to the one before
constexpr std::size_t most_cells = 500'000;

/// The spacing s of stations: each of the N stations occupies s² of the survey's area, extended by s/2 on all
/// sides: (length + s)(width + s) = N s². On a line the width is 0.
double apart(const std::vector<Position>& stations, const Spread& spread) {
  const double sides = spread.length + spread.width, more = static_cast<double>(stations.size()) - 1;
  return (sides + std::sqrt(sides * sides + 4 * more * spread.length * spread.width)) / (2 * more);
}

/// A mesh that fills the box `all`. Below the stations (box), cells have the width `cell` and half that
/// height down to `lowest`, the lowest height of the ground; from there to the sides of `all` their size
/// grows.
TensorMesh cells_around(const Prism& box, const Prism& all, double lowest, double cell) {
  const auto axis = [&](double low, double high, double from, double to) {
    low = std::max(low - cell / 2, from);
    high = std::min(high + cell / 2, to);
    return graded_faces({low, std::max(high, low + cell), cell, beside, beside, from, to, {}, {}});
  };
  const double core = std::max(all.bottom + cell / 2, std::min(lowest, all.top - cell) - cell / 2);
  return TensorMesh(axis(box.west, box.east, all.west, all.east),
                    axis(box.south, box.north, all.south, all.north),
                    graded_faces({core, all.top, cell / 2, down, beside, all.bottom, all.top, {}, {}}));
}
}  // namespace

CellsPlan plan_cells(const std::vector<Position>& stations, const Ground& ground, bool steep,
                     const MeshWish& wish, Ground& own) {
  CellsPlan plan;
  const auto box = box_around(stations);
  const auto spread = spread_of(stations);
  if (!(spread.length > 0) && !(wish.cell && wish.depth))
    throw InputError("mesh", "the stations are all at one place",
                     "Give mesh.cell and mesh.depth, or a mesh.");
  double cell = wish.cell.value_or(apart(stations, spread));
  const double depth = wish.depth.value_or(spread.length / 2), first = cell;
  const double gap = steep ? cell / 4 : cell / 200;  // vertical distance from the ground to a station, m
  own = {};
  Relief land{box.bottom - gap, box.bottom - gap};
  if (ground) {
    land = relief(ground, box);
  } else if (box.top - box.bottom > cell / 4) {
    own = [through = ground_through(stations), gap](double e, double n) { return through(e, n) - gap; };
    land = relief(own, box);
  }
  Prism all{box.west - depth,  box.east + depth,    box.south - depth,
            box.north + depth, land.lowest - depth, land.highest};
  if (wish.box) all = *wish.box;
  plan.mesh = cells_around(box, all, land.lowest, cell);
  while (!wish.cell && plan.mesh.size() > most_cells) {
    cell *= 1.15;
    plan.mesh = cells_around(box, all, land.lowest, cell);
  }
  plan.reasons.push_back(
      wish.cell ? fmt::format("cells of {:.4g} m, as mesh.cell says", cell)
      : cell > first
          ? fmt::format("cells of {:.4g} m, so that there are {} at most; mesh.cell makes them finer", cell,
                        most_cells)
          : fmt::format("cells of {:.4g} m, as stations are apart", cell));
  plan.reasons.push_back(
      ground ? fmt::format("the ground is from {:.4g} to {:.4g} m", land.lowest, land.highest)
      : own
          ? fmt::format(
                "the ground is taken to be at the stations, {:.4g} to {:.4g} m; name model.topography where "
                "they are above it",
                land.lowest, land.highest)
          : fmt::format(
                "the ground is taken to be at the lowest station, {:.4g} m; name model.topography where it "
                "is below",
                box.bottom));
  plan.reasons.push_back(
      fmt::format("{} × {} × {} cells, half as high at the ground, growing by {} down to {:.4g} m, {} below "
                  "the ground, and by {} "
                  "as far beside the survey",
                  plan.mesh.n_east(), plan.mesh.n_north(), plan.mesh.n_up(), down, all.bottom,
                  wish.depth || wish.box ? "as asked for" : "half the survey's length", beside));
  plan.smooth = {3 * cell, 3 * cell, 3 * cell};
  return plan;
}

}  // namespace terrane::gravity::inverse
