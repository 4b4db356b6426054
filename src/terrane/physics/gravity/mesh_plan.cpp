#include "terrane/physics/gravity/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace terrane::gravity {

namespace {
constexpr double most_cells = 4e6, deepest = 1e6;  // deepest: m
}

MeshPlan plan_prisms(const Description& earth, const MeshWish& wish, const std::vector<Position>& stations) {
  MeshPlan plan;
  const auto survey = box_around(stations);
  auto rock = earth.bounds();
  for (const double level : levels_of(earth)) {  // levels at which layers end
    rock.bottom = std::min(rock.bottom, level);
    rock.top = std::max(rock.top, level);
  }
  Prism box = survey;
  if (wish.box) {
    box = *wish.box;
  } else {
    if (!(rock.bottom < rock.top) && !wish.depth)
      throw InputError("mesh", "the earth has no end below", "Give mesh.depth, or bodies that end.");
    box.top = relief(earth, survey, std::isfinite(rock.top) ? rock.top : 0).highest;
    box.bottom = wish.depth ? box.top - *wish.depth : rock.bottom;
    const double beyond = box.top - box.bottom;
    if (beyond > deepest)
      throw InputError("mesh", fmt::format("the earth goes down to {:.4g} m", box.bottom),
                       "Give mesh.depth: how far down masses count.");
    const auto widen = [&](double& low, double& high, double rock_low, double rock_high) {
      low = std::isfinite(rock_low) ? std::max(std::min(low, rock_low), low - 2 * beyond) : low - beyond;
      high =
          std::isfinite(rock_high) ? std::min(std::max(high, rock_high), high + 2 * beyond) : high + beyond;
    };
    widen(box.west, box.east, rock.west, rock.east);
    widen(box.south, box.north, rock.south, rock.north);
    plan.reasons.push_back(
        fmt::format("from {:.6g} to {:.6g} m east, {:.6g} to {:.6g} m north, {:.6g} to {:.6g} m up: "
                    "the survey and what is described around and below it",
                    box.west, box.east, box.south, box.north, box.bottom, box.top));
  }
  double cell = smallest_distance(stations);
  std::string why = "as wide as stations are apart";
  if (wish.cell) cell = *wish.cell, why = "as mesh.cell says";
  else if (cell == 0) cell = (box.top - box.bottom) / 50, why = "a fiftieth of the depth";
  const auto cells = [&] {
    return static_cast<double>(cells_in(box.east - box.west, cell)) *
           static_cast<double>(cells_in(box.north - box.south, cell)) *
           static_cast<double>(cells_in(box.top - box.bottom, cell / 2));
  };
  if (!wish.cell && cells() > most_cells) {
    cell *= std::cbrt(cells() / most_cells);
    why = fmt::format("so that there are {:.0g} of them at most; mesh.cell makes them finer", most_cells);
  }
  plan.mesh =
      TensorMesh::regular(box, {cells_in(box.east - box.west, cell), cells_in(box.north - box.south, cell),
                                cells_in(box.top - box.bottom, cell / 2)});
  plan.reasons.push_back(fmt::format("{}: {}, half as high", in_words(plan.mesh), why));
  return plan;
}

}  // namespace terrane::gravity
