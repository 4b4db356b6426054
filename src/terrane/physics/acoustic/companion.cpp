#include "terrane/physics/acoustic/companion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::acoustic {

namespace {

constexpr double wider = 1.5;  // width of the companion's cells, in cells of the run

struct NodeShare {
  std::size_t node;
  double share;
};

/// For each cell of `to` along an axis, the cells of `from` in it, with their shares of its width.
std::vector<std::vector<NodeShare>> parts_along(std::size_t axis, const Grid& from, const Grid& to) {
  std::vector<std::vector<NodeShare>> all;
  const auto count = static_cast<double>(from.nodes[axis]);
  const double width =
      count / static_cast<double>(to.nodes[axis]);  // width of a cell of `to`, in cells of `from`
  for (Index n = 0; n < to.nodes[axis]; ++n) {
    const double low = static_cast<double>(n) * width, high = std::min(count, low + width);
    auto& parts = all.emplace_back();
    for (double at = std::floor(low); at < high - 1e-9; ++at) {
      const double shared = std::min(high, at + 1) - std::max(low, at);
      if (shared > 1e-9) parts.push_back({static_cast<std::size_t>(at), shared / width});
    }
  }
  return all;
}

/// Averages read(value) over each cell of the companion, and returns write(average) for each.
template <class Read, class Write>
std::vector<double> means(const std::vector<double>& values, const Grid& from, const Grid& to,
                          const Read& read, const Write& write) {
  std::array<std::vector<std::vector<NodeShare>>, 3> parts;
  for (std::size_t a = 0; a < 3; ++a) parts[a] = parts_along(a, from, to);
  const auto rows = static_cast<std::size_t>(from.nodes[1]), nodes = static_cast<std::size_t>(from.nodes[2]);
  auto made = filled(static_cast<std::size_t>(to.box().count()), 0.0);
  for_each(parts[0].size() * parts[1].size(), 0, [&](std::size_t row) {
    const auto &of_up = parts[0][row / parts[1].size()], &of_north = parts[1][row % parts[1].size()];
    auto next = row * parts[2].size();
    for (const auto& of_east : parts[2]) {
      double sum = 0, shares = 0;
      for (const auto& u : of_up)
        for (const auto& n : of_north)
          for (const auto& e : of_east) {
            const double share = u.share * n.share * e.share;
            sum += share * read(values[(u.node * rows + n.node) * nodes + e.node]);
            shares += share;
          }
      made[next++] = write(sum / shares);
    }
  });
  return made;
}

}  // namespace

TensorMesh mesh_of(const Grid& g) {
  const auto faces = [&](std::size_t a) {
    std::vector<double> all;
    for (Index n = 0; n <= g.nodes[a]; ++n)
      all.push_back(g.first[a] + (static_cast<double>(n) - 0.5) * g.spacing[a]);
    return all;
  };
  return TensorMesh(faces(2), faces(1), faces(0));
}

Grid grid_of_companion(const Grid& grid) {
  Grid other = grid;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!grid.there(static_cast<int>(a))) continue;
    const auto cells = static_cast<double>(grid.nodes[a]);
    other.nodes[a] = std::max<Index>(2, std::lround(cells / wider));
    other.spacing[a] = grid.spacing[a] * cells / static_cast<double>(other.nodes[a]);
    other.first[a] = grid.first[a] + (other.spacing[a] - grid.spacing[a]) / 2;
  }
  return other;
}

Problem settings_of_companion(const Problem& p) {
  Problem other = without_medium(p);
  other.grid = grid_of_companion(p.grid);
  other.order = 2 * widest;
  other.coefficients = Coefficients::taylor;
  other.wavelet = p.wavelet;
  other.end = p.end;
  other.step = p.step;
  other.exact_time = p.exact_time;
  other.shots = p.shots;
  other.even_density = p.even_density;
  return other;
}

void take_means(const Problem& p, Problem& other) {
  const auto same = [](double value) { return value; };
  other.velocity = means(
      p.velocity, p.grid, other.grid, [](double v) { return 1 / (v * v); },
      [](double m) { return 1 / std::sqrt(m); });
  for (const auto of : {&Problem::density, &Problem::epsilon, &Problem::delta})
    if (!(p.*of).empty()) other.*of = means(p.*of, p.grid, other.grid, same, same);
  for (const auto of : {&Problem::tilt, &Problem::azimuth})
    if (!(p.*of).empty()) other.*of = values_on(mesh_of(other.grid), mesh_of(p.grid), p.*of);
}

CompanionProblem settled_companion(Problem other) {
  try {
    const double step = other.step;
    other.settle();
    if (other.step != step) return {std::nullopt, "the second run would have other time steps"};
  } catch (const InputError& error) {
    return {std::nullopt, fmt::format("a second run on cells 1.5 times as wide is not possible ({}: {})",
                                      error.where(), error.problem())};
  }
  return {std::move(other), {}};
}

}  // namespace terrane::acoustic
