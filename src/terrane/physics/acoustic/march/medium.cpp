#include "terrane/physics/acoustic/march/medium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/event.hpp"
#include "terrane/parallel/device/pinned.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/acoustic/medium_beyond.hpp"

namespace terrane::acoustic {

namespace {

/// Number of single-precision elements of a GPU's cache line, or of two lines of a CPU; rows begin at whole
/// lines.
constexpr Index line = 32;
constexpr Index aside = 16;  ///< elements after a row's last node, which are read or contain mirrored values

template <class T>
T* zero_of(View<T, 3> view) {
  return view.first() - view.box().first[0] * view.stride(0) - view.box().first[1] * view.stride(1) -
         view.box().first[2];
}

/// The nodes of the absorbing layer on one side of the whole grid.
IndexBox<3> layer_of(const Problem& p, int axis, int side) {
  const auto whole = p.whole();
  const Index from = side == 0 ? whole.first[axis] : whole.last[axis] - p.layers.points;
  return whole.with(axis, from, from + p.layers.points);
}

/// Relative depth t in the absorbing layer, 0 … 1, at an index on the axis; t of the innermost node is 1/P.
double depth(const Problem& p, int axis, int side, double at) {
  const auto layer = layer_of(p, axis, side);
  const double into = side == 0 ? static_cast<double>(layer.last[axis]) - at
                                : at - static_cast<double>(layer.first[axis]) + 1;
  return into / p.layers.points;
}

/// The coefficients a and b of an absorbing layer at a relative depth.
struct Decay {
  double a = 0, b = 0;
  Decay(const Problem& p, double damping, double depth) {
    const double half = damping / 2, alpha = std::numbers::pi * p.layers.frequency * (1 - depth);
    b = std::exp(-(half + alpha) * p.step);
    a = half / (half + alpha) * std::expm1(-(half + alpha) * p.step);
  }
};

/// d₀ of a sponge, and twice that of a cpml: −(q + 1) v ln R / (P h).
double strength(const Problem& p, int axis, double fastest) {
  return -(p.layers.power + 1) * fastest * std::log(p.layers.reflection) /
         (p.layers.points * p.grid.spacing[static_cast<std::size_t>(axis)]);
}

/// The box of an absorbing layer's arrays ψ and ζ. Rows have whole memory sectors, 8 elements, and begin a
/// multiple of four nodes, which a GPU loads together, from the first node of a field's rows.  first: index
/// of that node. dense: whether arrays of layers along easting contain only the layer's nodes, in groups of
/// four: a GPU reads no zeros around them, and gaps between such short rows would slow down its memory
/// accesses.
IndexBox<3> arrays_of(const Slab& slab, Index reach, Index first, bool dense) {
  const bool alone = dense && slab.axis == 2;
  auto box = alone ? slab.layer
                   : slab.layer.grown(slab.axis, slab.side == 0 ? reach : 2 * reach,
                                      slab.side == 0 ? 2 * reach : reach);
  constexpr Index at_once = 4;
  const Index whole = alone ? at_once : 8;
  box.first[2] -= ((box.first[2] - first) % at_once + at_once) % at_once;
  box.last[2] = box.first[2] + (box.size(2) + whole - 1) / whole * whole;
  return box;
}

/// The indices first ≤ n < last on an axis, and the absorbing layer that affects them. side: that of a cpml,
/// else −1.
struct Segment {
  Index first, last;
  int side;
  bool sponge;
};

std::vector<Segment> segments(const Problem& p, int axis, Index reach) {
  const auto whole = p.whole();
  Index first = whole.first[axis], last = whole.last[axis];
  std::vector<Segment> ends;
  for (int side = 0; side < 2; ++side) {
    const auto kind = side_of(p, axis, side);
    if (kind != Boundary::cpml && kind != Boundary::sponge) continue;
    const Index thick = p.layers.points + (kind == Boundary::cpml ? reach : 0);
    const Index from = side == 0 ? first : last - thick;
    ends.push_back({from, from + thick, kind == Boundary::cpml ? side : -1, kind == Boundary::sponge});
    if (side == 0) first += thick;
    else last -= thick;
  }
  ends.push_back({first, last, -1, false});
  return ends;
}

/// The box of nodes of the fields of a part, with halo and padding.
template <class T>
IndexBox<3> box_of(const Problem& problem, const IndexBox<3>& part) {
  auto box = part;
  for (int a = 0; a < 2; ++a)
    if (problem.grid.there(a)) box = box.grown(a, problem.reach(), problem.reach());
  Index row = line + (part.size(2) + aside + line - 1) / line * line;
  // Neighbouring rows should lie in different sets of the cache.
  if (row * static_cast<Index>(sizeof(T)) % 4096 == 0) row += line;
  return box.with(2, part.first[2] - line, part.first[2] - line + row);
}

/// Divides a box into groups of planes that are filled together.
template <class T>
std::vector<IndexBox<3>> some_planes_each(const IndexBox<3>& box) {
  const double plane = static_cast<double>(box.size(1) * box.size(2)) * sizeof(T);
  const auto planes = std::max<Index>(1, static_cast<Index>(bytes_of_planes_at_once / std::max(plane, 1.0)));
  std::vector<IndexBox<3>> all;
  for (Index k = box.first[0]; k < box.last[0]; k += planes)
    all.push_back(box.with(0, k, std::min(k + planes, box.last[0])));
  return all;
}

/// The planes of the mesh, first and one past the last, from which the nodes of a box get their medium.
std::pair<std::size_t, std::size_t> planes_behind(const Problem& p, const IndexBox<3>& box) {
  Index first = p.grid.nodes[0] - 1, last = 0;
  for (Index k = box.first[0]; k < box.last[0]; ++k) {
    const Index plane = std::clamp<Index>(image_of(p, up, k).node, 0, p.grid.nodes[0] - 1);
    first = std::min(first, plane), last = std::max(last, plane + 1);
  }
  return {static_cast<std::size_t>(std::min(first, last)), static_cast<std::size_t>(last)};
}

std::size_t nodes_of_plane(const Problem& p) {
  return static_cast<std::size_t>(p.grid.nodes[1] * p.grid.nodes[2]);
}

using ValuesOf = std::vector<double> Problem::*;
constexpr ValuesOf of_velocity[] = {&Problem::velocity}, of_density[] = {&Problem::density},
                   of_both[] = {&Problem::velocity, &Problem::density}, of_epsilon[] = {&Problem::epsilon},
                   of_delta[] = {&Problem::delta}, of_axis[] = {&Problem::tilt, &Problem::azimuth};

}  // namespace

std::vector<IndexBox<3>> without(IndexBox<3> from, const IndexBox<3>& box) {
  if (overlap(from, box).empty()) return {from};
  std::vector<IndexBox<3>> rest;
  for (int a = 0; a < 3; ++a) {
    if (from.first[a] < box.first[a]) rest.push_back(from.with(a, from.first[a], box.first[a]));
    if (from.last[a] > box.last[a]) rest.push_back(from.with(a, box.last[a], from.last[a]));
    from = from.with(a, std::max(from.first[a], box.first[a]), std::min(from.last[a], box.last[a]));
  }
  return rest;
}

Cartesian<3> cut_grid(const Problem& problem, int ranks) {
  const auto whole = problem.whole();
  CartesianSettings<3> settings;
  settings.unit = {1, 1, std::max<Index>(whole.size(2), 1)};
  // Cuts into slabs if these are thick enough, because their faces are whole planes; else into columns.
  const Index reach = problem.reach();
  const auto fits = [&](const Cartesian<3>& cut) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& part = cut.part(rank);
      if (part.empty()) return false;
      for (int a = 0; a < 2; ++a) {
        if (cut.pieces[static_cast<std::size_t>(a)] == 1) continue;
        Index least = 2 * reach;
        for (int side = 0; side < 2; ++side) {
          const bool at_end = side == 0 ? part.first[a] == whole.first[a] : part.last[a] == whole.last[a];
          if (at_end && problem.margin(a, side) > 0) least = std::max(least, problem.layers.points + reach);
        }
        if (part.size(a) < least) return false;
      }
    }
    return true;
  };
  for (int columns = 1; columns <= ranks; ++columns) {
    if (ranks % columns != 0 || (columns > 1 && !problem.grid.there(north))) continue;
    settings.pieces = {ranks / columns, columns, 1};
    auto made = cut(whole, ranks, settings);
    if (fits(made)) return made;
  }
  throw InputError(
      "acoustic: ranks",
      fmt::format("{} ranks are too many for {} × {} × {} nodes", ranks, whole.size(0), whole.size(1),
                  whole.size(2)),
      fmt::format("Every part needs {} planes, and {} beside a layer; take fewer ranks per shot.", 2 * reach,
                  problem.layers.points + reach));
}

