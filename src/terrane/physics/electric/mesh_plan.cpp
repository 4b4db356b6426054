#include "terrane/physics/electric/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/mesh/graded.hpp"

namespace terrane::electric {

namespace {
constexpr double seen = 0.25;                 // of the survey's reach: how deep even cells go
constexpr double far = 3;                     // reaches from an electrode to a wall
constexpr double sideways = 1.4, down = 1.2;  // growth
}  // namespace

MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, const std::vector<Position>& electrodes) {
  MeshPlan plan;
  const auto box = box_around(electrodes);
  const double apart = smallest_distance(electrodes);
  const double reach = std::max(
      {box.east - box.west, box.north - box.south, std::isfinite(box.bottom) ? box.top - box.bottom : 0.0});
  if (!(reach > 0)) throw InputError("mesh", "the electrodes are all at one place");
  const double cell = wish.cell.value_or(apart > 0 ? apart / 2 : reach / 40);
  plan.reasons.push_back(wish.cell ? fmt::format("cells of {:.4g} m, as mesh.cell says", cell)
                         : apart > 0
                             ? fmt::format("cells of {:.4g} m: half the distance between electrodes", cell)
                             : fmt::format("cells of {:.4g} m: a fortieth of the holes' depth", cell));
  Prism all = {
      box.west - far * reach, box.east + far * reach, box.south - far * reach, box.north + far * reach, 0, 0};
  const auto land = relief(earth, all, std::isfinite(box.top) ? std::max(box.top, 0.0) : 0);
  const auto near = relief(earth, box, land.highest);
  all.top = land.highest;
  const double lowest = std::isfinite(box.bottom) ? std::min(near.lowest, box.bottom) : near.lowest;
  const double core = lowest - seen * reach;
  all.bottom = wish.depth ? all.top - *wish.depth : lowest - far * reach;
  plan.reasons.push_back(
      fmt::format("even cells down to {:.4g} m, a quarter of the survey's {:.4g} m below it; walls "
                  "{:.4g} m away, three times that",
                  core, reach, far * reach));
  if (wish.box) all = *wish.box;
  const auto axis = [&](double low, double high, double from, double to, double up) {
    low = std::max(low - 2 * cell, from);
    high = std::min(high + 2 * cell, to);
    return graded_faces({low, std::max(high, low + cell), cell, sideways, up, from, to, {}});
  };
  auto upwards = graded_faces({core, all.top, cell, down, sideways, all.bottom, all.top, {}});
  plan.mesh = TensorMesh(axis(box.west, box.east, all.west, all.east, sideways),
                         axis(box.south, box.north, all.south, all.north, sideways), std::move(upwards));
  plan.reasons.push_back(fmt::format("{} × {} × {} cells, growing by {} sideways and {} downwards",
                                     plan.mesh.n_east(), plan.mesh.n_north(), plan.mesh.n_up(), sideways,
                                     down));
  return plan;
}

}  // namespace terrane::electric
