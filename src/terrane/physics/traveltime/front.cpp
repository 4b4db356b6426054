#include "terrane/physics/traveltime/front.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace terrane::traveltime {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint32_t by_shot = 1 << 12, all_axes = 7, all_octants = 0xff;
constexpr std::array<std::uint32_t, 3> octants_above{
    0xaa, 0xcc, 0xf0};  // for each axis, bits of the octants on the upper side of the node

/// The term of one axis in a node's equation: σ ∂T = steep τ − r (c₁ τ₁ − c₂ τ₂) with steep = σ p + r κ, in
/// the symbols of front.hpp.
struct Term {
  double steep, c1, c2;
  std::size_t first, second;      // upwind nodes
  std::size_t behind;             // index of the cell beyond the first upwind node
  double theta, theta_slope, d2;  // θ(ln s_c − ln s_behind) and its derivative θ'; d₂, or 0 for first order
  double gap;                     // d2 − d1
};

/// A node, its indices, and its distance r from the shot.
struct NodePlace {
  std::size_t node;
  std::array<std::size_t, 3> at;
  double r;
  std::array<double, 3> p;  // ∇r
};

class Equations {
 public:
  Equations(const Medium& medium, const Point& shot) : medium_(medium), nodes_(medium.nodes()), shot_(shot) {}

  NodePlace place(std::size_t node) const {
    NodePlace place{node, nodes_.place(node), 0, {}};
    double square = 0;
    for (int a = 0; a < 3; ++a) {
      if (nodes_.flat(a)) continue;
      const auto n = static_cast<std::size_t>(a);
      place.p[n] = nodes_.at(a, place.at[n]) - shot_[n];
      square += place.p[n] * place.p[n];
    }
    place.r = std::sqrt(square);
    for (double& p : place.p) p = place.r > 0 ? p / place.r : 0;
    return place;
  }

