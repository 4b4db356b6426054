#include "terrane/physics/acoustic/weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "terrane/parallel/arrays/view.hpp"
#include "terrane/physics/acoustic/formula/interpolation.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

using NodeIndex = std::array<Index, 3>;

/// Weights of all nodes of a box of some thousand nodes.
class Shares {
 public:
  explicit Shares(const IndexBox<3>& box) : box_(box), of_(static_cast<std::size_t>(box.count()), 0.0) {}

  const IndexBox<3>& box() const noexcept { return box_; }
  double& at(const NodeIndex& node) { return view()(node[0], node[1], node[2]); }
  void subtract(const Shares& other) {
    for (std::size_t n = 0; n < of_.size(); ++n) of_[n] -= other.of_[n];
  }
  void append_to(std::vector<Weight>& to, Part part) {
    const auto weights = view();
    for (Index k = box_.first[0]; k < box_.last[0]; ++k)
      for (Index j = box_.first[1]; j < box_.last[1]; ++j)
        for (Index i = box_.first[2]; i < box_.last[2]; ++i)
          if (const double weight = weights(k, j, i); weight != 0) to.push_back({{k, j, i}, weight, part});
  }

 private:
  View<double, 3> view() { return {of_.data(), box_}; }
  IndexBox<3> box_;
  std::vector<double> of_;
};

/// A box that contains all nodes from which a velocity at a position is computed.
IndexBox<3> box_around(const Problem& problem, const Place& at) {
  const auto whole = problem.whole();
  auto box = whole;
  const Index reach = problem.radius + problem.points() + 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (!problem.grid.there(axis)) continue;
    const auto node = static_cast<Index>(std::floor(problem.grid.steps(at, axis)));
    Index first = node - reach, last = node + reach + 1;
    const auto a = static_cast<std::size_t>(axis);
    const Index nodes = problem.grid.nodes[a];
    const bool below = problem.sides[a][0] == Boundary::free_surface,
               above = problem.sides[a][1] == Boundary::free_surface;
    const Index lowest = first, highest = last;
    if (below) last = std::max(last, -lowest);
    if (above) first = std::min(first, 2 * nodes - highest);
    if (below && above && highest - lowest > nodes)
      first = 0, last = nodes;  // with two free surfaces,
                                // images have images
    box = box.with(axis, std::max(first, whole.first[axis]), std::min(last, whole.last[axis]));
  }
  return box;
}

/// Calls add(node, weight) for a node; for a node beyond a free surface, add(its image, −weight); for a node
/// beyond a wall, nothing.
template <class Add>
void add_folded(const Problem& problem, const IndexBox<3>& box, int axis, Index node, double weight,
                const Add& add) {
  const auto image = image_of(problem, axis, node);
  if (image.node >= box.first[axis] && image.node < box.last[axis])
    add(image.node, image.odd ? -weight : weight);
}

std::map<Index, double> of_place(const Problem& problem, const IndexBox<3>& box, const Place& at, int axis) {
  if (!problem.grid.there(axis)) return {{0, 1.0}};
  std::map<Index, double> nodes;
  for (const auto& [node, weight] : sinc_weights(problem.grid.steps(at, axis), problem.radius))
    add_folded(problem, box, axis, node, weight, [&](Index found, double share) { nodes[found] += share; });
  return nodes;
}

/// The weights of −f D⁺w along one axis, for a factor f and a field w (p or q), interpolated at a position by
/// a sinc.
class Slope {
 public:
  Slope(const Problem& problem, const Place& at, int axis)
      : problem_(problem),
        box_(problem.whole()),
        axis_(axis),
        second_(axis == 0 ? 1 : 0),
        third_(axis == 2 ? 1 : 2),
        half_(differences(problem.order, problem.coefficients, problem.equation).half),
        between_(sinc_weights(problem.grid.steps(at, axis) - 0.5, problem.radius)),
        second_nodes_(of_place(problem, box_, at, second_)),
        third_nodes_(of_place(problem, box_, at, third_)) {}

  /// Adds the weights of −f D⁺w with a uniform f.
  void add_times(double f, Shares& to) const {
    auto everywhere = empty_row(to);
    fill(everywhere, [=](Index) { return f; });
    add([&](const NodeIndex&) -> const Row& { return everywhere; }, to);
  }
  /// add_times() with a factor f(node, next node on the axis) that varies.
  template <class Factor>
  void add_times(const Factor& f, Shares& to) const {
    const auto a = static_cast<std::size_t>(axis_);
    auto row = empty_row(to);
    const auto of_row = [&](NodeIndex node) -> const Row& {
      fill(row, [&](Index m) {
        NodeIndex next = node;
        node[a] = m, next[a] = m + 1;
        return f(node, next);
      });
      return row;
    };
    add(of_row, to);
  }