template <class T>
Medium<T>::Medium(const Problem& problem, Stream& stream, Cartesian<3> cut, int rank, Comm* dealt_by)
    : problem_(problem),
      cut_(std::move(cut)),
      rank_(rank),
      dealt_by_(dealt_by != nullptr && dealt_by->size() > 1 ? dealt_by : nullptr),
      part_(cut_.part(rank)),
      box_(box_of<T>(problem, part_)),
      points_(problem.points()),
      reach_(problem.reach()) {
  auto& g = arguments_;
  g.part = part_;
  g.held = box_;
  const auto d = differences(problem.order, problem.coefficients, problem.equation);
  for (int a = 0; a < 3; ++a) {
    if (!problem.grid.there(a)) continue;
    const double h = problem.grid.spacing[static_cast<std::size_t>(a)];
    g.stencil.centre_of[a] = static_cast<T>(d.centre() / (h * h));
    g.stencil.centre += g.stencil.centre_of[a];
    for (std::size_t r = 0; r < d.second.size(); ++r) {
      g.stencil.second[a][r] = static_cast<T>(d.second[r] / (h * h));
      g.stencil.first[a][r] = static_cast<T>(d.first[r] / h);
      g.stencil.half[a][r] = static_cast<T>(d.half[r] / h);
    }
  }
  const Index strides[3] = {box_.size(1) * box_.size(2), box_.size(2), 1};
  for (int a = 0; a < 3; ++a) g.stride[a] = problem.grid.there(a) ? strides[a] : 0;
  fill_medium(stream);
  fill_layers(stream);
  make_regions();
}