  /// Whether the octant has a cell of rock; sets `cell`. Bit a of `octant` is set if the front comes from
  /// above along axis a.
  bool cell_in(const NodePlace& x, std::size_t octant, std::size_t& cell) const {
    cell = 0;
    for (int a = 0; a < 3; ++a) {
      if (nodes_.flat(a)) {
        if ((octant >> a & 1) != 0) return false;
        continue;
      }
      const auto at = x.at[static_cast<std::size_t>(a)];
      if ((octant >> a & 1) == 0 ? at == 0 : at == nodes_.cells(a)) return false;
      cell += nodes_.cell_stride(a) * ((octant >> a & 1) == 0 ? at - 1 : at);
    }
    return medium_.rock(cell);
  }
  /// The number of the corner of the octant's cell at which the node lies.
  std::size_t corner_in(std::size_t octant) const {
    std::size_t corner = 0;
    for (int a = 0; a < 3; ++a)
      if (!nodes_.flat(a) && (octant >> a & 1) == 0) corner |= std::size_t{1} << a;
    return corner;
  }
  std::size_t node_behind(const NodePlace& x, std::size_t octant, int axis) const {
    return (octant >> axis & 1) == 0 ? x.node - nodes_.stride(axis) : x.node + nodes_.stride(axis);
  }
  /// Whether a second upwind node exists, and the cell between both is rock: condition for second order.
  bool has_second(const NodePlace& x, std::size_t octant, int axis, std::size_t cell) const {
    const auto at = x.at[static_cast<std::size_t>(axis)];
    const bool above = (octant >> axis & 1) != 0;
    if (above ? at + 2 > nodes_.cells(axis) : at < 2) return false;
    return medium_.rock(above ? cell + nodes_.cell_stride(axis) : cell - nodes_.cell_stride(axis));
  }
  Term term(const NodePlace& x, std::size_t octant, int axis, std::size_t cell, bool second) const {
    const auto a = static_cast<std::size_t>(axis);
    const bool above = (octant >> axis & 1) != 0;
    const auto step = nodes_.stride(axis);
    const auto at = x.at[a];
    Term t{};
    t.first = t.second = above ? x.node + step : x.node - step;
    const double here = nodes_.at(axis, at), d1 = std::abs(nodes_.at(axis, above ? at + 1 : at - 1) - here);
    double kappa = 1 / d1;
    t.c1 = 1 / d1;
    if (second) {
      t.second = above ? t.first + step : t.first - step;
      t.behind = above ? cell + nodes_.cell_stride(axis) : cell - nodes_.cell_stride(axis);
      t.d2 = std::abs(nodes_.at(axis, above ? at + 2 : at - 2) - here);
      t.gap = t.d2 - d1;
      const auto share = smooth_share(medium_.log_slowness(cell) - medium_.log_slowness(t.behind));
      t.theta = share.value;
      t.theta_slope = share.slope;
      kappa += t.theta / t.d2;
      t.c1 += t.theta / t.gap;
      t.c2 = t.theta * d1 / (t.d2 * t.gap);
    }
    t.steep = (above ? -x.p[a] : x.p[a]) + x.r * kappa;
    return t;
  }
  /// The term p τ + r ∂τ of an axis on which the shot lies beside the node; may have either sign. ∂τ is taken
  /// at `behind`, the upwind node of another axis.  low, high: whether the neighbours of that node along this
  /// axis are known
  Term still(const NodePlace& x, int axis, std::size_t behind, bool low, bool high) const {
    const auto at = x.at[static_cast<std::size_t>(axis)];
    const auto step = nodes_.stride(axis);
    Term t{};
    t.steep = x.p[static_cast<std::size_t>(axis)];
    t.first = high ? behind + step : behind;
    t.second = low ? behind - step : behind;
    if (low || high)
      t.c1 = t.c2 = -1 / (nodes_.at(axis, high ? at + 1 : at) - nodes_.at(axis, low ? at - 1 : at));
    return t;
  }
  /// The one of `axes` along which the front travels most directly from the shot.
  int main_axis(const NodePlace& x, std::size_t octant, std::size_t axes) const {
    int main = -1;
    double most = -2;
    for (int a = 0; a < 3; ++a) {
      if ((axes >> a & 1) == 0) continue;
      const double p = x.p[static_cast<std::size_t>(a)], along = (octant >> a & 1) == 0 ? p : -p;
      if (along > most) most = along, main = a;
    }
    return main;
  }
  /// Whether the shot lies between a node and its neighbour in the shot's direction: then neither of the two
  /// needs to be reached before the other.
  bool beside_shot(const NodePlace& x, int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    const double here = nodes_.at(axis, x.at[a]), away = here - shot_[a];
    if (away == 0) return true;
    if (away > 0 ? x.at[a] == 0 : x.at[a] + 1 == nodes_.count(axis)) return true;
    const double next = nodes_.at(axis, away > 0 ? x.at[a] - 1 : x.at[a] + 1);
    return std::abs(away) < std::abs(here - next);
  }

 private:
  const Medium& medium_;
  const Nodes& nodes_;
  Point shot_;
};

/// The larger root τ of Σ (steep τ − b)² = s² with b = r (c₁ τ₁ − c₂ τ₂).  axes: the axes of the sum along
/// which the front arrives
struct Root {
  double tau = infinite;
  std::size_t axes = 0;
};

/// still: axes on which the shot lies beside the node; along them the front arrives from neither side, and
/// they are never left out.
Root solve(const std::array<Term, 3>& terms, const std::array<double, 3>& b, std::size_t axes,
           std::size_t still, double s) {
  while (axes != 0) {
    double aa = 0, ab = 0, bb = 0;
    std::size_t worst = 3;
    for (std::size_t a = 0; a < 3; ++a) {
      if (((axes | still) >> a & 1) == 0) continue;
      if ((axes >> a & 1) != 0 && !(terms[a].steep > 0)) worst = a;
      aa += terms[a].steep * terms[a].steep;
      ab += terms[a].steep * b[a];
      bb += b[a] * b[a];
    }
    if (worst == 3) {
      const double root = ab * ab - aa * (bb - s * s);
      const double tau = root >= 0 ? (ab + std::sqrt(root)) / aa : ab / aa;
      // Without a root, the axis with the least steep τ − b is left out.
      double least = root >= 0 ? 0 : infinite;
      for (std::size_t a = 0; a < 3; ++a) {
        if ((axes >> a & 1) == 0) continue;
        const double along = terms[a].steep * tau - b[a];
        if (along < least) least = along, worst = a;
      }
      if (worst == 3) return {tau, axes};
    }
    axes &= ~(std::size_t{1} << worst);
  }
  return {};
}

