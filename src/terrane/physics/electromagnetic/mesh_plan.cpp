#include "terrane/physics/electromagnetic/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/physics/electromagnetic/earth_widths.hpp"

namespace terrane::electromagnetic {

namespace {

// Ratio of the conductivities above and below a level from which the mesh gets a face there.
constexpr double least_contrast = 1.5;

/// Whether two media differ by more than neighbouring cells in the result of an inversion, or exactly one of
/// them has no conductivity.
bool is_contrast(double above, double below) {
  if (std::isnan(above) || std::isnan(below)) return std::isnan(above) != std::isnan(below);
  return std::max(above, below) > least_contrast * std::min(above, below);
}

/// Heights at which a model on its own mesh has a contrast below a point.
std::vector<double> contrasts_of_cells(const EarthModel& cells, double easting, double northing) {
  const auto values = conductivity_along(cells, "east");
  if (values.empty()) return {};
  const auto& mesh = std::get<MeshCells>(cells.geometry).mesh;
  const auto column = [](const std::vector<double>& faces, double x) {
    return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin()) -
           1;
  };
  const std::size_t i = column(mesh.easting(), easting), j = column(mesh.northing(), northing);
  std::vector<double> heights;
  for (std::size_t k = 1; k < mesh.n_up(); ++k)
    if (is_contrast(values[mesh.index(i, j, k)], values[mesh.index(i, j, k - 1)]))
      heights.push_back(mesh.up()[k]);
  return heights;
}

/// Plans a mesh with cells as small as bodies need, or wider ones if the number of cells would be too large.
GridPlan plan_with_bodies(const Description& earth, const GridRequest& wanted,
                          std::vector<std::string>& reasons) {
  constexpr std::size_t many = 1'000'000, times = 3;
  constexpr double step = 1.25, widest = 16;
  auto plain = plan_mesh(wanted);
  const auto most = std::max(many, times * plain.mesh.size());
  for (double wider = 1; wider < widest; wider *= step) {
    auto request = wanted;
    const auto why = ask_for_bodies_of_sources(earth, wider, request);
    if (why.empty()) break;
    auto made = plan_mesh(request);
    if (made.mesh.size() > most) continue;
    if (made.mesh.size() != plain.mesh.size()) reasons.insert(reasons.end(), why.begin(), why.end());
    return made;
  }
  return plain;
}

}  // namespace

MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, GridRequest wanted) {
  if (wish.box || wish.depth)
    throw InputError("mesh", "electromagnetic meshes end a wavelength away",
                     "Give mesh.cell alone, or a mesh.");
  wanted.plane_waves = wanted.sources.empty();
  if (wanted.plane_waves) wanted.sources = wanted.receivers;
  // Mean conductivity for the lowest frequency: geometric mean over 1 to 100 km below the middle of the
  // survey, without air.
  double mean = 0, count = 0, east = 0, north = 0;
  for (const auto& p : wanted.receivers) {
    east += p[0] / static_cast<double>(wanted.receivers.size());
    north += p[1] / static_cast<double>(wanted.receivers.size());
  }
  // Requested conductivity; 0: use that of the medium at the sources.
  const double as_asked = wanted.at_sources;
  wanted.at_sources = 0;
  for (double depth = 1e3; depth < 1e5; depth *= 1.2) {
    const double ground = earth.topography ? earth.ground(east, north) : 0;
    if (const double sigma = conductivity_at(earth, east, north, ground - depth); sigma > conductivity_of_air)
      mean += std::log(sigma), count += 1;
  }
  if (count == 0)
    throw InputError("mesh", "nothing has a conductivity below the middle of the receivers",
                     "Give [model] one, or a mesh.");
  wanted.mean = std::exp(mean / count);
  for (const auto& p : wanted.sources)
    for (const double below : {0.0, 1.0, 10.0})
      if (const double sigma = conductivity_at(earth, p[0], p[1], p[2] - below);
          sigma > conductivity_of_air) {
        wanted.at_sources = std::max(wanted.at_sources, sigma);
        break;
      }
  if (wanted.at_sources == 0) wanted.at_sources = wanted.mean;
  if (as_asked > 0) wanted.at_sources = as_asked;
  if (wish.cell) wanted.cell = *wish.cell;
  wanted.heights = levels_of(earth);
  if (const double ground =
          wanted.plane_waves && wish.cell ? ground_without_air(earth, wanted.receivers) : std::nan("");
      !std::isnan(ground))
    wanted.heights.push_back(ground);  // air will be added above this height
  if (earth.cells)
    for (const double height : contrasts_of_cells(*earth.cells, east, north))
      wanted.heights.push_back(height);
  std::vector<std::string> reasons;
  if (wanted.cell == 0)
    reasons = wanted.plane_waves ? ask_for_earth(earth, wanted) : ask_for_layers_of_sources(earth, wanted);
  auto made =
      wanted.cell == 0 && !wanted.plane_waves ? plan_with_bodies(earth, wanted, reasons) : plan_mesh(wanted);
  made.reasons.insert(made.reasons.begin(), reasons.begin(), reasons.end());
  return {std::move(made.mesh), std::move(made.reasons)};
}

}  // namespace terrane::electromagnetic
