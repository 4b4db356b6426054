// The hierarchy and the cycle, as multigrid.hpp describes them:
//   thin()              which points of an axis stay at a target spacing
//   Hierarchy()         levels, each coarser along one axis than the one before; the smoother runs on some of
//                      them
//   Hierarchy::cycle()  smooth, restrict the residual, correct from the next level, smooth
//
// Included by multigrid.cu and multigrid_double.cu, separate files because each takes minutes to compile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/sweep.hpp"
#include "terrane/solve/multigrid/host_passes.hpp"
#include "terrane/solve/multigrid/kernels.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"

namespace terrane::solve {

inline namespace levels_of_multigrid {

/// Indices of the points of an axis that stay on the next level. A point is removed if its lower neighbour
/// stays and the mean distance to its two neighbours is at most `target`.
inline std::vector<Index> thin(const AxisSpacing& axis, double target) {
  const Index points = axis.points();
  const auto distance = [&](Index p) { return axis.spacing[static_cast<std::size_t>(p)]; };
  std::vector<Index> kept;
  bool removed_last = false;
  for (Index p = 0; p < points; ++p) {
    const bool beside_natural_end = p == 0 && axis.natural_low;
    const double above = p == points - 1 && axis.natural_high ? distance(p) : distance(p + 1);
    const bool remove =
        points > 1 && !removed_last && !beside_natural_end && distance(p) + above <= 2 * target * (1 + 1e-3);
    if (!remove) kept.push_back(p);
    removed_last = remove;
  }
  return kept;
}

inline AxisSpacing thinned(const AxisSpacing& axis, const std::vector<Index>& kept) {
  AxisSpacing coarse{{}, axis.natural_low, axis.natural_high};
  Index from = 0;  // index of the first fine spacing that belongs to the next coarse one
  const auto add_up_to = [&](Index last) {
    double sum = 0;
    for (; from <= last; ++from) sum += axis.spacing[static_cast<std::size_t>(from)];
    coarse.spacing.push_back(sum);
  };
  for (const Index p : kept) add_up_to(p);
  add_up_to(axis.points());
  return coarse;
}

/// Calls call(axis) with the axis as a compile-time constant, which kernels need.
template <class Call>
void with_axis(int axis, const Call& call) {
  if (axis == up) call(std::integral_constant<int, up>{});
  else if (axis == north) call(std::integral_constant<int, north>{});
  else call(std::integral_constant<int, east>{});
}

/// Calls call(one, two) with both flags as compile-time constants.
template <class Call>
void with_flags(bool one, bool two, const Call& call) {
  if (one && two) call(std::true_type{}, std::true_type{});
  else if (one) call(std::true_type{}, std::false_type{});
  else if (two) call(std::false_type{}, std::true_type{});
  else call(std::false_type{}, std::false_type{});
}

/// The coarsening from a level to the next one along one axis: which points stay.
struct Step {
  int axis = 0;
  Buffer<Index> kept_and_ends, below;
  Buffer<std::int32_t> taken, lies;
  std::vector<Index> kept;  // the points that stay, on the host

  Thinning view() const { return {kept_and_ends.view(), below.view()}; }
  PackedThinning packed() const { return {taken.view(), lies.view()}; }
};

inline Step make_step(Stream& stream, int axis, const std::vector<Index>& kept, Index points) {
  std::vector<Index> ends{-1}, below(static_cast<std::size_t>(points));
  ends.insert(ends.end(), kept.begin(), kept.end());
  ends.push_back(points);
  for (Index p = 0, n = -1; p < points; ++p) {
    if (n + 1 < static_cast<Index>(kept.size()) && kept[static_cast<std::size_t>(n + 1)] == p) ++n;
    below[static_cast<std::size_t>(p)] = n;
  }
  // Spans are made from pointer and size, because nvcc 13 does not accept these vectors as ranges.
  const auto on_device = [&]<class T>(const std::vector<T>& list) {
    return Buffer<T>(stream, std::span<const T>(list.data(), list.size()));
  };
  std::vector<std::int32_t> taken, lies;
  for (std::size_t n = 1; n + 1 < ends.size(); ++n)
    taken.push_back(static_cast<std::int32_t>(4 * ends[n] + (ends[n + 1] - ends[n] == 2 ? 2 : 0) +
                                              (ends[n] - ends[n - 1] == 2 ? 1 : 0)));
  for (std::size_t p = 0; p < below.size(); ++p) {
    const Index n = below[p];
    const bool on = n >= 0 && kept[static_cast<std::size_t>(n)] == static_cast<Index>(p);
    lies.push_back(static_cast<std::int32_t>(2 * n + (on ? 1 : 0)));
  }
  return {axis, on_device(ends), on_device(below), on_device(taken), on_device(lies), kept};
}

/// The box of points on the coarser level that correspond to the points of `fine` that stay.
inline IndexBox<3> thinned(IndexBox<3> fine, int axis, const std::vector<Index>& kept) {
  const auto place = [&](Index p) { return std::lower_bound(kept.begin(), kept.end(), p) - kept.begin(); };
  return fine.with(axis, place(fine.first[axis]), place(fine.last[axis]));
}

inline Cartesian<3> thinned(Cartesian<3> fine, int axis, const std::vector<Index>& kept) {
  fine.whole = thinned(fine.whole, axis, kept);
  for (auto& part : fine.parts) part = thinned(part, axis, kept);
  return fine;
}

/// The part, extended by one layer of points at each high wall of the grid that it touches: link arrays have
/// values there.
inline IndexBox<3> with_walls(IndexBox<3> part, const IndexBox<3>& whole) {
  if (part.empty()) return part;
  for (int a = 0; a < 3; ++a)
    if (part.last[a] == whole.last[a]) ++part.last[a];
  return part;
}
inline Cartesian<3> with_walls(Cartesian<3> cut) {
  for (auto& part : cut.parts) part = with_walls(part, cut.whole);
  cut.whole = with_walls(cut.whole, cut.whole);
  return cut;
}

/// Whether ranks can share a level: each rank has either no points, or at least two along each axis. As at
/// least one of two neighbouring points stays, such a rank has points on the next level, too.
inline bool can_be_shared(const Cartesian<3>& cut) {
  for (const auto& part : cut.parts)
    for (int a = 0; a < 3; ++a)
      if (!part.empty() && part.size(a) < 2) return false;
  return true;
}

/// Lists of one axis of a level whose network is a product (product_network.hpp): factors g of links along
/// the axis, factors m of points for links across it, and the weights by which a removed point is
/// interpolated from the points below and above. `there` contains the four lists on the device, one after the
/// other.
template <class T>
struct AxisLists {
  std::vector<double> along, across, below, above;
  Buffer<T> there;

  AxisLists(Stream& stream, std::vector<double> g, std::vector<double> m)
      : along(std::move(g)), across(std::move(m)) {
    for (std::size_t p = 0; p < across.size(); ++p) {
      const double sum = along[p] + along[p + 1];
      below.push_back(sum > 0 ? along[p] / sum : 0.5);
      above.push_back(sum > 0 ? along[p + 1] / sum : 0.5);
    }
    std::vector<T> all;
    for (const auto* list : {&along, &across, &below, &above})
      for (const double value : *list) all.push_back(static_cast<T>(value));
    all.resize(all.size() + 16);  // host_passes.cpp reads whole registers, beyond the end of a list
    there = Buffer<T>(stream, std::span<const T>(all.data(), all.size()));
  }
  View<const T> part(std::size_t first, std::size_t count) const {
    return {there.view().data + first, count};
  }
  View<const T> along_there() const { return part(0, along.size()); }
  View<const T> across_there() const { return part(along.size(), across.size()); }
  ListWeights<T> weights() const {
    const std::size_t n = across.size();
    return {part(2 * n + 1, n), part(3 * n + 1, n)};
  }
  /// The lists of the next level: along the axis, fine conductances in series; across it, the factor of each
  /// point that stays plus the shares of its removed neighbours' factors.
  AxisLists thinned(Stream& stream, const std::vector<Index>& kept) const {
    std::vector<double> g, m;
    const std::size_t n = across.size();
    for (std::size_t c = 0; c <= kept.size(); ++c) {
      const std::size_t p = c < kept.size() ? static_cast<std::size_t>(kept[c]) : n;
      const std::size_t before = c == 0 ? 0 : static_cast<std::size_t>(kept[c - 1]) + 1;
      const bool removed_below = p == before + 1;
      const double sum = removed_below ? along[p] + along[p - 1] : 0;
      g.push_back(!removed_below ? along[p] : sum > 0 ? along[p] * (along[p - 1] / sum) : 0);
      if (c == kept.size()) break;
      const std::size_t next = c + 1 < kept.size() ? static_cast<std::size_t>(kept[c + 1]) : n;
      m.push_back(across[p] + (removed_below ? above[p - 1] * across[p - 1] : 0) +
                  (next == p + 2 ? below[p + 1] * across[p + 1] : 0));
    }
    return AxisLists(stream, std::move(g), std::move(m));
  }
};

/// The network of a level whose conductances are products of lists.
template <class T>
struct ListProducts {
  std::array<std::shared_ptr<const AxisLists<T>>, 3> axis;
  Field<T> storage;
  double shift = 0;
};

// Views for kernels; the cycle calls seen() for both kinds of networks.
template <class T>
NetworkView<T> seen(const Network<T>& network) {
  return NetworkView<T>(network);
}
template <class T>
ProductView<T> seen(const ListProducts<T>& network) {
  ProductView<T> view;
  for (std::size_t a = 0; a < 3; ++a) {
    view.along[a] = network.axis[a]->along_there();
    view.across[a] = network.axis[a]->across_there();
  }
  view.shift = static_cast<T>(network.shift);
  if (network.shift != 0) view.storage = network.storage.view();
  return view;
}
template <class T>
LinkWeights<T> weights_along(const Network<T>& network, int axis) {
  return {network.link[static_cast<std::size_t>(axis)].view()};
}
template <class T>
ListWeights<T> weights_along(const ListProducts<T>& network, int axis) {
  return network.axis[static_cast<std::size_t>(axis)]->weights();
}
/// Copies links: index p of `taken` along the axis gets the links at index from[p].
template <class T, int Axis>
struct TakeLinks {
  GridView<const T> links;
  View<const std::int32_t> from;
  GridView<T> taken;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place p{k, j, i};
    taken(k, j, i) = at(links, p.with<Axis>(from[static_cast<std::size_t>(p.get<Axis>())]));
  }
};
/// On a CPU: reduces the links along an axis to those at removed points and at the points above them.
/// Returns, for each removed point, the index of its links in the reduced array (host_passes.hpp).
template <class T>
Buffer<std::int32_t> keep_removed(Stream& stream, Network<T>& network, int axis,
                                  const std::vector<Index>& kept) {
  auto& links = network.link[static_cast<std::size_t>(axis)];
  const auto& points = links.points();
  std::vector<std::int32_t> places(static_cast<std::size_t>(points.last[axis])), from;
  for (Index p = 0; p < points.last[axis]; ++p) {
    if (std::binary_search(kept.begin(), kept.end(), p)) continue;
    places[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(from.size());
    if (p < points.first[axis]) continue;
    for (const Index q : {p, p + 1}) from.push_back(static_cast<std::int32_t>(q));
  }
  const auto on_device = [&](const std::vector<std::int32_t>& list) {
    return Buffer<std::int32_t>(stream, std::span<const std::int32_t>(list.data(), list.size()));
  };
  const auto box = points.with(axis, 0, static_cast<Index>(from.size()));
  auto taken = link_field<T>(stream, box);
  const auto there = on_device(from);
  with_axis(axis, [&](auto along) {
    for_each(stream, box, TakeLinks<T, along>{std::as_const(links).view(), there.view(), taken.view()});
  });
  stream.wait();
  links = std::move(taken);
  return on_device(places);
}
template <class T>
Buffer<std::int32_t> keep_removed(Stream&, ListProducts<T>&, int, const std::vector<Index>&) {
  return {};
}
/// For a level without a smoother: frees memory that only the set-up needed. Transfers between levels read
/// only the links along `axis`.
template <class T>
void keep_weights(Network<T>& network, int axis) {
  for (int a = 0; a < 3; ++a)
    if (a != axis) network.link[static_cast<std::size_t>(a)] = {};
  network.storage = {};
}
template <class T>
void keep_weights(ListProducts<T>& network, int) {
  network.storage = {};
}

/// Width in points of the halo around its part that a rank computes itself, as its neighbours do. So ranks
/// exchange only twice per level: the right-hand side b and the solution u. With b valid in the halo, the
/// first smoothing step is valid up to three points outside the part, the second up to two, and the residual
/// up to one. With the coarse correction valid up to two points outside, the third step is valid up to one.
inline constexpr Index overlap_of_parts = 3;

template <class V, class Net>
struct Level {
  using T = RealOf<V>;
  Cartesian<3> cut;
  IndexBox<3> part;                     // points of this rank; all points if it has the whole level
  IndexBox<3> held;                     // points that this rank computes: part and halo, or all
  bool shared = false;                  // true: ranks have parts of the level; else all of it
  std::unique_ptr<SharedGrid<T>> grid;  // exchanges values between ranks; null if not needed
  Net a;
  std::array<AxisSpacing, 3> spacing;
  bool smooth = true;            // false: only an intermediate step of coarsening
  Step step;                     // coarsening to the next level
  Buffer<std::int32_t> removed;  // result of keep_removed(), if it was called
  Field<V> b, u, v;              // right-hand side; solution; work: first smoothing step or residual

  /// The part and `points` points on each side of it, within the grid; the whole of `held` if the level is
  /// not shared.
  IndexBox<3> reach(Index points) const {
    if (!shared) return held;
    return part.empty() ? part : overlap(part.grown(points), cut.whole);
  }
  bool gathers() const { return grid && !shared; }
  /// The right-hand side b; a rank writes its part of it. On a level without a smoother, b is restricted
  /// further before u is computed, so b and u share memory.
  Field<V>& taken() { return smooth ? b : u; }
  void bring_taken(Stream& stream) {
    if (grid) grid->bring(stream, taken(), true);
  }
  void bring_u(Stream& stream) {
    if (shared) grid->bring(stream, u, true);
  }
};

/// Calls use(box) for boxes that together contain the points of `all` outside `part`.
template <class Use>
void for_rest(IndexBox<3> all, const IndexBox<3>& part, const Use& use) {
  if (part.empty()) return use(all);
  for (int a = 0; a < 3; ++a) {
    const auto low = all.with(a, all.first[a], part.first[a]), high = all.with(a, part.last[a], all.last[a]);
    if (!low.empty()) use(low);
    if (!high.empty()) use(high);
    all = all.with(a, part.first[a], part.last[a]);
  }
}

/// Coefficients of the smoother: a Chebyshev polynomial of degree 2 of D⁻¹A (A: matrix of the level's
/// network, D: its diagonal) that reduces errors with eigenvalues from λ/6 to λ; no eigenvalue exceeds λ = 2
/// (multigrid.hpp). ρ, ρ': coefficients of the recurrence for Chebyshev polynomials.
struct Smoother {
  static constexpr double most = 2, least = most / 6;
  static constexpr double middle = (most + least) / 2, half = (most - least) / 2;
  static constexpr double first = half / middle;                     // ρ
  static constexpr double second = 1 / (2 * middle / half - first);  // ρ'
  static constexpr double first_weight = 1 / middle;
  static constexpr double momentum = first * second, weight = 2 * second / half;
};

}  // namespace levels_of_multigrid

template <class V>
struct Multigrid<V>::Hierarchy {
  virtual ~Hierarchy() = default;
  virtual Field<V>& right() = 0;
  virtual Field<V>& solution() = 0;
  virtual void cycle(Stream& stream, bool begun) = 0;
  virtual void begin(Beginning<V, NetworkView<Real>>&) {
    throw ShapeError("multigrid", "its networks are products");
  }
  virtual void begin(Beginning<V, ProductView<Real>>&) {
    throw ShapeError("multigrid", "its networks are links");
  }
  virtual void set_shift(double shift) = 0;
  virtual Field<Real> finest_link(int axis) const = 0;
  virtual bool alternates() const = 0;
  virtual std::vector<IndexBox<3>> smoothed() const = 0;
};

/// Net: Network<Real> or ListProducts<Real>.
template <class V>
template <class Net>
struct Multigrid<V>::Levels final : Hierarchy {
  using T = Real;
  using L = Level<V, Net>;
  std::vector<L> levels;
  Index together;     // levels with fewer points are computed whole on every rank
  bool axis_by_axis;  // true: a kernel per axis transfers between levels; false: one kernel for all axes
  bool in_passes;     // whether a CPU smooths and transfers by the passes of host_passes.hpp
  Index flat_up_to;   // largest number of points of levels whose transfers have no branches
  static constexpr Index few_points = 1728;  // 12³: most points of a level computed by one block of threads
  std::size_t few_from = std::numeric_limits<std::size_t>::max();
  SharedMemory own_memory;
  SharedMemory* memory;  // memory for fields that are never needed simultaneously
  bool others;           // whether other cycles use this memory, too
  InTurn lent;           // memory lent for b and v of the finest level; empty: none
  // The number of places of lent.coarser that are full, and the number of bytes used in the next place.
  // lent_layers: the fields stored there; other users of this memory overwrite the layers of zeros around
  // them, so these layers are set to zero again.
  std::size_t lent_places = 0, lent_bytes = 0;
  ClearLayers<V> lent_layers{};
  After after = After::kernel;  // After::events if other streams copy halos from neighbours