class Marcher {
 public:
  Marcher(const Medium& medium, const Point& shot, int order)
      : medium_(medium), equations_(medium, shot), order_(order), time_(medium.nodes().size(), infinite) {
    front_.shot = shot;
    front_.tau.assign(time_.size(), infinite);
    front_.stencil.assign(time_.size(), 0);
    accepted_.assign(time_.size(), 0);
  }

  Front march(const std::function<bool()>& cancelled) {
    begin();
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const auto [time, node] = heap_.back();
      heap_.pop_back();
      if (accepted_[node] != 0 || time != time_[node]) continue;
      if ((front_.stencil[node] >> 9 & 7) != 0) {  // some neighbours used for ∂τ may have been accepted since
        find(node, all_octants);
        if (time_[node] != time) continue;
      }
      accepted_[node] = 1;
      front_.order.push_back(node);
      if (front_.order.size() % 65536 == 0 && cancelled()) break;
      visit_neighbours(node);
    }
    return std::move(front_);
  }

 private:
  using Entry = std::pair<double, std::uint32_t>;
  static bool later(const Entry& a, const Entry& b) { return a > b; }

  /// Starts the front: at corners of the cells that contain the shot, times of straight rays with the mean of
  /// the slownesses at both ends.
  void begin() {
    const auto places = medium_.places(front_.shot);
    for (std::size_t n = 0; n < places.size(); ++n) {
      const double there = medium_.slowness(places[n]);
      for (std::size_t corner = 0; corner < 8; ++corner) {
        if (!medium_.has_corner(corner)) continue;
        const auto node = medium_.node(places[n].cell, corner);
        const double tau = (there + medium_.slowness(places[n].cell, corner)) / 2;
        if (!(tau < front_.tau[node])) continue;
        put(node, equations_.place(node).r, tau, static_cast<std::uint32_t>(by_shot | corner << 3 | n));
      }
    }
  }

  void put(std::size_t node, double r, double tau, std::uint32_t stencil) {
    front_.tau[node] = tau;
    front_.stencil[node] = stencil;
    const double time = r * tau;
    if (time == time_[node]) return;
    time_[node] = time;
    heap_.emplace_back(time, static_cast<std::uint32_t>(node));
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  void visit_neighbours(std::size_t node) {
    const auto at = medium_.nodes().place(node);
    for (int a = 0; a < 3; ++a) {
      const auto n = at[static_cast<std::size_t>(a)];
      const auto step = medium_.nodes().stride(a);
      const auto from_above = octants_above[static_cast<std::size_t>(a)];
      if (n > 0 && accepted_[node - step] == 0) find(node - step, from_above);
      if (n + 1 < medium_.nodes().count(a) && accepted_[node + step] == 0)
        find(node + step, all_octants & ~from_above);
    }
  }

  /// Whether a neighbour of the node along the axis was accepted.
  bool comes_along(const NodePlace& x, int axis) const {
    const auto n = x.at[static_cast<std::size_t>(axis)];
    const auto step = medium_.nodes().stride(axis);
    return (n > 0 && accepted_[x.node - step] != 0) ||
           (n + 1 < medium_.nodes().count(axis) && accepted_[x.node + step] != 0);
  }

  /// Recomputes a node's time from the octants that changed. The other octants cannot give an earlier time
  /// than the node had before, and are computed only if the new time is later than that.
  void find(std::size_t node, std::uint32_t changed) {
    const auto known = front_.stencil[node];
    if ((known & by_shot) != 0) return;
    const auto x = equations_.place(node);
    still_ = 0;
    for (int a = 0; a < 3; ++a)
      if (!medium_.nodes().flat(a) && equations_.beside_shot(x, a) && !comes_along(x, a))
        still_ |= std::size_t{1} << a;
    // If the shot lies beside the node, its time also depends on neighbours of the upwind node, so that the
    // times from all octants may have changed.
    if (still_ != 0 || (known >> 9 & 7) != 0) changed = all_octants;
    const double had = front_.tau[node];
    const bool own =
        (changed >> (known & 7) & 1) != 0;  // whether the node's time is from one of these octants
    double best = own ? infinite : had;
    std::uint32_t stencil = own ? 0 : known;
    look(x, changed, best, stencil);
    if (own && best > had) look(x, all_octants & ~changed, best, stencil);
    if (best < infinite) put(node, x.r, best, stencil);
  }

  void look(const NodePlace& x, std::uint32_t octants, double& best, std::uint32_t& stencil) const {
    for (std::size_t octant = 0; octant < 8; ++octant) {
      std::size_t cell = 0;
      if ((octants >> octant & 1) != 0 && equations_.cell_in(x, octant, cell))
        look(x, octant, cell, best, stencil);
    }
  }

  void look(const NodePlace& x, std::size_t octant, std::size_t cell, double& best,
            std::uint32_t& stencil) const {
    std::array<Term, 3> terms;
    std::array<double, 3> b{};
    std::size_t axes = 0, seconds = 0, still = 0;
    for (int a = 0; a < 3; ++a) {
      if (medium_.nodes().flat(a)) continue;
      const auto behind = equations_.node_behind(x, octant, a);
      if (accepted_[behind] == 0) {
        still |= still_ & std::size_t{1} << a;
        continue;
      }
      const auto n = static_cast<std::size_t>(a);
      bool second = order_ == 2 && equations_.has_second(x, octant, a, cell);
      if (second) {
        const auto next =
            (octant >> a & 1) == 0 ? behind - medium_.nodes().stride(a) : behind + medium_.nodes().stride(a);
        second = accepted_[next] != 0 && time_[next] <= time_[behind];
      }
      terms[n] = equations_.term(x, octant, a, cell, second);
      b[n] = x.r * (terms[n].c1 * front_.tau[terms[n].first] -
                    (second ? terms[n].c2 * front_.tau[terms[n].second] : 0));
      axes |= std::size_t{1} << a;
      if (second) seconds |= std::size_t{1} << a;
    }
    if (axes == 0) return;
    const auto main = equations_.main_axis(x, octant, axes);
    const auto sides = still == 0 ? 0 : look_aside(x, octant, main, still, terms, b);
    const auto found = solve(terms, b, axes, still, medium_.slowness(cell, equations_.corner_in(octant)));
    if (found.axes == 0 || !(found.tau < best)) return;
    best = found.tau;
    stencil = static_cast<std::uint32_t>(octant | found.axes << 3 | (seconds & found.axes) << 6 | still << 9 |
                                         static_cast<std::size_t>(main) << 13) |
              sides;
  }

  /// Sets the terms of axes on which the shot lies beside the node; returns the bits of the neighbours that
  /// the terms use.
  std::uint32_t look_aside(const NodePlace& x, std::size_t octant, int main, std::size_t still,
                           std::array<Term, 3>& terms, std::array<double, 3>& b) const {
    const auto behind = equations_.node_behind(x, octant, main);
    std::uint32_t sides = 0;
    for (int a = 0; a < 3; ++a) {
      if ((still >> a & 1) == 0) continue;
      const auto n = static_cast<std::size_t>(a);
      const auto step = medium_.nodes().stride(a);
      const bool low = x.at[n] > 0 && accepted_[behind - step] != 0,
                 high = x.at[n] + 1 < medium_.nodes().count(a) && accepted_[behind + step] != 0;
      terms[n] = equations_.still(x, a, behind, low, high);
      b[n] = x.r * (terms[n].c1 * front_.tau[terms[n].first] - terms[n].c2 * front_.tau[terms[n].second]);
      sides |= static_cast<std::uint32_t>((low ? 1 : 0) | (high ? 2 : 0)) << (16 + 2 * a);
    }
    return sides;
  }

  const Medium& medium_;
  Equations equations_;
  int order_;
  Front front_;
  std::vector<double> time_;
  std::size_t still_ = 0;  // axes on which the shot lies beside the node and no front comes, as bits
  std::vector<std::uint8_t> accepted_;
  std::vector<Entry> heap_;
};

