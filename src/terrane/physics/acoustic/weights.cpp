#include "terrane/physics/acoustic/weights.hpp"

#include <algorithm>
#include <map>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/formula/interpolation.hpp"
#include "terrane/physics/acoustic/rock_beyond.hpp"

namespace terrane::acoustic {

namespace {

using NodeIndex = std::array<Index, 3>;
using Shares = std::map<NodeIndex, double>;

/// Adds a weight to a node of p; beyond a free surface to its image with a minus, beyond a wall to none.
void add_folded(const Problem& problem, const IndexBox<3>& box, int axis, Index node, double weight,
                std::map<Index, double>& to) {
  const auto a = static_cast<std::size_t>(axis);
  const Index nodes = problem.grid.nodes[a];
  if (node < 0 && problem.sides[a][0] == Boundary::free_surface) node = -1 - node, weight = -weight;
  if (node >= nodes && problem.sides[a][1] == Boundary::free_surface)
    node = 2 * nodes - 1 - node, weight = -weight;
  if (node >= box.first[axis] && node < box.last[axis]) to[node] += weight;
}

std::map<Index, double> of_place(const Problem& problem, const IndexBox<3>& box, const Place& at, int axis) {
  if (!problem.grid.there(axis)) return {{0, 1.0}};
  std::map<Index, double> nodes;
  for (const auto& [node, weight] : sinc_weights(problem.grid.steps(at, axis), problem.radius))
    add_folded(problem, box, axis, node, weight, nodes);
  return nodes;
}

/// −f D⁺w on an axis, read by a sinc.
class Slope {
 public:
  Slope(const Problem& problem, const Place& at, int axis)
      : problem_(problem),
        box_(problem.whole()),
        axis_(axis),
        second_(axis == 0 ? 1 : 0),
        third_(axis == 2 ? 1 : 2),
        half_(differences(problem.order, problem.coefficients, problem.rock).half),
        between_(sinc_weights(problem.grid.steps(at, axis) - 0.5, problem.radius)),
        second_nodes_(of_place(problem, box_, at, second_)),
        third_nodes_(of_place(problem, box_, at, third_)) {}

  /// f is the same everywhere.
  Shares times(double f) const {
    const auto everywhere = of_row([=](Index) { return f; });
    return sum([&](const NodeIndex&) -> const std::map<Index, double>& { return everywhere; });
  }
  /// f(node, the next one on the axis)
  template <class Factor>
  Shares times(const Factor& f) const {
    const auto a = static_cast<std::size_t>(axis_);
    return sum([&](NodeIndex row) {
      return of_row([&](Index m) {
        NodeIndex next = row;
        row[a] = m, next[a] = m + 1;
        return f(row, next);
      });
    });
  }

 private:
  template <class Factor>
  std::map<Index, double> of_row(const Factor& f) const {
    const double h = problem_.grid.spacing[static_cast<std::size_t>(axis_)];
    std::map<Index, double> nodes;
    for (const auto& [m, weight] : between_)
      for (std::size_t r = 0; r < half_.size(); ++r) {
        const double share = -weight * f(m) * half_[r] / h;
        const auto reach = static_cast<Index>(r);
        add_folded(problem_, box_, axis_, m + 1 + reach, share, nodes);
        add_folded(problem_, box_, axis_, m - reach, -share, nodes);
      }
    return nodes;
  }
  template <class OfRow>
  Shares sum(const OfRow& of_row) const {
    Shares nodes;
    for (const auto& [j, wj] : second_nodes_)
      for (const auto& [i, wi] : third_nodes_) {
        NodeIndex node{};
        node[static_cast<std::size_t>(second_)] = j, node[static_cast<std::size_t>(third_)] = i;
        for (const auto& [k, wk] : of_row(node)) {
          node[static_cast<std::size_t>(axis_)] = k;
          nodes[node] = wk * wj * wi;
        }
      }
    return nodes;
  }