  /// fewer: levels with fewer points are computed whole on every rank. make_finest(): returns level 0 with
  /// its network.
  template <class Finest>
  Levels(Stream& stream, const std::array<AxisSpacing, 3>& spacing, Index fewer, Transfers transfers,
         const InTurn& in_turn, const Finest& make_finest)
      : together(fewer),
        axis_by_axis(!goes_in_passes(stream, transfers) &&
                     (transfers == Transfers::axis_by_axis || transfers == Transfers::in_passes ||
                      (transfers == Transfers::quickest && stream.device().kind == Device::Kind::cpu))),
        in_passes(goes_in_passes(stream, transfers)),
        flat_up_to(transfers == Transfers::together        ? 0
                   : transfers == Transfers::together_flat ? std::numeric_limits<Index>::max()
                                                           : 64000),
        memory(in_turn.memory && !in_turn.finest_alone ? in_turn.memory : &own_memory),
        others(memory != &own_memory),
        lent(in_turn.finest_alone ? in_turn : InTurn{}) {
    levels.reserve(400);
    levels.push_back(make_finest(*this));
    for (double target = 1.5 * smallest_spacing(spacing); levels.back().cut.whole.count() > 1; target *= 2) {
      const bool enough = points_at(target) >= together;
      bool first_of_target = true;
      for (const int axis : {east, north, up}) {
        auto& level = levels.back();
        const auto kept = thin(level.spacing[static_cast<std::size_t>(axis)], target);
        if (static_cast<Index>(kept.size()) == level.cut.whole.size(axis)) continue;
        if (!first_of_target) level.smooth = false;
        first_of_target = false;
        levels.push_back(coarser(stream, level, axis, kept, enough));
      }
    }
    std::size_t smooth = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      make_room(stream, l, smooth);
      smooth += levels[l].smooth;
    }
    find_few_points();
    if (std::any_of(levels.begin(), levels.end(),
                    [](const L& level) { return level.grid && !level.grid->by_peers(); }))
      after = After::events;
  }