/// The linearised equation of a node: δτ is a sum of weights times δτ of upwind nodes, times δ ln s_cx at
/// corners of cells, and times δ ln s of cells. Passes each weight to one of
///   use_node(node, weight), use_corner(cell, corner, weight), use_cell(cell, weight)
template <class UseNode, class UseCorner, class UseCell>
void linearise(const Medium& medium, const Equations& equations, const Front& front,
               std::span<const Medium::Place> at_shot, std::size_t node, const UseNode& use_node,
               const UseCorner& use_corner, const UseCell& use_cell) {
  const auto stencil = front.stencil[node];
  if ((stencil & by_shot) != 0) {
    const auto& place = at_shot[stencil & all_axes];
    const std::size_t corner = stencil >> 3 & 7;
    const double there = medium.slowness(place) / 2;
    for (std::size_t k = 0; k < 8; ++k)
      if (medium.has_corner(k)) use_corner(place.cell, k, there * place.share[k]);
    use_corner(place.cell, corner, medium.slowness(place.cell, corner) / 2);
    return;
  }
  const std::size_t octant = stencil & 7;
  const auto x = equations.place(node);
  std::size_t cell = 0;
  equations.cell_in(x, octant, cell);
  std::array<Term, 3> terms{};
  std::array<double, 3> along{};
  double below = 0;
  for (int a = 0; a < 3; ++a) {
    const bool still = (stencil >> (9 + a) & 1) != 0;
    if ((stencil >> (3 + a) & 1) == 0 && !still) continue;
    const auto n = static_cast<std::size_t>(a);
    if (still) {
      const auto behind = equations.node_behind(x, octant, static_cast<int>(stencil >> 13 & 3));
      terms[n] = equations.still(x, a, behind, (stencil >> (16 + 2 * a) & 1) != 0,
                                 (stencil >> (17 + 2 * a) & 1) != 0);
    } else {
      terms[n] = equations.term(x, octant, a, cell, (stencil >> (6 + a) & 1) != 0);
    }
    const auto& t = terms[n];
    along[n] = t.steep * front.tau[node] - x.r * (t.c1 * front.tau[t.first] - t.c2 * front.tau[t.second]);
    below += along[n] * t.steep;
  }
  const auto corner = equations.corner_in(octant);
  const double s = medium.slowness(cell, corner);
  use_corner(cell, corner, s * s / below);
  for (int a = 0; a < 3; ++a) {
    const auto& t = terms[static_cast<std::size_t>(a)];
    if (t.c1 == 0) continue;
    const double weight = along[static_cast<std::size_t>(a)] * x.r / below;
    use_node(t.first, weight * t.c1);
    if (t.c2 == 0) continue;
    use_node(t.second, -weight * t.c2);
    if (t.theta_slope == 0) continue;
    const double d1 = t.d2 - t.gap, bent = front.tau[node] / t.d2 - front.tau[t.first] / t.gap +
                                           front.tau[t.second] * d1 / (t.d2 * t.gap);
    use_cell(cell, -weight * bent * t.theta_slope);
    use_cell(t.behind, weight * bent * t.theta_slope);
  }
}