  const Problem& problem_;
  IndexBox<3> box_;
  int axis_, second_, third_;
  std::vector<double> half_;
  std::vector<NodeWeight> between_;
  std::map<Index, double> second_nodes_, third_nodes_;
};

void append(const Shares& nodes, Part part, std::vector<Weight>& to) {
  for (const auto& [node, weight] : nodes)
    if (weight != 0) to.push_back({node, weight, part});
}

/// −ρ⁻¹ ∂p of isotropic rock.
Shares of_flux(const Problem& problem, const Tap& tap) {
  const Slope slope(problem, tap.at, axis_of(tap.component));
  if (problem.rock != Rock::variable_density) return slope.times(1 / problem.even_density);
  const auto density = [&](const NodeIndex& node) { return problem.density[rock_of(problem, node).node]; };
  return slope.times(
      [&](const NodeIndex& node, const NodeIndex& next) { return 2 / (density(node) + density(next)); });
}

/// −ρ⁻¹ n_i (n·∇)w
Shares of_slope_along(const Problem& problem, const Tap& tap) {
  const auto i = static_cast<std::size_t>(axis_of(tap.component));
  Shares nodes;
  for (int axis = 0; axis < 3; ++axis) {
    if (!problem.grid.there(axis)) continue;
    // Beyond a free surface the axis goes on unmirrored, so that what the sinc reads is smooth.
    const auto product = [&](const NodeIndex& node) {
      const auto n = axis_at(problem, node, {rock_of(problem, node).node, {}});
      return n[i] * n[static_cast<std::size_t>(axis)];
    };
    const auto one = Slope(problem, tap.at, axis).times([&](const NodeIndex& node, const NodeIndex& next) {
      return (product(node) + product(next)) / (2 * problem.even_density);
    });
    for (const auto& [node, weight] : one) nodes[node] += weight;
  }
  return nodes;
}

std::vector<Weight> weights_of_velocity(const Problem& problem, const Tap& tap) {
  std::vector<Weight> all;
  auto level = of_flux(problem, tap);
  if (problem.rock == Rock::tti) {
    const auto along = of_slope_along(problem, tap);
    for (const auto& [node, weight] : along) level[node] -= weight;
    append(level, Part::p, all);
    append(along, Part::q, all);
  } else if (problem.rock == Rock::vti)
    append(level, tap.component == Component::velocity_up ? Part::q : Part::p, all);
  else append(level, Part::pressure, all);
  return all;
}

}  // namespace

std::vector<Weight> weights_at(const Problem& problem, const Tap& tap) {
  if (tap.component != Component::pressure) return weights_of_velocity(problem, tap);
  const auto box = problem.whole();
  const auto far_up = of_place(problem, box, tap.at, 0), far_north = of_place(problem, box, tap.at, 1),
             far_east = of_place(problem, box, tap.at, 2);
  std::vector<Weight> all;
  for (const auto& [k, wk] : far_up)
    for (const auto& [j, wj] : far_north)
      for (const auto& [i, wi] : far_east)
        if (const double weight = wk * wj * wi; weight != 0) all.push_back({{k, j, i}, weight});
  return all;
}

void each_of_weights(const Problem& problem, std::span<const Tap> taps, int threads,
                     const std::function<void(std::size_t, const std::vector<Weight>&)>& take) {
  constexpr std::size_t at_a_time = 256;  // up to 3,000 weights each, of 40 bytes
  std::vector<std::vector<Weight>> some;
  for (std::size_t first = 0; first < taps.size(); first += at_a_time) {
    some.resize(std::min(at_a_time, taps.size() - first));
    for_each(some.size(), threads, [&](std::size_t n) { some[n] = weights_at(problem, taps[first + n]); });
    for (std::size_t n = 0; n < some.size(); ++n) take(first + n, some[n]);
  }
}

}  // namespace terrane::acoustic