  Field<V>& right() override { return levels.front().taken(); }
  Field<V>& solution() override { return levels.front().u; }
  void cycle(Stream& stream, bool begun) override {
    if (others && !in_passes) clear_layers(stream);
    if (lent_layers.fields > 0) sweep(stream, lent_layers.numbers(), lent_layers, after);
    else if (lent.memory && !in_passes) clear_faces(stream, levels.front().v);
    right_is_written(stream, levels.front(), begun && !in_passes);
    if constexpr (std::is_same_v<T, float>)
      if (in_passes) return cycle_in_passes(stream, 0);
    cycle(stream, 0, begun);
  }
  using Hierarchy::begin;
  void begin(Beginning<V, decltype(seen(std::declval<const Net&>()))>& made) override {
    auto& level = levels.front();
    made = {seen(level.a), first, level.taken().view(), level.v.view()};
  }
  void set_shift(double shift) override {
    for (auto& level : levels) level.a.shift = shift;
  }
  Field<T> finest_link(int axis) const override {
    if constexpr (std::is_same_v<Net, Network<T>>)
      return levels.front().a.link[static_cast<std::size_t>(axis)].shared();
    else throw ShapeError("multigrid", "its networks are products");
  }
  std::vector<IndexBox<3>> smoothed() const override {
    std::vector<IndexBox<3>> boxes;
    for (const auto& level : levels)
      if (level.smooth) boxes.push_back(level.cut.whole);
    return boxes;
  }

