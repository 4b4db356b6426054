#include "terrane/physics/traveltime/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/mesh/graded.hpp"

namespace terrane::traveltime {

namespace {

constexpr double at_jumps = 1, where_smooth = 3;         // h/L = at_jumps ε, √(where_smooth ε)
constexpr double coarsest = 1. / 30, finest = 1. / 400;  // limits of h/L
// Distances by which the mesh extends beyond the survey, divided by its length L.
constexpr double beside_survey = 0.15, below_survey = 0.5, below_holes = 0.15;
constexpr double across_bodies = 4;  // least number of cells across the thinnest body or layer
constexpr std::size_t most_cells = 4'000'000;

struct Extent {
  Prism box;
  double length;
  bool in_holes;
};

Extent extent_of(const std::vector<Position>& places) {
  Extent s{box_around(places), 0, false};
  if (!std::isfinite(s.box.top)) s.box.top = s.box.bottom = 0;
  const double wide = std::hypot(s.box.east - s.box.west, s.box.north - s.box.south),
               high = s.box.top - s.box.bottom;
  s.length = std::hypot(wide, high);
  s.in_holes = high > 0.3 * wide;
  if (!(s.length > 0)) throw InputError("mesh", "shots and receivers are all at one place");
  return s;
}

/// The least extent of all bodies and layers, m.
double thinnest(const Description& earth) {
  double least = INFINITY;
  for (const auto& body : earth.bodies) {
    const auto box = bounds(body.shape);
    for (const double extent : {box.east - box.west, box.north - box.south, box.top - box.bottom})
      if (extent > 0) least = std::min(least, extent);
  }
  return least;
}

}  // namespace

CellsPlan plan_cells(const Description& earth, const std::vector<Position>& places, const MeshWish& wish,
                     double accuracy) {
  CellsPlan plan;
  const auto survey = extent_of(places);
  const double length = survey.length;
  const bool jumps = !earth.bodies.empty() || earth.cells;
  const double share = jumps ? at_jumps * accuracy : std::sqrt(where_smooth * accuracy);
  double cell = wish.cell.value_or(length * std::clamp(share, finest, coarsest));
  plan.reasons.push_back(
      wish.cell
          ? fmt::format("cells of {:.4g} m, as mesh.cell says", cell)
          : fmt::format(
                "cells of {:.4g} m: 1/{:.3g} of the survey's length of {:.4g} m, for an accuracy of {:g}",
                cell, length / cell, length, accuracy));
  if (const double body = thinnest(earth); !wish.cell && body < across_bodies * cell && body > 0) {
    cell = std::max(body / across_bodies, finest * length);
    plan.reasons.push_back(
        fmt::format("but of {:.4g} m: {:g} across the thinnest body, of {:.4g} m", cell, body / cell, body));
  }
  auto box = survey.box;
  const bool no_width = box.east - box.west < 1e-6 * length,
             no_breadth = box.north - box.south < 1e-6 * length;
  const bool flat[2] = {no_width && !no_breadth, no_breadth};
  box.west -= flat[0] ? cell / 2 : beside_survey * length,
      box.east += flat[0] ? cell / 2 : beside_survey * length;
  box.south -= flat[1] ? cell / 2 : beside_survey * length,
      box.north += flat[1] ? cell / 2 : beside_survey * length;
  if (flat[0] || flat[1]) plan.reasons.emplace_back("one cell across: shots and receivers lie on a line");
  const auto land = relief(earth, box, std::max(box.top, survey.in_holes ? 0.0 : box.top));
  const double low = std::isfinite(land.lowest) ? std::min(land.lowest, box.bottom) : box.bottom;
  box.top = std::isfinite(land.highest) ? std::max(land.highest, box.top) : box.top;
  box.bottom =
      wish.depth ? box.top - *wish.depth : low - (survey.in_holes ? below_holes : below_survey) * length;
  plan.reasons.push_back(fmt::format("down to {:.4g} m: {}", box.bottom,
                                     wish.depth ? "as mesh.depth says" : "below where waves dive"));
  if (wish.box) box = *wish.box;
  std::vector<double> levels = levels_of(earth);
  std::erase_if(levels, [&](double up) { return !(up > box.bottom && up < box.top); });
  const auto faces = [&](double from, double to, bool one, const std::vector<double>& wanted) {
    return one ? std::vector<double>{from, to}
               : graded_faces({from, to, cell, 1.3, 1.3, from, to, wanted, {}});
  };
  const auto mesh = [&] {
    return TensorMesh(faces(box.west, box.east, flat[0], {}), faces(box.south, box.north, flat[1], {}),
                      faces(box.bottom, box.top, false, levels));
  };
  plan.mesh = mesh();
  bool wider = false;
  while (plan.mesh.size() > most_cells && !wish.cell) cell *= 1.1, plan.mesh = mesh(), wider = true;
  if (wider)
    plan.reasons.push_back(
        fmt::format("but of {:.4g} m: else there were more than {} cells", cell, most_cells));
  plan.reasons.push_back(in_words(plan.mesh));
  plan.smooth = {2 * cell, 2 * cell, cell};
  return plan;
}

}  // namespace terrane::traveltime
