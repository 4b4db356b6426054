#include "terrane/physics/elastic/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace terrane::elastic {

namespace {
constexpr double points = 5;  // in the shortest wave
constexpr double margin = 2;  // shortest waves around sources and receivers
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
  auto box = box_around(waves.places);
  const double room = std::max(margin * wave, 2 * cell);
  box.west -= room, box.east += room, box.south -= room, box.north += room;
  const auto land = relief(earth, box, std::max(box.top, 0.0));
  const auto described = earth.bounds();
  const double shallow = std::min(land.lowest, box.bottom), returns = pressure.back() * waves.end / 2;
  box.top = land.highest;
  if (wish.depth) box.bottom = box.top - *wish.depth;
  else
    box.bottom =
        (described.bottom < shallow ? std::max(described.bottom, shallow - returns) : shallow - returns) -
        room;
  plan.reasons.push_back(
      fmt::format("down to {:.4g} m: what is described with an end, or what comes back within {:.4g} s; "
                  "{:.4g} m around sources and receivers",
                  box.bottom, waves.end, room));
  if (wish.box) box = *wish.box;
  plan.mesh =
      TensorMesh::regular(box, {cells_in(box.east - box.west, cell), cells_in(box.north - box.south, cell),
                                cells_in(box.top - box.bottom, cell)});
  plan.reasons.push_back(in_words(plan.mesh));
  return plan;
}

}  // namespace terrane::elastic