 private:
  /// Number of points of the level at which all axes are coarsened to the spacing `target`.
  Index points_at(double target) const {
    Index points = 1;
    for (const auto& axis : levels.back().spacing) points *= static_cast<Index>(thin(axis, target).size());
    return points;
  }
  /// The number of points whose computation takes as long as a message: smaller levels are computed faster
  /// whole on every rank.
  static Index quickest(Stream& stream, const SharedGrid<double>& finest) {
    constexpr Index by_peers = Index{1} << 19, direct = Index{1} << 22, through_host = 32768;
    if (stream.device().kind != Device::Kind::cuda) return through_host;
    const SharedGrid<T> grid(finest.partition(), finest.comm());
    grid.template prepare<V>(stream);
    return grid.by_peers() ? by_peers : grid.direct() ? direct : through_host;
  }

  using A = decltype(seen(std::declval<const Net&>()));
  using W = decltype(weights_along(std::declval<const Net&>(), 0));
  using Few = CycleOfFewPoints<V, W, A>;
  static constexpr T first = T(Smoother::first_weight), momentum = T(Smoother::momentum),
                     weight = T(Smoother::weight);

  /// To be called when this rank has written its part of b and, if `begun`, of v. Gets b in the halo from
  /// neighbours and, if `begun`, computes v (the first smoothing step) there.
  void right_is_written(Stream& stream, L& level, bool begun) {
    level.bring_taken(stream);
    if (!begun || !level.grid) return;
    const FirstStep<V, A> kernel{seen(level.a), std::as_const(level.b).view(), first, level.v.view()};
    for_rest(level.held, level.part, [&](const IndexBox<3>& box) { sweep(stream, box, kernel, after); });
  }

  /// The cycle from level l on: levels[l].u = B levels[l].b. b must be valid at all points that this rank
  /// computes; afterwards u is valid there. begun: v already contains the first smoothing step. Memory
  /// traffic per point of a level: four smoothing steps and a residual each read 3 conductances (none if
  /// networks are products); 17 field values are read or written.
  void cycle(Stream& stream, std::size_t l, bool begun) {
    if (l == few_from) return cycle_of_few_points(stream, begun);
    auto& level = levels[l];
    const A a = seen(level.a);
    const typename Values<V>::In b = level.b.view();
    const auto u = level.u.view(), v = level.v.view();
    if (l + 1 == levels.size())  // the coarsest level has one point
      return sweep(stream, level.held, FirstStep<V, A>{a, b, T(1), u}, after);

    const auto step = [&](const IndexBox<3>& points, const auto& kernel) {
      if (asks_early(l)) sweep(stream, points, Early<std::remove_cvref_t<decltype(kernel)>>{kernel}, after);
      else sweep(stream, points, kernel, after);
    };
    if (!begun) sweep(stream, level.held, FirstStep<V, A>{a, b, first, v}, after);
    step(level.reach(2), ChebyshevStepFromZero<V, A>{a, b, v, momentum, weight, u});

    step(level.reach(1), Residual<V, A>{a, b, u, v});
    const auto [coarse, coarse_begun] = restrict_to_next(stream, l);
    cycle(stream, coarse, coarse_begun);
    interpolate_from(stream, coarse, l);

    step(level.reach(1), ChebyshevStepFromZero<V, A>{a, b, u, T(0), first, v});
    step(level.reach(0), ChebyshevStep<V, A>{a, b, v, momentum, weight, u});
    level.bring_u(stream);
  }
  /// Whether a kernel reads the network before the previous kernel has ended: on small levels, where waiting
  /// for the previous kernel would take as long as the kernel itself. The answer is the same on any number of
  /// ranks.
  bool asks_early(std::size_t l) const {
    constexpr Index most = Index{1} << 18;
    return !axis_by_axis && levels[l].cut.whole.count() <= most;
  }

