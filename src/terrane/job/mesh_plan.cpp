#include "terrane/job/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace terrane {

Prism box_around(const std::vector<Position>& points) {
  if (points.empty())
    throw InputError("mesh", "there is no survey to make a mesh for", "Give [mesh] a kind.");
  Prism box{INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (const auto& p : points) {
    box.west = std::min(box.west, p[0]);
    box.east = std::max(box.east, p[0]);
    box.south = std::min(box.south, p[1]);
    box.north = std::max(box.north, p[1]);
    box.bottom = std::fmin(box.bottom, p[2]);
    box.top = std::fmax(box.top, p[2]);
  }
  return box;
}

double smallest_distance(const std::vector<Position>& points) {
  double least = INFINITY;
  for (std::size_t n = 1; n < points.size(); ++n)
    if (const double d = std::hypot(points[n][0] - points[n - 1][0], points[n][1] - points[n - 1][1]); d > 0)
      least = std::min(least, d);
  return std::isfinite(least) ? least : 0;
}

Relief relief(const Description& earth, const Prism& box, double level) {
  if (!earth.topography) return {level, level};
  Relief found{INFINITY, -INFINITY};
  constexpr int steps = 200;
  for (int j = 0; j <= steps; ++j)
    for (int i = 0; i <= steps; ++i) {
      const double ground = earth.ground(box.west + (box.east - box.west) * i / steps,
                                         box.south + (box.north - box.south) * j / steps);
      found.lowest = std::min(found.lowest, ground);
      found.highest = std::max(found.highest, ground);
    }
  return found;
}

std::vector<double> levels_of(const Description& earth) {
  std::vector<double> levels;
  const auto add = [&](const Surface& surface) {
    if (const auto* level = std::get_if<double>(&surface)) levels.push_back(*level);
  };
  for (const auto& body : earth.bodies)
    if (const auto* layer = std::get_if<Layer>(&body.shape)) {
      add(layer->bottom);
      add(layer->top);
    }
  if (earth.topography) add(*earth.topography);
  return levels;
}

std::size_t cells_in(double length, double cell) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(length / cell - 1e-6)));
}

std::string in_words(const TensorMesh& mesh) {
  return fmt::format("{} × {} × {} cells of {:.4g} m × {:.4g} m × {:.4g} m", mesh.n_east(), mesh.n_north(),
                     mesh.n_up(), mesh.easting()[1] - mesh.easting()[0],
                     mesh.northing()[1] - mesh.northing()[0], mesh.up()[1] - mesh.up()[0]);
}

}  // namespace terrane