/// On rank 0: sends the properties in `of` to all other ranks, to each rank the planes that its filled()
/// needs.
template <class T>
void Medium<T>::deal(std::span<const Values> of) const {
  std::vector<std::vector<IndexBox<3>>> pieces;  // [ranks][groups of planes]
  std::size_t most = 0;
  for (int rank = 0; rank < cut_.ranks(); ++rank) {
    pieces.push_back(some_planes_each<T>(box_of<T>(problem_, cut_.part(rank))));
    most = std::max(most, pieces.back().size());
  }
  const auto plane = nodes_of_plane(problem_);
  for (std::size_t n = 0; n < most; ++n)  // while one rank stores its values, values are sent to another
    for (int rank = 1; rank < cut_.ranks(); ++rank) {
      const auto& mine = pieces[static_cast<std::size_t>(rank)];
      if (n >= mine.size()) continue;
      const auto [first, last] = planes_behind(problem_, mine[n]);
      for (const auto values : of)
        dealt_by_->send(
            std::as_bytes(std::span(problem_.*values).subspan(first * plane, (last - first) * plane)), rank);
    }
}

/// The values of a row of the piece from the node `at` on: value(node, its MediumNode), and 0 outside of
/// `held`.
template <class T>
template <class Value>
void Medium<T>::fill_row(T* to, const IndexBox<3>& piece, const IndexBox<3>& held, std::array<Index, 3> at,
                         const Value& value) const {
  const Index begin = at[2], first = std::clamp(held.first[2], begin, piece.last[2]),
              last = std::clamp(held.last[2], begin, piece.last[2]);
  std::fill_n(to, piece.size(2), T(0));
  if (at[0] < held.first[0] || at[0] >= held.last[0] || at[1] < held.first[1] || at[1] >= held.last[1])
    return;
  // Nodes of the mesh follow one another in the lists of properties.
  const Index inner_first = std::clamp<Index>(0, first, last),
              inner_last = std::clamp(problem_.grid.nodes[2], inner_first, last);
  const auto one_by_one = [&](Index from, Index end) {
    for (at[2] = from; at[2] < end; ++at[2]) to[at[2] - begin] = value(at, medium_node(problem_, at));
  };
  one_by_one(first, inner_first);
  at[2] = inner_first;
  auto node = medium_node(problem_, at);
  for (; at[2] < inner_last; ++at[2], ++node.node) to[at[2] - begin] = value(at, node);
  one_by_one(inner_last, last);
}