  static bool goes_in_passes(const Stream& stream, Transfers transfers) {
    const auto kind = stream.device().kind;
    return has_passes<V>() && kind != Device::Kind::cuda &&
           (transfers == Transfers::in_passes ||
            (transfers == Transfers::quickest && kind == Device::Kind::cpu));
  }
  /// cycle() on a CPU in two passes over the memory of each level; between the two passes, u is stored in v.
  /// Memory traffic per point: conductances twice, b twice, u and v once or twice.
  void cycle_in_passes(Stream& stream, std::size_t l) {
    auto& level = levels[l];
    const typename Values<V>::In b = std::as_const(level.b).view();
    if (l + 1 == levels.size())  // the coarsest level has one point
      return sweep(stream, level.held, FirstStep<V, A>{seen(level.a), b, T(1), level.u.view()}, after);
    const std::size_t next = stop_after(l);
    auto& to = levels[next];
    PassDown<V, W, A> down{seen(level.a),    first,          momentum, weight, {},
                           level.held,       level.reach(2), to.part,  b,      level.v.view(),
                           to.taken().view()};
    fill_steps(down, l, next);
    fill_removed(down, l, next);
    stream.do_on_host([=, threads = stream.threads()] { run_pass(down, threads); });
    right_is_written(stream, to, false);
    std::size_t coarse = next;
    if (!to.smooth) coarse = restrict_to_next(stream, next, std::as_const(to.taken()).view()).first;
    cycle_in_passes(stream, coarse);
    if (coarse != next) {
      clear_layer(stream, levels[coarse].u);
      interpolate_from(stream, coarse, next);
    }
    PassUp<V, W, A> back{seen(level.a),
                         first,
                         momentum,
                         weight,
                         {},
                         level.reach(2),
                         level.reach(1),
                         level.reach(0),
                         to.held,
                         b,
                         std::as_const(level.v).view(),
                         std::as_const(to.u).view(),
                         level.u.view()};
    fill_steps(back, l, next);
    fill_removed(back, l, next);
    stream.do_on_host([=, threads = stream.threads()] { run_pass(back, threads); });
    level.bring_u(stream);
  }

  /// The cycle on level few_from and all coarser ones, computed by one block of threads in one kernel.
  void cycle_of_few_points(Stream& stream, bool begun) {
    Few kernel;
    kernel.begun = begun;
    kernel.first = first;
    kernel.momentum = momentum;
    kernel.weight = weight;
    for (std::size_t l = few_from;; l = stop_after(l)) {
      auto& level = levels[l];
      auto& seen_by_kernel = kernel.level[kernel.count++];
      seen_by_kernel.points = level.held;
      seen_by_kernel.a = seen(level.a);
      seen_by_kernel.b = level.b.view();
      seen_by_kernel.u = level.u.view();
      seen_by_kernel.v = level.v.view();
      if (l + 1 == levels.size()) break;
      fill_steps(seen_by_kernel, l, stop_after(l));
    }
    in_one_block(stream, kernel, after);
  }
  void find_few_points() {
    int count = 0;
    std::size_t from = levels.size();
    for (std::size_t l = levels.size(); l-- > 0 && !axis_by_axis;) {
      const auto& level = levels[l];
      if (level.grid || level.held.count() > few_points || count == Few::most) break;
      if (!level.smooth) continue;
      from = l;
      ++count;
    }
    if (count > 1) few_from = from;
  }

  /// The next level that has fields. A kernel that coarsens along several axes computes it directly from
  /// level l.
  std::size_t stop_after(std::size_t l) const {
    do ++l;
    while (!axis_by_axis && !levels[l].smooth && !levels[l].gathers());
    return l;
  }
  bool has_fields(std::size_t l) const { return axis_by_axis || levels[l].smooth || levels[l].gathers(); }