/// How the time at a receiver is interpolated: from τ at nodes; or, in a cell that contains the shot, from
/// the slowness at corners of this cell.
struct AtReceiver {
  double r = 0;
  Medium::Place place;
  bool beside = false;  // whether the receiver is in a cell that contains the shot
  Medium::Place shot;
};

AtReceiver look_at(const Medium& medium, std::span<const Medium::Place> at_shot, const Front& front,
                   const Point& receiver) {
  AtReceiver found;
  found.r = medium.nodes().distance(receiver, front.shot);
  double least = infinite;
  for (const auto& place : medium.places(receiver)) {
    for (const auto& shot : at_shot) {
      if (shot.cell != place.cell) continue;
      const double tau = (medium.slowness(shot) + medium.slowness(place)) / 2;
      if (tau < least) least = tau, found.place = place, found.beside = true, found.shot = shot;
    }
  }
  if (found.beside) return found;
  for (const auto& place : medium.places(receiver)) {
    double tau = 0;
    for (std::size_t k = 0; k < 8; ++k)
      if (medium.has_corner(k) && place.share[k] != 0)
        tau += place.share[k] * front.tau[medium.node(place.cell, k)];
    if (tau < least) least = tau, found.place = place;
  }
  return found;
}

}  // namespace

Front march(const Medium& medium, const Point& shot, int order, const std::function<bool()>& cancelled) {
  return Marcher(medium, shot, order).march(cancelled);
}