 private:
  /// Weights of the nodes of a row along the axis.
  struct Row {
    Index first;
    std::vector<double> of;
  };
  Row empty_row(const Shares& to) const {
    return {to.box().first[axis_], std::vector<double>(static_cast<std::size_t>(to.box().size(axis_)))};
  }
  template <class Factor>
  void fill(Row& row, const Factor& f) const {
    const double h = problem_.grid.spacing[static_cast<std::size_t>(axis_)];
    std::fill(row.of.begin(), row.of.end(), 0.0);
    const auto add = [&](Index node, double share) {
      row.of[static_cast<std::size_t>(node - row.first)] += share;
    };
    for (const auto& [m, weight] : between_) {
      const double factor = -weight * f(m);
      for (std::size_t r = 0; r < half_.size(); ++r) {
        const double share = factor * half_[r] / h;
        const auto reach = static_cast<Index>(r);
        add_folded(problem_, box_, axis_, m + 1 + reach, share, add);
        add_folded(problem_, box_, axis_, m - reach, -share, add);
      }
    }
  }
  template <class OfRow>
  void add(const OfRow& of_row, Shares& to) const {
    for (const auto& [j, wj] : second_nodes_)
      for (const auto& [i, wi] : third_nodes_) {
        NodeIndex node{};
        node[static_cast<std::size_t>(second_)] = j, node[static_cast<std::size_t>(third_)] = i;
        const Row& row = of_row(node);
        for (std::size_t n = 0; n < row.of.size(); ++n) {
          node[static_cast<std::size_t>(axis_)] = row.first + static_cast<Index>(n);
          to.at(node) += row.of[n] * wj * wi;
        }
      }
  }

  const Problem& problem_;
  IndexBox<3> box_;
  int axis_, second_, third_;
  std::vector<double> half_;
  std::vector<NodeWeight> between_;
  std::map<Index, double> second_nodes_, third_nodes_;
};

/// Adds the weights of −ρ⁻¹ ∂p, the acceleration along the tap's axis, in an isotropic medium.
void add_flux(const Problem& problem, const Tap& tap, Shares& to) {
  const Slope slope(problem, tap.at, axis_of(tap.component));
  if (problem.equation != Equation::variable_density) return slope.add_times(1 / problem.even_density, to);
  const auto density = [&](const NodeIndex& node) {
    return problem.density[medium_node(problem, node).node];
  };
  slope.add_times(
      [&](const NodeIndex& node, const NodeIndex& next) { return 2 / (density(node) + density(next)); }, to);
}

/// The axis of symmetry, a unit vector, at nodes around a source or receiver. It is computed once for each
/// node, because three differences read it some thousand times, and it takes four sines. Beyond a free
/// surface it is continued unmirrored, so that the values that the sinc interpolates are smooth.
class AxesAround {
 public:
  AxesAround(const Problem& problem, const Place& at) : problem_(problem) {
    const Index reach = problem.radius + 2;
    for (int axis = 0; axis < 3; ++axis) {
      const auto node = static_cast<Index>(std::floor(problem.grid.steps(at, axis)));
      box_ = box_.with(axis, node - reach, node + reach + 1);
    }
    axes_.resize(static_cast<std::size_t>(box_.count()));
    made_.resize(axes_.size());
  }
  std::array<double, 3> at(const NodeIndex& node) {
    if (!box_.contains(node[0], node[1], node[2])) return make(node);
    const auto row = (node[0] - box_.first[0]) * box_.size(1) + node[1] - box_.first[1];
    const auto n = static_cast<std::size_t>(row * box_.size(2) + node[2] - box_.first[2]);
    if (!made_[n]) axes_[n] = make(node), made_[n] = true;
    return axes_[n];
  }

 private:
  std::array<double, 3> make(const NodeIndex& node) const {
    return axis_at(problem_, node, {medium_node(problem_, node).node, {}});
  }
  const Problem& problem_;
  IndexBox<3> box_;
  std::vector<std::array<double, 3>> axes_;
  std::vector<bool> made_;
};

/// Adds the weights of −ρ⁻¹ n_i (n·∇)w, for a tilted axis n, the axis i of the tap, and a field w (p or q).
void add_slope_along(const Problem& problem, const Tap& tap, Shares& to) {
  const auto i = static_cast<std::size_t>(axis_of(tap.component));
  AxesAround axes(problem, tap.at);
  for (int axis = 0; axis < 3; ++axis) {
    if (!problem.grid.there(axis)) continue;
    const auto product = [&](const NodeIndex& node) {
      const auto n = axes.at(node);
      return n[i] * n[static_cast<std::size_t>(axis)];
    };
    Slope(problem, tap.at, axis)
        .add_times(
            [&](const NodeIndex& node, const NodeIndex& next) {
              return (product(node) + product(next)) / (2 * problem.even_density);
            },
            to);
  }
}

std::vector<Weight> weights_of_velocity(const Problem& problem, const Tap& tap) {
  std::vector<Weight> all;
  const auto box = box_around(problem, tap.at);
  Shares level(box);
  add_flux(problem, tap, level);
  if (problem.equation == Equation::tti) {
    Shares along(box);
    add_slope_along(problem, tap, along);
    level.subtract(along);
    level.append_to(all, Part::p);
    along.append_to(all, Part::q);
  } else if (problem.equation == Equation::vti)
    level.append_to(all, tap.component == Component::velocity_up ? Part::q : Part::p);
  else level.append_to(all, Part::pressure);
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

}  // namespace terrane::acoustic