  /// Whether the interpolation weights of a level without fields are read only by host_passes.hpp, and not
  /// along rows (east): then keep_removed() can drop links. False after a level without a smoother on which
  /// ranks gather the whole b: there kernels read the weights, as on other devices.
  bool read_by_passes_alone(std::size_t l) const {
    if (!in_passes || levels[l].step.axis == east) return false;
    while (!has_fields(l)) --l;
    return levels[l].smooth;
  }
  /// Whether levels with a smoother store u alternately in two memories. This is possible because passes have
  /// read u of a level before they write u of the level that is finer by two smoothed levels.
  bool alternates() const override { return in_passes && lent.memory != nullptr; }
  /// Allocates the fields of level l. smooth: number of finer levels with a smoother. A level without a
  /// smoother needs its field only from one kernel to the next, so all such levels at the same distance from
  /// a level with a smoother share memory.
  void make_room(Stream& stream, std::size_t l, std::size_t smooth) {
    auto& level = levels[l];
    if (!level.smooth) keep_weights(level.a, level.step.axis);
    if (!has_fields(l)) {
      level.grid = nullptr;
      if (read_by_passes_alone(l))
        level.removed = keep_removed(stream, level.a, level.step.axis, level.step.kept);
      return;
    }
    if (level.grid) level.grid->template prepare<V>(stream);
    enum : std::size_t { first_between, second_between, b_of_level, u_of_level, v_of_level, kinds = 3 };
    // The places b_of_level and u_of_level have other uses only if other cycles share the memory, and then u
    // does not alternate.
    const auto alternating = b_of_level + smooth % 2;
    const auto at = [&](std::size_t place) { return Field<V>(stream, level.held, *memory, place); };
    if (!level.smooth) {
      level.u = at(levels[l - 1].smooth ? first_between : second_between);
    } else if (others) {
      level.u = l == 0 ? Field<V>(stream, level.held) : at(u_of_level + kinds * smooth);
      level.b = at(b_of_level + kinds * smooth);
      level.v = at(v_of_level + kinds * smooth);
    } else if (l == 0 && lent.memory) {
      level.u = alternates() ? at(alternating) : Field<V>(stream, level.held);
      level.b = Field<V>(stream, level.held, *lent.memory, lent.place);
      level.v = Field<V>(stream, level.held, *lent.memory, lent.place, (level.b.end() + 127) / 128 * 128);
      if (!lent.coarser.empty() && !level.grid) lent_layers.take(level.v.box(), level.v.view());
    } else {
      level.u = alternates() ? at(alternating) : coarse_field(stream, level);
      level.v = coarse_field(stream, level);
      const L* const before = two_before(l);
      level.b = before != nullptr ? Field<V>(before->v, level.held) : coarse_field(stream, level);
    }
  }
  /// A field of a coarser level: in the memory lent for such fields, if that has room and the level is large
  /// enough to matter; else in memory of its own.
  Field<V> coarse_field(Stream& stream, const L& level) {
    constexpr Index least = Index{1} << 14;
    const std::size_t bytes = Field<V>::bytes(stream.device(), level.held);
    const bool lends =
        level.held.count() >= least && lent_layers.fields > 0 && lent_layers.fields < ClearLayers<V>::most;
    for (; lends && lent_places < lent.coarser.size(); ++lent_places, lent_bytes = 0) {
      if (lent_bytes + bytes > lent.memory->size(lent.coarser[lent_places])) continue;
      Field<V> made(stream, level.held, *lent.memory, lent.coarser[lent_places], lent_bytes);
      lent_bytes = (made.end() + 127) / 128 * 128;
      lent_layers.take(made.box(), made.view());
      return made;
    }
    return Field<V>(stream, level.held);
  }
  /// The last but one of the levels with a smoother that are finer than l. Its v shares memory with b of
  /// level l. This is possible because v is unused between the restriction to the next level with a smoother
  /// and the correction from that level, and b is needed only during this time. Null if there is no such
  /// level, or if ranks exchange b.
  const L* two_before(std::size_t l) const {
    if (axis_by_axis || in_passes || levels[l].grid) return nullptr;
    int before = 0;
    while (l-- > 0) {
      if (levels[l].grid) return nullptr;
      if (levels[l].smooth && ++before == 2) return &levels[l];
    }
    return nullptr;
  }
  /// Zeroes the surrounding layers of u and v, after other cycles have used the memory; no kernel reads the
  /// layer of b.
  void clear_layers(Stream& stream) {
    for (auto& level : levels)
      for (auto* field : {&level.u, &level.v})
        if (level.smooth) clear_layer(stream, *field);
  }
  /// Zeroes by one kernel the layer around a field, except its edges and corners, which no smoother reads.
  void clear_faces(Stream& stream, Field<V>& field) const {
    const auto& points = field.points();
    const Index across = std::max(points.size(up), points.size(north)),
                along = std::max(points.size(north), points.size(east));
    if (!points.empty())
      sweep(stream, index_box(6, across, along), ClearFaces<V>{points, field.view()}, after);
  }
  static void clear_layer(Stream& stream, Field<V>& field) {
    const auto &points = field.points(), &box = field.box();
    for (int a = 0; a < 3; ++a)
      for (const auto& side :
           {box.with(a, box.first[a], points.first[a]), box.with(a, points.last[a], box.last[a])})
        for_each(stream, side, Clear<V>{field.view()});
  }

  /// Whether the kernel that transfers values from or to level `fine` and computes those of level `out` is
  /// the variant without branches. The result is the same on any number of ranks.
  bool flat_between(std::size_t fine, std::size_t out) const {
    return levels[fine].smooth && levels[out].cut.whole.count() <= flat_up_to;
  }
  template <class Steps>
  void fill_steps(Steps& steps, std::size_t from, std::size_t to) const {
    for (std::size_t l = from; l < to; ++l) {
      const auto& level = levels[l];
      steps.axis[level.step.axis] = {true, level.step.packed(), weights_along(level.a, level.step.axis)};
    }
  }

  template <class Pass>
  void fill_removed(Pass& pass, std::size_t from, std::size_t to) const {
    for (std::size_t l = from; l < to; ++l)
      pass.removed[static_cast<std::size_t>(levels[l].step.axis)] = levels[l].removed.view();
  }

  /// Restricts the residual in v of level l to b of the next level with a smoother. Returns that level, and
  /// whether the first smoothing step there is already in v.
  std::pair<std::size_t, bool> restrict_to_next(Stream& stream, std::size_t l) {
    return restrict_to_next(stream, l, std::as_const(levels[l].v).view());
  }
  std::pair<std::size_t, bool> restrict_to_next(Stream& stream, std::size_t l, typename Values<V>::In from) {
    for (;;) {
      const std::size_t next = stop_after(l);
      const bool begins = restrict_to(stream, l, next, from);
      auto& coarse = levels[next];
      right_is_written(stream, coarse, begins);
      if (coarse.smooth) return {next, begins};
      from = std::as_const(coarse.taken()).view();
      l = next;
    }
  }
  bool restrict_to(Stream& stream, std::size_t l, std::size_t next, const typename Values<V>::In& from) {
    auto& to = levels[next].taken();
    const auto& part = levels[next].part;
    if (axis_by_axis) {
      with_axis(levels[l].step.axis, [&](auto along) {
        sweep(
            stream, part,
            Restrict<V, along, W>{weights_along(levels[l].a, along), from, levels[l].step.view(), to.view()},
            after);
      });
      return false;
    }
    const bool begins = levels[next].smooth && next + 1 < levels.size();
    const auto run = [&](auto kernel) {
      fill_steps(kernel, l, next);
      sweep(stream, part, kernel, after);
    };
    with_flags(begins, flat_between(l, next), [&](auto begin, auto flat) {
      RestrictTogether<V, W, A, begin, flat> kernel{{}, from, to.view(), {}, {}, {}};
      if constexpr (begin) {
        kernel.a = seen(levels[next].a);
        kernel.weight = first;
        kernel.v = levels[next].v.view();
      }
      run(kernel);
    });
    return begins;
  }

