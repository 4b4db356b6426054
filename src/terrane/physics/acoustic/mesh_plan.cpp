#include "terrane/physics/acoustic/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace terrane::acoustic {

namespace {
constexpr double margin = 10;  // cells of the mesh around shots and receivers
}

MeshPlan plan_grid(const Description& earth, const MeshWish& wish, const GridWish& waves) {
  MeshPlan plan;
  auto velocities = earth.values("velocity_p");
  std::erase_if(velocities, [](double v) { return !(v > 0); });
  if (velocities.empty())
    throw InputError("mesh", "the earth has no velocity_p", "Give its units or bodies one.");
  const double slowest = velocities.front(), fastest = velocities.back();
  double cell = slowest / (waves.highest_frequency * waves.cells_per_wavelength);
  if (wish.cell) {
    cell = *wish.cell;
    plan.reasons.push_back(fmt::format("cells of {:.4g} m, as mesh.cell says", cell));
  } else {
    plan.reasons.push_back(
        fmt::format("cells of {:.4g} m: {:.3g} in the shortest wave, {:.4g} Hz at {:.4g} m/s", cell,
                    waves.cells_per_wavelength, waves.highest_frequency, slowest));
  }
  auto places = waves.shots;
  places.insert(places.end(), waves.receivers.begin(), waves.receivers.end());
  auto box = box_around(places);
  const bool no_width = box.east == box.west, no_breadth = box.north == box.south;
  box.west -= no_width ? cell / 2 : margin * cell, box.east += no_width ? cell / 2 : margin * cell;
  box.south -= no_breadth ? cell / 2 : margin * cell, box.north += no_breadth ? cell / 2 : margin * cell;
  if (no_width && no_breadth) throw InputError("mesh", "shots and receivers are all at one place");
  if (no_width || no_breadth) plan.reasons.emplace_back("one cell across: shots and receivers lie on a line");
  const auto land = relief(earth, box, std::max(box.top, 0.0));
  const double top = land.highest, shallow = std::min(land.lowest, box.bottom);
  const auto described = earth.bounds();
  const double returns = fastest * waves.end / 2;
  if (wish.depth) {
    box.bottom = top - *wish.depth;
  } else if (described.bottom < shallow && shallow - described.bottom < returns) {
    box.bottom = described.bottom - margin * cell;
    plan.reasons.push_back(
        fmt::format("down to {:.4g} m, below all that is described with an end", box.bottom));
  } else {
    box.bottom = shallow - returns;
    plan.reasons.push_back(
        fmt::format("down to {:.4g} m: nothing from below comes back within {:.4g} s at {:.4g} m/s",
                    box.bottom, waves.end, fastest));
  }
  box.top = top;
  if (wish.box) box = *wish.box;
  // Cells are cubes: the box is adjusted to a whole number of cells at its eastern and northern side and
  // bottom.
  const std::array<std::size_t, 3> shape{no_width ? 1 : cells_in(box.east - box.west, cell),
                                         no_breadth ? 1 : cells_in(box.north - box.south, cell),
                                         cells_in(box.top - box.bottom, cell)};
  if (!no_width) box.east = box.west + static_cast<double>(shape[0]) * cell;
  if (!no_breadth) box.north = box.south + static_cast<double>(shape[1]) * cell;
  box.bottom = box.top - static_cast<double>(shape[2]) * cell;
  plan.mesh = TensorMesh::regular(box, shape);
  plan.reasons.push_back(in_words(plan.mesh));
  return plan;
}

}  // namespace terrane::acoustic
