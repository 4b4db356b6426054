#include "terrane/physics/elastic/mesh/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace terrane::elastic {

namespace {
constexpr double points = 5;  // points per shortest wavelength
constexpr double margin = 2;  // least distance of sides from sources and receivers, in shortest wavelengths

/// The largest distance between a point of the interval a and a point of the interval b.
double farthest(double low_a, double high_a, double low_b, double high_b) {
  return std::max(high_a - low_b, high_b - low_a);
}

/// Distances of the mesh's sides from the box of all sources and receivers, large enough to avoid reflections
/// at grazing incidence (mesh_plan.hpp): west, east, south, north, m.
std::array<double, 4> rooms(const ElementWish& waves, const Prism& all, double least, double fastest) {
  std::array<double, 4> room;
  room.fill(least);
  if (waves.matched || waves.sources.empty() || waves.receivers.empty()) return room;
  const auto s = box_around(waves.sources), r = box_around(waves.receivers);
  const double within = fastest * waves.end / std::sqrt(2.0);
  const double below = farthest(s.bottom, s.top, r.bottom, r.top),
               deep = std::isfinite(below) ? below : 0;  // positions on the ground have no height yet
  const double along_north = std::hypot(farthest(s.south, s.north, r.south, r.north), deep),
               along_east = std::hypot(farthest(s.west, s.east, r.west, r.east), deep);
  // The sum of the distances of source and receiver from the side of the box `all`.
  const std::array<double, 4> gap{
      s.west - all.west + r.west - all.west, all.east - s.east + all.east - r.east,
      s.south - all.south + r.south - all.south, all.north - s.north + all.north - r.north};
  for (std::size_t side = 0; side < 4; ++side) {
    const double both = std::min(side < 2 ? along_north : along_east, within);
    room[side] = std::max(least, (both - gap[side]) / 2);
  }
  return room;
}

}  // namespace

MeshPlan plan_elements(const Description& earth, const MeshWish& wish, const ElementWish& waves) {
  MeshPlan plan;
  const auto pressure = earth.values("velocity_p");
  auto shear = earth.values("velocity_s");
  const bool fluid = shear.empty() || shear.front() == 0;
  std::erase_if(shear, [](double v) { return !(v > 0); });
  if (pressure.empty() || !(pressure.front() > 0) || !(waves.highest_frequency > 0))
    throw InputError("mesh", "elements want velocities and a source",
                     "Give the earth's units velocity_p and velocity_s.");
  double slowest = shear.empty() ? pressure.front() : shear.front();
  if (fluid) slowest = std::min(slowest, pressure.front());
  const double wave = slowest / waves.highest_frequency;
  const double cell = wish.cell.value_or(wave * waves.degree / points);
  plan.reasons.push_back(
      wish.cell ? fmt::format("elements of {:.4g} m, as mesh.cell says", cell)
                : fmt::format("elements of {:.4g} m: {} points in the shortest wave, {:.4g} m ({:.4g} Hz "
                              "at {:.4g} m/s)",
                              cell, points, wave, waves.highest_frequency, slowest));
  auto places = waves.sources;
  places.insert(places.end(), waves.receivers.begin(), waves.receivers.end());
  auto box = box_around(places);
  const double room = std::max(margin * wave, 2 * cell);
  const auto beside = rooms(waves, box, room, pressure.back());
  box.west -= beside[0], box.east += beside[1], box.south -= beside[2], box.north += beside[3];
  const auto land = relief(earth, box, std::max(box.top, 0.0));
  const auto described = earth.bounds();
  const double shallow = std::min(land.lowest, box.bottom), returns = pressure.back() * waves.end / 2;
  box.top = land.highest;
  if (wish.depth) box.bottom = box.top - *wish.depth;
  else
    box.bottom =
        (described.bottom < shallow ? std::max(described.bottom, shallow - returns) : shallow - returns) -
        room;
  const double most = *std::max_element(beside.begin(), beside.end());
  const auto extent = fmt::format(
      "down to {:.4g} m, what is described with an end, or what comes back within {:.4g} s; west, east, "
      "south and "
      "north {:.4g}, {:.4g}, {:.4g}, {:.4g} m from sources and receivers{}",
      box.bottom, waves.end, beside[0], beside[1], beside[2], beside[3],
      most > room
          ? fmt::format(", so that no wave meets a side at more than 45 degrees, of which 12 % come back "
                        "(boundary = \"pml\" needs {:.4g} m)",
                        room)
          : std::string());
  plan.reasons.push_back(wish.box ? "the box is mesh.box; a planned one would reach " + extent : extent);
  if (wish.box) box = *wish.box;
  plan.mesh =
      TensorMesh::regular(box, {cells_in(box.east - box.west, cell), cells_in(box.north - box.south, cell),
                                cells_in(box.top - box.bottom, cell)});
  plan.reasons.push_back(in_words(plan.mesh));
  return plan;
}

}  // namespace terrane::elastic