  /// Adds the interpolated u of level `coarse` to u of level `fine`; if `fine` has no smoother, replaces it.
  void interpolate_from(Stream& stream, std::size_t coarse, std::size_t fine) {
    while (coarse > fine) {
      std::size_t l = coarse - 1;
      while (!has_fields(l)) --l;
      interpolate(stream, coarse, l, levels[l].smooth);
      if (!levels[l].smooth) {
        clear_layer(stream, levels[l].u);
        levels[l].bring_u(stream);
      }
      coarse = l;
    }
  }
  void interpolate(Stream& stream, std::size_t coarse, std::size_t l, bool add) {
    const typename Values<V>::In from = std::as_const(levels[coarse].u).view();
    auto& level = levels[l];
    const auto points = level.reach(level.smooth ? 2 : 0);
    const auto run = [&](const auto& kernel) { sweep(stream, points, kernel, after); };
    const auto run_with_steps = [&](auto kernel) {
      fill_steps(kernel, l, coarse);
      run(kernel);
    };
    if (!axis_by_axis)
      return with_flags(add, flat_between(l, l), [&](auto adds, auto flat) {
        run_with_steps(InterpolateTogether<V, W, adds, flat>{{}, from, level.u.view()});
      });
    with_axis(level.step.axis, [&](auto along) {
      const auto weights = weights_along(level.a, along);
      if (add) run(Interpolate<V, along, true, W>{weights, from, level.step.view(), level.u.view()});
      else run(Interpolate<V, along, false, W>{weights, from, level.step.view(), level.u.view()});
    });
  }

 public:
  /// Level 0 without its network.
  L begin_finest(Stream& stream, const std::array<AxisSpacing, 3>& spacing, const IndexBox<3>& part,
                 const SharedGrid<double>* grid) {
    L level;
    level.spacing = spacing;
    const bool several = grid && grid->comm().size() > 1;
    level.cut = several ? grid->partition() : Cartesian<3>{part, {1, 1, 1}, {part}};
    if (several && together < 0) together = quickest(stream, *grid);
    level.shared = several && level.cut.whole.count() >= together && can_be_shared(level.cut);
    level.part = level.held = part;
    if (several) set_grid(level, grid->comm());
    for (int axis = 0; axis < 3; ++axis)
      if (spacing[static_cast<std::size_t>(axis)].points() != level.cut.whole.size(axis) ||
          level.cut.whole.first[axis] != 0)
        throw ShapeError("multigrid", "the spacings of an axis are not one more than its points");
    return level;
  }
  L finest(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
           const SharedGrid<double>* grid) {
    const auto part = fine.points();
    auto level = begin_finest(stream, spacing, part, grid);
    for (int axis = 0; axis < 3; ++axis) {
      const auto n = static_cast<std::size_t>(axis);
      auto link = link_field<T>(stream, level.held);
      const auto box = with_walls(part, level.cut.whole);
      for_each(stream, overlap(box, part.grown(axis, 0, 1)),
               Convert<double, T>{fine.link[n].view(), 1, link.view()});
      complete(stream, level, with_walls(level.cut), link);
      level.a.link[n] = std::move(link);
    }
    take_storage(stream, level, fine.storage.box().empty() ? nullptr : &fine.storage, fine.shift, part);
    return level;
  }
  L finest(Stream& stream, const ProductNetwork& fine, const std::array<AxisSpacing, 3>& spacing,
           const SharedGrid<double>* grid) {
    auto level = begin_finest(stream, spacing, fine.part, grid);
    for (std::size_t n = 0; n < 3; ++n) {
      if (fine.across[n].size() + 1 != fine.along[n].size() ||
          static_cast<Index>(fine.across[n].size()) != level.cut.whole.size(static_cast<int>(n)))
        throw ShapeError("multigrid", "the lists of an axis are not as long as its points");
      level.a.axis[n] = std::make_shared<AxisLists<T>>(stream, fine.along[n], fine.across[n]);
    }
    take_storage(stream, level, fine.storage, fine.shift, fine.part);
    return level;
  }

 private:
  /// For a level next to a shared one: sets which values ranks exchange, and the points that this rank
  /// computes.
  static void set_grid(L& level, Comm& comm) {
    const Around around{overlap_of_parts, true, !level.shared};
    level.grid = std::make_unique<SharedGrid<T>>(level.cut, comm, around);
    level.held = level.shared ? level.reach(overlap_of_parts) : level.cut.whole;
  }

  static void take_storage(Stream& stream, L& level, const Field<double>* storage, double shift,
                           const IndexBox<3>& part) {
    level.a.shift = shift;
    if (!storage) return;
    level.a.storage = link_field<T>(stream, level.held);
    for_each(stream, part, Convert<double, T>{storage->view(), 1, level.a.storage.view()});
    complete(stream, level, level.cut, level.a.storage);
  }

  /// Fills the halo of a level's array, of which this rank has written its part, with values of neighbours.
  /// The halo is one point wider on the upper side, because coarsening and kernels read links there.
  static void complete(Stream& stream, const L& level, const Cartesian<3>& cut, Field<T>& array) {
    if (!level.grid) return;
    constexpr Index below = overlap_of_parts, above = overlap_of_parts + 1;
    HaloSettings<3> settings{{below, below, below}, {above, above, above}};
    settings.whole = !level.shared;
    settings.at_once = true;
    Halo<T, 3> halo(stream, cut, settings, 1, level.grid->comm());
    const View<T, 3> view = array.view();
    halo.exchange(stream, std::span<const View<T, 3>>(&view, 1));
    halo.wait(stream);
  }

  /// The next level, coarser along `axis`. enough: whether the last level of this target spacing has enough
  /// points for ranks to share it.
  L coarser(Stream& stream, L& fine, int axis, const std::vector<Index>& kept, bool enough) {
    const auto n = static_cast<std::size_t>(axis);
    fine.step = make_step(stream, axis, kept, fine.cut.whole.size(axis));
    L coarse;
    coarse.spacing = fine.spacing;
    coarse.spacing[n] = thinned(fine.spacing[n], kept);
    coarse.cut = thinned(fine.cut, axis, kept);
    coarse.part = coarse.held = thinned(fine.shared ? fine.part : fine.held, axis, kept);
    coarse.shared = fine.shared && enough && can_be_shared(coarse.cut);
    if (fine.shared) set_grid(coarse, fine.grid->comm());
    thin_links(stream, fine, coarse, kept);
    coarse.a.shift = fine.a.shift;
    if (fine.a.storage.box().empty()) return coarse;
    auto& storage = coarse.a.storage = link_field<T>(stream, coarse.held);
    with_axis(axis, [&](auto along) {
      for_each(stream, coarse.part,
               Restrict<T, along, W>{weights_along(fine.a, along), std::as_const(fine.a.storage).view(),
                                     fine.step.view(), storage.view()});
    });
    complete(stream, coarse, coarse.cut, storage);
    return coarse;
  }

