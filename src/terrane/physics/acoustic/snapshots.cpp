#include "terrane/physics/acoustic/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"

namespace terrane::acoustic {

IndexBox<3> ShownNodes::within(const IndexBox<3>& part) const {
  auto some = box();
  for (std::size_t a = 0; a < 3; ++a) {
    const auto at_least = [&](Index node) {  // index n of the first shown node that is not below `node`
      return std::clamp<Index>((node - first[a] + stride - 1) / stride, 0, count[a]);
    };
    some.first[a] = part.first[a] <= first[a] ? 0 : at_least(part.first[a]);
    some.last[a] = part.last[a] <= first[a] ? 0 : at_least(part.last[a]);
  }
  return some;
}

std::vector<double> ShownNodes::places(const Grid& grid, int axis) const {
  const auto a = static_cast<std::size_t>(axis);
  std::vector<double> all;
  for (Index n = 0; n < count[a]; ++n)
    all.push_back(grid.first[a] + static_cast<double>(first[a] + n * stride) * grid.spacing[a]);
  return all;
}

ShownNodes Snapshots::nodes(const Grid& grid) const {
  ShownNodes shown;
  shown.stride = stride;
  for (std::size_t a = 0; a < 3; ++a) {
    const double low = (box[2 * (2 - a)] - grid.first[a]) / grid.spacing[a],
                 high = (box[2 * (2 - a) + 1] - grid.first[a]) / grid.spacing[a];
    const auto nodes = static_cast<double>(grid.nodes[a]);
    if (!(low <= high) || high < -0.5 || low > nodes - 0.5) return {{}, {}, stride};
    double from = std::ceil(std::max(low, 0.0) - 1e-9), to = std::floor(std::min(high, nodes - 1) + 1e-9);
    if (high - low < 1) from = to = std::clamp(std::round((low + high) / 2), 0.0, nodes - 1);
    if (to < from) return {{}, {}, stride};
    shown.first[a] = static_cast<Index>(from);
    shown.count[a] = static_cast<Index>(to - from) / stride + 1;
  }
  return shown;
}

void Snapshots::settle(const Problem& problem) {
  if (!(interval > 0) || interval > problem.end * (1 + 1e-12))
    throw InputError("acoustic: snapshots", fmt::format("one every {:.6g} s", interval),
                     fmt::format("The run takes {:.6g} s.", problem.end));
  if (shot >= problem.shots.size())
    throw InputError("acoustic: snapshots",
                     fmt::format("there is no shot {}: there are {}", shot + 1, problem.shots.size()),
                     fmt::format("Allowed: 1 to {}.", problem.shots.size()));
  if (stride < 1) throw InputError("acoustic: snapshots", "a stride is one node or more");
  const auto& g = problem.grid;
  if (nodes(g).box().empty()) {
    const auto reach = [&](std::size_t a) {
      const double low = g.first[a] - g.spacing[a] / 2;
      return fmt::format("{:.6g} to {:.6g}", low, low + g.spacing[a] * static_cast<double>(g.nodes[a]));
    };
    throw InputError("acoustic: snapshots", "no node of the mesh is in the box",
                     fmt::format("The mesh reaches from {} m along easting, {} m along northing, {} m along "
                                 "up; without a box all is shown.",
                                 reach(2), reach(1), reach(0)));
  }
  every = std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(interval / problem.step)), 1,
                                  std::max<std::size_t>(1, problem.steps() - 1));
}

std::size_t Snapshots::count(const Problem& problem) const {
  return any() ? (problem.steps() - 1) / every : 0;
}

double Snapshots::bytes(const Problem& problem) const {
  if (!any()) return 0;
  return static_cast<double>(sizeof(float) * count(problem)) *
         static_cast<double>(nodes(problem.grid).box().count());
}

std::vector<double> Snapshots::times(const Problem& problem) const {
  std::vector<double> all;
  for (std::size_t n = 1; n <= count(problem); ++n)
    all.push_back(static_cast<double>(n * every) * problem.step);
  return all;
}

}  // namespace terrane::acoustic
