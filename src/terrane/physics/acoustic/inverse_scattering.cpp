#include "terrane/physics/acoustic/inverse_scattering.hpp"

#include <algorithm>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::acoustic {

std::vector<double> inverse_scattering_of(const Problem& problem, const std::vector<double>& correlation) {
  const auto half = differences(8, Coefficients::taylor, Equation::variable_density).half;
  const auto reach = static_cast<Index>(half.size());
  const auto box = problem.grid.box();
  const Index strides[3] = {box.size(1) * box.size(2), box.size(2), 1};
  const bool dense = problem.equation == Equation::variable_density;
  auto out = filled(correlation.size(), 0.0);
  for (int axis = 0; axis < 3; ++axis) {
    const Index nodes = box.size(axis), stride = strides[axis];
    if (nodes == 1) continue;
    const double h = problem.grid.spacing[static_cast<std::size_t>(axis)];
    const auto along_line = [&](Index line, std::vector<double>& flux) {
      const Index first = line / stride * stride * nodes + line % stride;
      const auto of = [&](const std::vector<double>& values, Index n) {
        return values[static_cast<std::size_t>(first + std::clamp<Index>(n, 0, nodes - 1) * stride)];
      };
      for (Index n = -reach; n < nodes + reach; ++n) {
        double slope = 0;
        for (Index m = 0; m < reach; ++m)
          slope += half[static_cast<std::size_t>(m)] * (of(correlation, n + 1 + m) - of(correlation, n - m));
        const double density = dense ? (of(problem.density, n) + of(problem.density, n + 1)) / 2 : 1;
        flux[static_cast<std::size_t>(n + reach)] = slope / (h * density);
      }
      for (Index n = 0; n < nodes; ++n) {
        double change = 0;
        for (Index m = 0; m < reach; ++m)
          change += half[static_cast<std::size_t>(m)] * (flux[static_cast<std::size_t>(n + m + reach)] -
                                                         flux[static_cast<std::size_t>(n - 1 - m + reach)]);
        out[static_cast<std::size_t>(first + n * stride)] +=
            change / (2 * h) * (dense ? of(problem.density, n) : 1);
      }
    };
    constexpr std::size_t lines_at_once = 64;  // lines that a thread computes at a time
    const auto some_lines = [&](std::size_t from, std::size_t to) {
      std::vector<double> flux(
          static_cast<std::size_t>(nodes + 2 * reach));  // [n + reach]: flux between nodes n and n + 1
      for (auto line = from; line < to; ++line) along_line(static_cast<Index>(line), flux);
    };
    for_each_stretch(static_cast<std::size_t>(box.count() / nodes), 0, some_lines, lines_at_once);
  }
  return out;
}

}  // namespace terrane::acoustic