  static void thin_links(Stream& stream, const L& fine, L& coarse, const std::vector<Index>& kept) {
    if constexpr (std::is_same_v<Net, ListProducts<T>>) {
      const auto n = static_cast<std::size_t>(fine.step.axis);
      coarse.a.axis = fine.a.axis;
      coarse.a.axis[n] = std::make_shared<AxisLists<T>>(fine.a.axis[n]->thinned(stream, kept));
    } else {
      const auto &whole = coarse.cut.whole, &part = coarse.part;
      auto& links = coarse.a.link;
      for (auto& link : links) link = link_field<T>(stream, coarse.held);
      with_axis(fine.step.axis, [&](auto along) {
        constexpr int a = along, b = (a + 1) % 3, c = (a + 2) % 3;
        const View<const T, 3> link = fine.a.link[a].view();
        const auto thinning = fine.step.view();
        const auto of = [&](int x) { return overlap(part.grown(x, 0, 1), with_walls(part, whole)); };
        for_each(stream, of(a), CoarseLinkAlong<T, a>{link, thinning, links[a].view()});
        for_each(
            stream, of(b),
            CoarseLinkAcross<T, a, b>{link, fine.a.link[b].view(), thinning, whole.size(b), links[b].view()});
        for_each(
            stream, of(c),
            CoarseLinkAcross<T, a, c>{link, fine.a.link[c].view(), thinning, whole.size(c), links[c].view()});
      });
      for (auto& link : links) complete(stream, coarse, with_walls(coarse.cut), link);
    }
  }
};

template <class V>
template <class Net, class Fine>
std::unique_ptr<typename Multigrid<V>::Hierarchy> Multigrid<V>::make(
    Stream& stream, const Fine& fine, const std::array<AxisSpacing, 3>& spacing,
    const SharedGrid<double>* grid, Index together, Transfers transfers, InTurn memory) {
  using Made = Levels<Net>;
  if (grid) grid->keep_memory(stream);  // one memory for the halos of all levels' links
  return std::make_unique<Made>(stream, spacing, together, transfers, memory,
                                [&](Made& levels) { return levels.finest(stream, fine, spacing, grid); });
}

template <class V>
Multigrid<V>::Multigrid(Stream& stream, const Network<double>& fine,
                        const std::array<AxisSpacing, 3>& spacing, Transfers transfers, InTurn memory)
    : hierarchy_(make<Network<Real>>(stream, fine, spacing, nullptr, 0, transfers, memory)) {}
template <class V>
Multigrid<V>::Multigrid(Stream& stream, const Network<double>& fine,
                        const std::array<AxisSpacing, 3>& spacing, const SharedGrid<double>& grid,
                        Index together, Transfers transfers, InTurn memory)
    : hierarchy_(make<Network<Real>>(stream, fine, spacing, &grid, together, transfers, memory)) {}
template <class V>
Multigrid<V>::Multigrid(Stream& stream, const ProductNetwork& fine, const std::array<AxisSpacing, 3>& spacing,
                        const SharedGrid<double>* grid, Index together, Transfers transfers, InTurn memory)
    : hierarchy_(make<ListProducts<Real>>(stream, fine, spacing, grid, together, transfers, memory)) {}
template <class V>
Multigrid<V>::~Multigrid() = default;
template <class V>
Multigrid<V>::Multigrid(Multigrid&&) noexcept = default;

template <class V>
void Multigrid<V>::apply(Stream& stream, const Field<Wide>& r, Field<Wide>& z, double scale) {
  // r is scaled by 2^40: far from sources, values in single precision would be subnormal, which processors
  // compute slowly; a power of two changes no bits of the mantissa.
  const double larger = std::ldexp(scale, 40), smaller = std::ldexp(1 / scale, -40);
  sweep(stream, r.points(), Convert<Wide, V>{r.view(), larger, right().view()}, After::events);
  cycle(stream);
  sweep(stream, r.points(), Convert<V, Wide>{solution().view(), smaller, z.view()}, After::events);
}

template <class V>
Field<V>& Multigrid<V>::right() {
  return hierarchy_->right();
}
template <class V>
void Multigrid<V>::cycle(Stream& stream, bool begun) {
  hierarchy_->cycle(stream, begun);
}
template <class V>
void Multigrid<V>::begin(Beginning<V, NetworkView<Real>>& made) {
  hierarchy_->begin(made);
}
template <class V>
void Multigrid<V>::begin(Beginning<V, ProductView<Real>>& made) {
  hierarchy_->begin(made);
}
template <class V>
const Field<V>& Multigrid<V>::solution() const {
  return hierarchy_->solution();
}

template <class V>
Field<V> Multigrid<V>::another_solution(Stream& stream) const {
  return Field<V>(stream, hierarchy_->solution().points());
}
template <class V>
void Multigrid<V>::swap_solution(Field<V>& other) {
  if (hierarchy_->alternates()) throw ShapeError("multigrid", "its solution has the memory of other levels");
  std::swap(hierarchy_->solution(), other);
}

template <class V>
void Multigrid<V>::set_shift(double shift) {
  hierarchy_->set_shift(shift);
}

template <class V>
auto Multigrid<V>::finest_link(int axis) const -> Field<Real> {
  return hierarchy_->finest_link(axis);
}

template <class V>
std::vector<IndexBox<3>> Multigrid<V>::levels() const {
  return hierarchy_->smoothed();
}

template <class V>
double Multigrid<V>::operator_complexity() const {
  double sum = 0;
  for (const auto& box : levels()) sum += static_cast<double>(box.count());
  return sum / static_cast<double>(levels().front().count());
}

}  // namespace terrane::solve