double time_at(const Medium& medium, const Front& front, const Point& receiver) {
  const auto at_shot = medium.places(front.shot);
  const auto found = look_at(medium, at_shot, front, receiver);
  if (found.r == 0) return 0;
  if (found.beside) return found.r * (medium.slowness(found.shot) + medium.slowness(found.place)) / 2;
  double tau = 0;
  for (std::size_t k = 0; k < 8; ++k)
    if (found.place.share[k] != 0) tau += found.place.share[k] * front.tau[medium.node(found.place.cell, k)];
  return found.r * tau;
}

std::vector<double> Derivative::apply(std::span<const double> change,
                                      std::span<const Point> receivers) const {
  const Equations equations(medium_, front_.shot);
  const auto at_shot = medium_.places(front_.shot);
  std::vector<double> tau(front_.tau.size());
  for (const auto node : front_.order) {
    double sum = 0;
    linearise(
        medium_, equations, front_, at_shot, node,
        [&](std::size_t other, double weight) { sum += weight * tau[other]; },
        [&](std::size_t cell, std::size_t corner, double weight) {
          sum += weight * medium_.change(cell, corner, change);
        },
        [&](std::size_t cell, double weight) { sum += weight * change[cell]; });
    tau[node] = sum;
  }
  std::vector<double> times;
  for (const auto& receiver : receivers) {
    const auto found = look_at(medium_, at_shot, front_, receiver);
    double sum = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      if (!medium_.has_corner(k)) continue;
      if (!found.beside) {
        sum += found.place.share[k] * tau[medium_.node(found.place.cell, k)];
        continue;
      }
      for (const auto* place : {&found.shot, &found.place})
        sum += medium_.slowness(*place) / 2 * place->share[k] * medium_.change(place->cell, k, change);
    }
    times.push_back(found.r * sum);
  }
  return times;
}

void Derivative::add_transpose(std::span<const double> weights, std::span<const Point> receivers,
                               std::span<double> cells) const {
  const Equations equations(medium_, front_.shot);
  const auto at_shot = medium_.places(front_.shot);
  std::vector<double> lambda(front_.tau.size());
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    if (weights[n] == 0) continue;
    const auto found = look_at(medium_, at_shot, front_, receivers[n]);
    const double weight = found.r * weights[n];
    for (std::size_t k = 0; k < 8; ++k) {
      if (!medium_.has_corner(k)) continue;
      if (!found.beside) {
        lambda[medium_.node(found.place.cell, k)] += weight * found.place.share[k];
        continue;
      }
      for (const auto* place : {&found.shot, &found.place})
        medium_.add_change(place->cell, k, weight * medium_.slowness(*place) / 2 * place->share[k], cells);
    }
  }
  for (auto node = front_.order.rbegin(); node != front_.order.rend(); ++node) {
    const double mine = lambda[*node];
    if (mine == 0) continue;
    linearise(
        medium_, equations, front_, at_shot, *node,
        [&](std::size_t other, double weight) { lambda[other] += mine * weight; },
        [&](std::size_t cell, std::size_t corner, double weight) {
          medium_.add_change(cell, corner, mine * weight, cells);
        },
        [&](std::size_t cell, double weight) { cells[cell] += mine * weight; });
  }
}

}  // namespace terrane::traveltime