template <class T>
template <class Value>
Buffer<T> Medium<T>::filled(Stream& stream, const IndexBox<3>& held, std::span<const Values> of,
                            const Value& value) const {
  const auto pieces = some_planes_each<T>(box_);
  // While a piece goes to the device, the next one is computed.
  Buffer<T> all;
  PinnedBuffer<T> some[2];
  const Device device = stream.device();
  Event sent[2]{Event(device), Event(device)};
  const auto allocate = [&] {
    all = Buffer<T>(device, size());
    for (auto& one : some)
      one = PinnedBuffer<T>(device, pieces.empty() ? 0 : static_cast<std::size_t>(pieces.front().count()));
  };
  if (dealt_by_ != nullptr) together(*dealt_by_, allocate);
  else allocate();
  const bool gets = dealt_by_ != nullptr && rank_ > 0;
  if (dealt_by_ != nullptr && !gets) deal(of);
  Problem got;  // the medium in some planes of the mesh
  if (gets) got = without_medium(problem_);
  const Problem& there = gets ? got : problem_;
  std::size_t begin = 0, turn = 0;
  for (const auto& piece : pieces) {
    std::size_t before = 0;  // number of mesh nodes before the first node in `there`
    if (gets) {
      const auto [first, last] = planes_behind(problem_, piece);
      before = first * nodes_of_plane(problem_);
      for (const auto values : of) {
        (got.*values).resize((last - first) * nodes_of_plane(problem_));
        dealt_by_->receive(std::as_writable_bytes(std::span(got.*values)), 0);
      }
    }
    turn = 1 - turn;
    sent[turn].wait();
    const View<T, 3> here(some[turn].data(), piece);
    for_each(static_cast<std::size_t>(piece.size(0) * piece.size(1)), stream.threads(), [&](std::size_t row) {
      const Index k = piece.first[0] + static_cast<Index>(row) / piece.size(1),
                  j = piece.first[1] + static_cast<Index>(row) % piece.size(1);
      fill_row(&here(k, j, piece.first[2]), piece, held, {k, j, piece.first[2]},
               [&](auto& at, MediumNode node) {
                 node.node -= before;
                 return static_cast<T>(value(there, at, node));
               });
    });
    const auto count = static_cast<std::size_t>(piece.count());
    all.upload_async(stream, std::span<const T>(some[turn].data(), count), begin);
    sent[turn].record(stream);
    begin += count;
  }
  stream.wait();
  return all;
}

template <class T>
void Medium<T>::fill_medium(Stream& stream) {
  const double dt = problem_.step;
  auto& g = arguments_;
  const auto held = overlap(box_, problem_.whole());
  const bool dense = problem_.equation == Equation::variable_density;
  squared_ = filled(stream, held, dense ? std::span<const Values>(of_both) : of_velocity,
                    [&](const Problem& p, auto&, const MediumNode& at) {
                      const double v = p.velocity[at.node];
                      return v * v * dt * dt * (dense ? p.density[at.node] : 1);
                    });
  g.squared = zero_of(squared_.view(box_));
  if (dense) {
    half_density_ = filled(stream, box_, of_density, [](const Problem& p, auto&, const MediumNode& at) {
      return p.density[at.node] / 2;
    });
    g.half_density = zero_of(half_density_.view(box_));
  }
  if (problem_.fields() == 2) fill_axes(stream);
}

