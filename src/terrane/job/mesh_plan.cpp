#include "terrane/job/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "terrane/mesh/grid.hpp"

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

Relief relief(const Ground& ground, const Prism& box) {
  Relief found{INFINITY, -INFINITY};
  constexpr int steps = 200;
  for (int j = 0; j <= steps; ++j)
    for (int i = 0; i <= steps; ++i) {
      const double up = ground(box.west + (box.east - box.west) * i / steps,
                               box.south + (box.north - box.south) * j / steps);
      found.lowest = std::min(found.lowest, up);
      found.highest = std::max(found.highest, up);
    }
  return found;
}

Relief relief(const Description& earth, const Prism& box, double level) {
  if (!earth.topography) return {level, level};
  return relief([&](double easting, double northing) { return earth.ground(easting, northing); }, box);
}

Spread spread_of(const std::vector<Position>& points) {
  Spread spread;
  const auto count = static_cast<double>(points.size());
  for (const auto& p : points)
    for (std::size_t a = 0; a < 2; ++a) spread.middle[a] += p[a] / count;
  double ee = 0, en = 0, nn = 0;
  for (const auto& p : points) {
    const double e = p[0] - spread.middle[0], n = p[1] - spread.middle[1];
    ee += e * e;
    en += e * n;
    nn += n * n;
  }
  const double angle = std::atan2(2 * en, ee - nn) / 2;
  spread.along = {std::cos(angle), std::sin(angle), 0};
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (const auto& p : points) {
    const double e = p[0] - spread.middle[0], n = p[1] - spread.middle[1];
    const double at[2] = {spread.at(p[0], p[1]), n * spread.along[0] - e * spread.along[1]};
    for (std::size_t a = 0; a < 2; ++a) {
      low[a] = std::min(low[a], at[a]);
      high[a] = std::max(high[a], at[a]);
    }
  }
  spread.length = high[0] - low[0];
  spread.width = high[1] - low[1];
  return spread;
}

namespace {

Ground ground_of_line(const std::vector<Position>& points, const Spread& spread) {
  auto line = std::make_shared<std::vector<std::pair<double, double>>>();
  for (const auto& p : points) line->emplace_back(spread.at(p[0], p[1]), p[2]);
  std::sort(line->begin(), line->end());
  return [line, spread](double easting, double northing) {
    const double at = spread.at(easting, northing);
    const auto after = std::upper_bound(line->begin(), line->end(), std::pair(at, double{INFINITY}));
    if (after == line->begin()) return line->front().second;
    if (after == line->end()) return line->back().second;
    const auto before = after - 1;
    return before->second +
           (after->second - before->second) * (at - before->first) / (after->first - before->first);
  };
}

/// Shepard's interpolation: mean of the heights with weights 1/distance⁴.
double mean_of_near(const std::vector<Position>& points, double easting, double northing) {
  double sum = 0, weights = 0;
  for (const auto& p : points) {
    const double e = p[0] - easting, n = p[1] - northing, square = e * e + n * n;
    if (square == 0) return p[2];
    const double weight = 1 / (square * square);
    sum += weight * p[2];
    weights += weight;
  }
  return sum / weights;
}

}  // namespace

Ground ground_through(const std::vector<Position>& points) {
  constexpr std::size_t few = 1000;
  const auto spread = spread_of(points);
  if (spread.width <= 0.02 * spread.length) return ground_of_line(points, spread);
  if (points.size() <= few)
    return [points](double easting, double northing) { return mean_of_near(points, easting, northing); };
  const auto box = box_around(points);
  const double apart = std::sqrt(spread.length * spread.width / static_cast<double>(points.size()));
  auto grid = std::make_shared<Grid>();
  for (auto [axis, low, high] :
       {std::tuple{&grid->easting, box.west, box.east}, {&grid->northing, box.south, box.north}}) {
    const auto count = std::clamp<std::size_t>(cells_in(high - low, apart), 1, 200);
    for (std::size_t n = 0; n <= count; ++n)
      axis->push_back(low + (high - low) * static_cast<double>(n) / static_cast<double>(count));
  }
  for (const double n : grid->northing)
    for (const double e : grid->easting) grid->values.push_back(mean_of_near(points, e, n));
  return [grid](double easting, double northing) {
    return grid->interpolate(std::clamp(easting, grid->easting.front(), grid->easting.back()),
                             std::clamp(northing, grid->northing.front(), grid->northing.back()));
  };
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
