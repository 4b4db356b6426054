#include "terrane/model/terrain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

/// Faces half-way between nodes; the outermost face is as far from its node as the next face inside.
std::vector<double> faces_around(const std::vector<double>& nodes) {
  const std::size_t n = nodes.size();
  std::vector<double> faces(n + 1);
  for (std::size_t i = 1; i < n; ++i) faces[i] = nodes[i - 1] + 0.5 * (nodes[i] - nodes[i - 1]);
  faces[0] = nodes[0] - 0.5 * (nodes[1] - nodes[0]);
  faces[n] = nodes[n - 1] + 0.5 * (nodes[n - 1] - nodes[n - 2]);
  return faces;
}

void refuse_geographic(const Grid& grid, const std::string& where) {
  if (grid.geographic)
    throw InputError(where, "the grid is in degrees of longitude and latitude",
                     "Project it first: prisms live in metres.");
}

}  // namespace

Terrain terrain(const Grid& elevation, const TerrainOptions& options) {
  check(elevation, "terrain");
  refuse_geographic(elevation, "terrain");
  if (elevation.n_east() < 2 || elevation.n_north() < 2)
    throw InputError("terrain",
                     fmt::format("a grid of {} × {} nodes", elevation.n_east(), elevation.n_north()),
                     "Two nodes along each axis are needed to know how wide a prism is.");
  for (double rho : {options.density_above, options.density_below})
    if (!std::isfinite(rho))
      throw InputError("terrain: density", fmt::format("the density is {}", rho),
                       "Give a finite number, kg/m³.");
  const auto* level = std::get_if<double>(&options.reference);
  const auto* grid = std::get_if<Grid>(&options.reference);
  if (level && !std::isfinite(*level))
    throw InputError("terrain: reference", fmt::format("the reference level is {}", *level),
                     "Give a finite number, m.");
  if (grid) {
    check(*grid, "terrain: reference");
    refuse_geographic(*grid, "terrain: reference");
  }

  const auto easting = faces_around(elevation.easting), northing = faces_around(elevation.northing);
  Terrain out;
  out.nodes = elevation.values.size();
  out.prisms.reserve(out.nodes);
  out.density.reserve(out.nodes);
  for (std::size_t j = 0; j < elevation.n_north(); ++j)
    for (std::size_t i = 0; i < elevation.n_east(); ++i) {
      const double surface = elevation.at(i, j);
      const double reference =
          level ? *level : grid->interpolate(elevation.easting[i], elevation.northing[j]);
      if (std::isnan(surface) || std::isnan(reference)) {
        ++out.gaps;
        continue;
      }
      const double density = surface > reference ? options.density_above : options.density_below;
      if (surface == reference || density == 0) {
        ++out.flat;
        continue;
      }
      out.prisms.push_back({easting[i], easting[i + 1], northing[j], northing[j + 1],
                            std::min(surface, reference), std::max(surface, reference)});
      out.density.push_back(density);
    }
  return out;
}

}  // namespace terrane