template <class T>
void Medium<T>::fill_axes(Stream& stream) {
  auto& g = arguments_;
  wide_ = filled(stream, box_, of_epsilon,
                 [](const Problem& p, auto&, const MediumNode& at) { return 1 + 2 * p.epsilon[at.node]; });
  mixed_ = filled(stream, box_, of_delta, [](const Problem& p, auto&, const MediumNode& at) {
    return std::sqrt(1 + 2 * p.delta[at.node]);
  });
  g.wide = zero_of(wide_.view(box_));
  g.mixed = zero_of(mixed_.view(box_));
  if (problem_.equation != Equation::tti) return;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    normal_[axis] =
        filled(stream, box_, of_axis, [axis](const Problem& p, const auto& at, const MediumNode& there) {
          return axis_at(p, at, there)[axis];
        });
    g.normal[axis] = zero_of(normal_[axis].view(box_));
  }
}

template <class T>
void Medium<T>::fill_layers(Stream& stream) {
  const auto whole = problem_.whole();
  const double dt = problem_.step, fastest = dealt_by_ == nullptr
                                                 ? problem_.fastest()
                                                 : dealt_by_->highest(rank_ == 0 ? problem_.fastest() : 0);
  // With variable density ψ lies half a spacing above its node; there is none beyond the absorbing layer's
  // last node.
  const bool half_way = problem_.equation == Equation::variable_density;
  for (int axis = 0; axis < 3; ++axis) {
    const auto x = static_cast<std::size_t>(axis);
    std::vector<T> damping(static_cast<std::size_t>(whole.size(axis)), T(0));
    for (int side = 0; side < 2; ++side) {
      const auto kind = side_of(problem_, axis, side);
      if (kind != Boundary::cpml && kind != Boundary::sponge) continue;
      const auto layer = layer_of(problem_, axis, side);
      std::vector<T> a, b, a_psi, b_psi;
      for (Index at = layer.first[axis]; at < layer.last[axis]; ++at) {
        const auto damping_at = [&](double t) {
          return strength(problem_, axis, fastest) * std::pow(t, problem_.layers.power);
        };
        const double t = depth(problem_, axis, side, static_cast<double>(at)), d = damping_at(t);
        const Decay of_node(problem_, d, t);
        a.push_back(static_cast<T>(of_node.a));
        b.push_back(static_cast<T>(of_node.b));
        const bool last = at + 1 == layer.last[axis];
        const double t_psi =
            half_way ? depth(problem_, axis, side, static_cast<double>(at) + (last ? 0 : 0.5)) : t;
        const Decay of_psi(problem_, damping_at(t_psi), t_psi);
        a_psi.push_back(half_way && last ? T(0) : static_cast<T>(of_psi.a));
        b_psi.push_back(static_cast<T>(of_psi.b));
        if (kind == Boundary::sponge) arguments_.sponge = true;
        if (kind == Boundary::sponge)
          damping[static_cast<std::size_t>(at - whole.first[axis])] = static_cast<T>(d * dt / 2);
      }
      if (kind == Boundary::sponge) continue;
      const auto s = static_cast<std::size_t>(side);
      a_[x][s] = Buffer<T>(stream, a);
      b_[x][s] = Buffer<T>(stream, b);
      a_psi_[x][s] = Buffer<T>(stream, a_psi);
      b_psi_[x][s] = Buffer<T>(stream, b_psi);
      auto& arrays = arguments_.layers[axis][side];
      arrays.a_psi = a_psi_[x][s].view().data - layer.first[axis];
      arrays.b_psi = b_psi_[x][s].view().data - layer.first[axis];
      arrays.a = a_[x][s].view().data - layer.first[axis];
      arrays.b = b_[x][s].view().data - layer.first[axis];
      arrays.first = layer.first[axis];
      arrays.last = layer.last[axis];
      Slab slab{axis, side, overlap(layer, part_), {}};
      if (slab.layer.empty()) continue;
      slab.arrays = arrays_of(slab, points_, part_.first[2], stream.device().kind == Device::Kind::cuda);
      arrays.stride[2] = 1;
      for (int other = 1; other >= 0; --other)
        arrays.stride[other] = arrays.stride[other + 1] * slab.arrays.size(other + 1);
      slabs_.push_back(slab);
    }
    damping_[x] = Buffer<T>(stream, damping);
    arguments_.damping[axis] = damping_[x].view().data - whole.first[axis];
  }
}

template <class T>
void Medium<T>::make_regions() {
  for (int a = 0; a < 2; ++a) {
    if (part_.first[a] > cut_.whole.first[a])
      edge_boxes_.push_back(part_.with(a, part_.first[a], part_.first[a] + reach_));
    if (part_.last[a] < cut_.whole.last[a])
      edge_boxes_.push_back(part_.with(a, part_.last[a] - reach_, part_.last[a]));
  }
  std::vector<IndexBox<3>> edges, inner{part_};
  const std::vector<IndexBox<3>> all{part_};
  for (const auto& edge : edge_boxes_) {
    std::vector<IndexBox<3>> rest;
    for (const auto& box : inner) {
      if (const auto both = overlap(box, edge); !both.empty()) edges.push_back(both);
      const auto left = without(box, edge);
      rest.insert(rest.end(), left.begin(), left.end());
    }
    inner = rest;
  }
  for (const auto& k : segments(problem_, 0, points_))
    for (const auto& j : segments(problem_, 1, points_))
      for (const auto& i : segments(problem_, 2, points_)) {
        Region region{{{k.first, j.first, i.first}, {k.last, j.last, i.last}},
                      {k.side, j.side, i.side},
                      k.sponge || j.sponge || i.sponge};
        const auto box = region.box;
        for (auto [boxes, regions] : {std::pair{&std::as_const(edges), &edges_},
                                      std::pair{&std::as_const(inner), &inner_}, std::pair{&all, &all_}})
          for (const auto& some : *boxes) {
            region.box = overlap(box, some);
            if (!region.box.empty()) regions->push_back(region);
          }
      }
}

template <class T>
bool Medium<T>::on_edge(const std::array<Index, 3>& node) const {
  return std::any_of(edge_boxes_.begin(), edge_boxes_.end(),
                     [&](const auto& box) { return box.contains(node[0], node[1], node[2]); });
}

namespace {

/// Number of nodes of a field, with the nodes around it that stencils read, and padded rows.
double nodes_of_field(const Problem& problem) {
  auto padded = problem.whole().grown(2, line, line + aside);
  for (int a = 0; a < 2; ++a)
    if (problem.grid.there(a)) padded = padded.grown(a, problem.reach(), problem.reach());
  return static_cast<double>(padded.count());
}

}  // namespace

template <class T>
double Medium<T>::bytes_of_wave(const Problem& problem, bool along) {
  const bool tilted = problem.equation == Equation::tti;
  double elements = (2 * problem.fields() + (tilted && along ? 2 : 0)) * nodes_of_field(problem);
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      if (side_of(problem, axis, side) == Boundary::cpml)
        elements += (tilted && axis == 0 ? 3 : 2) *
                    static_cast<double>(arrays_of({axis, side, layer_of(problem, axis, side), {}},
                                                  problem.points(), problem.whole().first[2], false)
                                            .count());
  return elements * sizeof(T);
}

template <class T>
double Medium<T>::bytes_of_medium(const Problem& problem) {
  constexpr double arrays[] = {1, 2, 3, 6};  // number of arrays, in the order of Equation
  return arrays[static_cast<int>(problem.equation)] * nodes_of_field(problem) * sizeof(T);
}

template class Medium<float>;
template class Medium<double>;

}  // namespace terrane::acoustic
