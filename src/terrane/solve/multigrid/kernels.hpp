// The kernels of a multigrid cycle: what each computes at one point of a grid. Equations are in
// multigrid.hpp.
#pragma once

#include <cstdint>
#include <limits>

#include "terrane/solve/multigrid/place.hpp"
#include "terrane/solve/networks/network.hpp"
#include "terrane/solve/networks/product_network.hpp"

namespace terrane::solve {

/// Which points of one axis stay on the coarser level. kept(I): the fine index of coarse point I; kept(−1) =
/// −1, and kept(number of coarse points) is the number of fine points. below(p): the last coarse point at or
/// below fine point p; −1 if there is none.
struct Thinning {
  // [coarse points + 2] kept(I) for I from −1 to the number of coarse points.
  View<const Index> kept_and_ends;
  View<const Index> below;  // [fine points] below(p)

  TERRANE_FN Index kept(Index coarse) const { return kept_and_ends[static_cast<std::size_t>(coarse + 1)]; }
  TERRANE_FN bool removed_below(Index coarse) const { return kept(coarse) - kept(coarse - 1) == 2; }
  TERRANE_FN bool removed_above(Index coarse) const { return removed_below(coarse + 1); }
};

/// A Thinning in the format of kernels that work along all axes: one 32-bit number per point.
struct PackedThinning {
  View<const std::int32_t> taken;  // [coarse points] 4 kept(I) + removed_above(I) · 2 + removed_below(I)
  View<const std::int32_t> lies;   // [fine points] 2 below(p), + 1 if below(p) is p itself
};

/// Weights by which a removed point is interpolated from its neighbours below and above on the axis.
template <class T>
struct Weights {
  T below, above;

  template <int Axis>
  static TERRANE_FN Weights of(const GridView<const T>& link, const Place& removed) {
    const T low = at(link, removed), high = at(link, removed.moved<Axis>(1)), sum = low + high;
    if (!(sum >= std::numeric_limits<T>::min()))
      return {T(0.5), T(0.5)};  // there is no conductance along the axis: u at this point does not matter
    return {quotient(low, sum), quotient(high, sum)};
  }
};

/// Weights computed from the links along the axis (LinkWeights), or read from lists if weights do not vary
/// across the axis (ListWeights).
template <class T>
struct LinkWeights {
  static constexpr bool same_across = false;
  GridView<const T> link;
  template <int Axis>
  TERRANE_FN Weights<T> of(const Place& removed) const {
    return Weights<T>::template of<Axis>(link, removed);
  }
};
template <class T>
struct ListWeights {
  static constexpr bool same_across = true;
  View<const T> below, above;  // [fine points of the axis]
  template <int Axis>
  TERRANE_FN Weights<T> of(const Place& removed) const {
    const auto n = static_cast<std::size_t>(removed.get<Axis>());
    return {below[n], above[n]};
  }
};

/// Computes coarse links along the coarsened axis: the fine link, or two in series if the point between them
/// was removed.
template <class T, int Axis>
struct CoarseLinkAlong {
  GridView<const T> fine;
  Thinning thinning;
  GridView<T> coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    T link = at(fine, p);
    if (thinning.removed_below(n)) {
      const T other = at(fine, p.moved<Axis>(-1)), sum = link + other;
      link = sum > T(0) ? link * (other / sum) : T(0);  // link · other might overflow a float
    }
    coarse(k, j, i) = link;
  }
};

/// Computes coarse links across the coarsened axis: the fine link's conductance plus shares of the
/// conductances of neighbouring links whose points were removed; a share is the mean of the weights at the
/// link's two ends.
template <class T, int Axis, int Across>
struct CoarseLinkAcross {
  GridView<const T> along, fine;  // conductances along Axis, along Across
  Thinning thinning;
  Index points;  // number of points along the axis Across
  GridView<T> coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    T link = at(fine, p);
    if (thinning.removed_below(n)) link += share<true>(p.moved<Axis>(-1));
    if (thinning.removed_above(n)) link += share<false>(p.moved<Axis>(1));
    coarse(k, j, i) = link;
  }

 private:
  /// The contribution of the link between a removed point and its neighbour below on the axis Across: its
  /// conductance times the mean of the weights at its two ends; at a wall there is one end only.
  template <bool KeptIsAbove>
  TERRANE_FN T share(const Place& removed) const {
    const Index place = removed.get<Across>();
    T sum = 0, ends = 0;
    if (place < points) {
      sum += weight<KeptIsAbove>(removed);
      ends += 1;
    }
    if (place > 0) {
      sum += weight<KeptIsAbove>(removed.moved<Across>(-1));
      ends += 1;
    }
    return sum / ends * at(fine, removed);
  }
  template <bool KeptIsAbove>
  TERRANE_FN T weight(const Place& removed) const {
    const auto weights = Weights<T>::template of<Axis>(along, removed);
    return KeptIsAbove ? weights.above : weights.below;
  }
};

/// coarse = Pᵀ fine, P the interpolation: a point's own value plus the weighted values of its removed
/// neighbours. Used for residuals and for the storage S.
template <class V, int Axis, class W>
struct Restrict {
  W weights;
  typename Values<V>::In fine;
  Thinning thinning;
  typename Values<V>::Out coarse;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    const Index n = q.get<Axis>();
    const Place p = q.with<Axis>(thinning.kept(n));
    V sum = at(fine, p);
    if (thinning.removed_below(n)) {
      const Place f = p.moved<Axis>(-1);
      sum += weights.template of<Axis>(f).above * at(fine, f);
    }
    if (thinning.removed_above(n)) {
      const Place f = p.moved<Axis>(1);
      sum += weights.template of<Axis>(f).below * at(fine, f);
    }
    put(coarse, k, j, i, sum);
  }
};

/// fine = P coarse, or fine += P coarse, P the interpolation.
template <class V, int Axis, bool Add, class W>
struct Interpolate {
  W weights;
  typename Values<V>::In coarse;
  Thinning thinning;
  typename Values<V>::Out fine;

  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    const Place p{k, j, i};
    const Index n = thinning.below[static_cast<std::size_t>(p.get<Axis>())];
    const Place q = p.with<Axis>(n);
    V value;
    if (n >= 0 && thinning.kept(n) == p.get<Axis>()) {
      value = at(coarse, q);
    } else {
      const auto shares = weights.template of<Axis>(p);
      value = shares.below * at(coarse, q) + shares.above * at(coarse, q.moved<Axis>(1));
    }
    if constexpr (Add) value = fine(k, j, i) + value;
    put(fine, k, j, i, value);
  }
};

/// The coarsening along one axis, for kernels that work along all axes; thins: false if all points stay.
template <class W>
struct AxisStep {
  bool thins = false;
  PackedThinning thinning;
  W weights;  // weights on the level already coarsened along the axes with higher numbers
};

/// coarse = Pᵀ fine along east, then north, then up: the sums of Restrict, nested, in the same order. Begins:
/// whether v, the first step of the smoother on the coarse level, is computed, too. Flat: whether there are
/// no branches for single points. Neighbours that were not removed then have weight zero, and all values of a
/// point are loaded at the same time; this is faster if there are too few points to hide the latency of
/// branches. Weights from lists, and all weights if Flat, are loaded before the previous kernel has ended.
template <class V, class W, class A, bool Begins, bool Flat>
struct RestrictTogether {
  AxisStep<W> axis[3];
  typename Values<V>::In fine;
  typename Values<V>::Out coarse;
  A a;
  RealOf<V> weight;
  typename Values<V>::Out v;

  /// Along an axis: the fine index of a coarse point, and whether its neighbours below and above were
  /// removed.
  struct Taken {
    Index kept;
    bool below, above;
  };
  /// Weights of the removed neighbours below and above.
  struct Counts {
    RealOf<V> below, above;
  };
  static constexpr bool knows_weights = Flat || W::same_across;
  static constexpr int weights = W::same_across ? 3 : 1 + 3 + 9;
  struct Ahead {
    Taken of[3];
    Counts counts[knows_weights ? weights : 1];
  };
  /// Called first, so that all indices and weights of the axes are loaded at the same time.
  TERRANE_FN Ahead ahead(Index k, Index j, Index i) const {
    const Place q{k, j, i};
    Ahead made{{take<up>(q), take<north>(q), take<east>(q)}, {}};
    if constexpr (knows_weights) count<up, 0>(made, q);
    return made;
  }
  TERRANE_FN void operator()(Index k, Index j, Index i) const { (*this)(k, j, i, ahead(k, j, i)); }
  TERRANE_FN void operator()(Index k, Index j, Index i, const Ahead& known) const {
    const V value = sum<up, 0>(known, {k, j, i});
    put(coarse, k, j, i, value);
    if constexpr (Begins) put(v, k, j, i, weight * a.template over_diagonal<V>(value, k, j, i));
  }

 private:
  template <int Axis>
  TERRANE_FN Taken take(const Place& q) const {
    const Index n = q.get<Axis>();
    const auto& step = axis[Axis];
    if (!step.thins) return {n, false, false};
    const std::int32_t taken = step.thinning.taken[static_cast<std::size_t>(n)];
    return {taken >> 2, (taken & 1) != 0, (taken & 2) != 0};
  }
  /// Index in `counts` of the weights of a sum along an axis. Sums are nested: there is one for each point of
  /// a sum along the previous axis, and Path numbers these. If P is Path of the previous axis, it is 3 P for
  /// the point that stays, 3 P + 1 and 3 P + 2 for its removed neighbours.
  template <int Axis, int Path>
  static constexpr int number() {
    return W::same_across ? Axis : Axis == up ? 0 : Axis == north ? 1 + Path : 4 + Path;
  }
  template <int Axis, int Path>
  TERRANE_FN void count(Ahead& known, const Place& q) const {
    const auto [kept, below, above] = known.of[Axis];
    const Place low = q.with<Axis>(below ? kept - 1 : kept), high = q.with<Axis>(above ? kept + 1 : kept);
    if (axis[Axis].thins) {
      const RealOf<V> of_low = axis[Axis].weights.template of<Axis>(low).above,
                      of_high = axis[Axis].weights.template of<Axis>(high).below;
      known.counts[number<Axis, Path>()] = {below ? of_low : RealOf<V>(0), above ? of_high : RealOf<V>(0)};
    }
    if constexpr (Axis != east) {
      count<Axis + 1, 3 * Path>(known, q.with<Axis>(kept));
      if constexpr (!W::same_across) {
        if (!axis[Axis].thins) return;
        count<Axis + 1, 3 * Path + 1>(known, low);
        count<Axis + 1, 3 * Path + 2>(known, high);
      }
    }
  }
  template <int Axis, int Path>
  TERRANE_FN V sum(const Ahead& known, const Place& q) const {
    const auto& [kept, below, above] = known.of[Axis];
    V value = along_next<Axis, 3 * Path>(known, q.with<Axis>(kept));
    if constexpr (Flat) {
      if (!axis[Axis].thins) return value;
      const Place low = q.with<Axis>(below ? kept - 1 : kept), high = q.with<Axis>(above ? kept + 1 : kept);
      const V from_low = along_next<Axis, 3 * Path + 1>(known, low),
              from_high = along_next<Axis, 3 * Path + 2>(known, high);
      value += known.counts[number<Axis, Path>()].below * from_low;
      value += known.counts[number<Axis, Path>()].above * from_high;
      return value;
    }
    if (below) {
      const Place f = q.with<Axis>(kept - 1);
      value += count_of<Axis, Path, false>(known, f) * along_next<Axis, 3 * Path + 1>(known, f);
    }
    if (above) {
      const Place f = q.with<Axis>(kept + 1);
      value += count_of<Axis, Path, true>(known, f) * along_next<Axis, 3 * Path + 2>(known, f);
    }
    return value;
  }
  template <int Axis, int Path, bool Above>
  TERRANE_FN RealOf<V> count_of(const Ahead& known, const Place& removed) const {
    if constexpr (knows_weights) {
      const auto& counts = known.counts[number<Axis, Path>()];
      return Above ? counts.above : counts.below;
    } else {
      const auto shares = axis[Axis].weights.template of<Axis>(removed);
      return Above ? shares.below : shares.above;
    }
  }
  template <int Axis, int Path>
  TERRANE_FN V along_next(const Ahead& known, const Place& q) const {
    if constexpr (Axis == east) return at(fine, q);
    else return sum<Axis + 1, Path>(known, q);
  }
};

/// fine = P coarse, or fine += P coarse, along up, then north, then east, as Interpolate does. Flat: as in
/// RestrictTogether.
template <class V, class W, bool Add, bool Flat>
struct InterpolateTogether {
  AxisStep<W> axis[3];
  typename Values<V>::In coarse;
  typename Values<V>::Out fine;

  /// Along an axis: the index of the coarse point at or below a fine point, and whether the two coincide.
  struct Lies {
    Index below;
    bool on;
  };
  static constexpr bool knows_weights = Flat || W::same_across;
  static constexpr int weights = W::same_across ? 3 : 1 + 2 + 4;
  struct Ahead {
    Lies of[3];
    Weights<RealOf<V>> shares[knows_weights ? weights : 1];
  };
  TERRANE_FN Ahead ahead(Index k, Index j, Index i) const {
    const Place p{k, j, i};
    Ahead made{{find<up>(p), find<north>(p), find<east>(p)}, {}};
    if constexpr (knows_weights) share<east, 0>(made, p);
    return made;
  }
  TERRANE_FN void operator()(Index k, Index j, Index i) const { (*this)(k, j, i, ahead(k, j, i)); }
  TERRANE_FN void operator()(Index k, Index j, Index i, const Ahead& known) const {
    V value = between<east, 0>(known, {k, j, i});
    if constexpr (Add) value = fine(k, j, i) + value;
    put(fine, k, j, i, value);
  }

 private:
  template <int Axis>
  TERRANE_FN Lies find(const Place& p) const {
    const auto& step = axis[Axis];
    if (!step.thins) return {p.get<Axis>(), true};
    const std::int32_t lies = step.thinning.lies[static_cast<std::size_t>(p.get<Axis>())];
    return {lies >> 1, (lies & 1) != 0};  // below may be −1; >> keeps its sign
  }
  /// Index in `shares` of the weights of a point along an axis. Interpolations are nested: there is one for
  /// each of the two points used along the previous axis, and Path numbers these. If P is Path of the
  /// previous axis, it is 2 P for the point below and 2 P + 1 for the one above.
  template <int Axis, int Path>
  static constexpr int number() {
    return W::same_across ? Axis : Axis == east ? 0 : Axis == north ? 1 + Path : 3 + Path;
  }
  template <int Axis, int Path>
  TERRANE_FN void share(Ahead& known, const Place& p) const {
    const auto [below, on] = known.of[Axis];
    if (axis[Axis].thins) {
      const auto shares = axis[Axis].weights.template of<Axis>(p);
      auto& these = known.shares[number<Axis, Path>()];
      if constexpr (Flat) these = {on ? RealOf<V>(1) : shares.below, on ? RealOf<V>(0) : shares.above};
      else these = shares;
    }
    if constexpr (Axis != up) {
      share<Axis - 1, 2 * Path>(known, p.with<Axis>(below));
      if constexpr (!W::same_across)
        if (axis[Axis].thins) share<Axis - 1, 2 * Path + 1>(known, p.with<Axis>(on ? below : below + 1));
    }
  }
  template <int Axis, int Path>
  TERRANE_FN V between(const Ahead& known, const Place& p) const {
    const auto& [below, on] = known.of[Axis];
    const Place q = p.with<Axis>(below);
    if constexpr (Flat) {
      if (!axis[Axis].thins) return along_next<Axis, 2 * Path>(known, q);
      const V low = along_next<Axis, 2 * Path>(known, q),
              high = along_next<Axis, 2 * Path + 1>(known, q.with<Axis>(on ? below : below + 1));
      const auto& shares = known.shares[number<Axis, Path>()];
      return shares.below * low + shares.above * high;
    }
    if (on) return along_next<Axis, 2 * Path>(known, q);
    const auto shares = shares_of<Axis, Path>(known, p);
    return shares.below * along_next<Axis, 2 * Path>(known, q) +
           shares.above * along_next<Axis, 2 * Path + 1>(known, q.moved<Axis>(1));
  }
  template <int Axis, int Path>
  TERRANE_FN Weights<RealOf<V>> shares_of(const Ahead& known, const Place& removed) const {
    if constexpr (knows_weights) return known.shares[number<Axis, Path>()];
    else return axis[Axis].weights.template of<Axis>(removed);
  }
  template <int Axis, int Path>
  TERRANE_FN V along_next(const Ahead& known, const Place& q) const {
    if constexpr (Axis == up) return at(coarse, q);
    else return between<Axis - 1, Path>(known, q);
  }
};

/// r = b − A u, A the network.
template <class V, class A>
struct Residual {
  A a;
  typename Values<V>::In b, u;
  typename Values<V>::Out r;
  bool choice() const requires requires(const A& net) { net.shift; }
  { return a.shift == 0; }  // whether A has no storage (sweep.hpp)
  TERRANE_FN void operator()(Index k, Index j, Index i) const { with(a.coefficients(k, j, i), k, j, i); }
  template <class C>
  TERRANE_FN void with(const C& c, Index k, Index j, Index i) const {
    put(r, k, j, i, b(k, j, i) - a.applied(c, u, k, j, i));
  }
};

/// u = weight D⁻¹ b: the first step of the smoother, from u = 0. D: the diagonal of A.
template <class V, class A>
struct FirstStep {
  A a;
  typename Values<V>::In b;
  RealOf<V> weight;
  typename Values<V>::Out u;
  bool choice() const requires requires(const A& net) { net.shift; }
  { return a.shift == 0; }  // whether A has no storage (sweep.hpp)
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(u, k, j, i, weight * a.template over_diagonal<V>(b(k, j, i), k, j, i));
  }
};

/// next = u + momentum (u − before) + weight D⁻¹ (b − A u). The array `next` contains `before` initially.
template <class V, class A>
struct ChebyshevStep {
  A a;
  typename Values<V>::In b, u;
  RealOf<V> momentum, weight;
  typename Values<V>::Out next;
  bool choice() const requires requires(const A& net) { net.shift; }
  { return a.shift == 0; }  // whether A has no storage (sweep.hpp)
  TERRANE_FN void operator()(Index k, Index j, Index i) const { with(a.coefficients(k, j, i), k, j, i); }
  template <class C>
  TERRANE_FN void with(const C& c, Index k, Index j, Index i) const {
    const V here = u(k, j, i), last = next(k, j, i);
    const V step = a.residual_over_diagonal(c, static_cast<V>(b(k, j, i)), u, here, k, j, i);
    put(next, k, j, i, here + momentum * (here - last) + weight * step);
  }
};
/// A ChebyshevStep for which `before` is zero (or momentum is): the array `next` is not read.
template <class V, class A>
struct ChebyshevStepFromZero {
  A a;
  typename Values<V>::In b, u;
  RealOf<V> momentum, weight;
  typename Values<V>::Out next;
  bool choice() const requires requires(const A& net) { net.shift; }
  { return a.shift == 0; }  // whether A has no storage (sweep.hpp)
  TERRANE_FN void operator()(Index k, Index j, Index i) const { with(a.coefficients(k, j, i), k, j, i); }
  template <class C>
  TERRANE_FN void with(const C& c, Index k, Index j, Index i) const {
    const V here = u(k, j, i);
    const V step = a.residual_over_diagonal(c, static_cast<V>(b(k, j, i)), u, here, k, j, i);
    put(next, k, j, i, here + momentum * here + weight * step);
  }
};

/// Wraps a kernel so that it loads its coefficients of the network before the previous kernel has ended.
template <class Kernel>
struct Early {
  Kernel kernel;
  TERRANE_FN auto ahead(Index k, Index j, Index i) const { return kernel.a.coefficients(k, j, i); }
  template <class C>
  TERRANE_FN void operator()(Index k, Index j, Index i, const C& c) const {
    kernel.with(c, k, j, i);
  }
  TERRANE_FN void operator()(Index k, Index j, Index i) const { kernel(k, j, i); }
};

/// The cycle on a level with few points and all coarser ones, by one block of threads (in_one_block of
/// sweep.hpp): the same steps as separate kernels do.
template <class V, class W, class A>
struct CycleOfFewPoints {
  static constexpr int most = 10;
  struct Level {
    IndexBox<3> points;
    A a;
    typename Values<V>::Out b, u, v;
    AxisStep<W> axis[3];  // coarsening to the next level
  };
  Level level[most];
  int count = 0;
  bool begun = false;                 // true: the first smoothing step is already in v of the first level
  RealOf<V> first, momentum, weight;  // coefficients of the smoother

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class Points>
  TERRANE_FN void work(const Points& points) const {
    if (!begun) points(level[0].points, FirstStep<V, A>{level[0].a, level[0].b, first, level[0].v});
    for (int l = 0; l + 1 < count; ++l) {
      const Level &here = level[l], &next = level[l + 1];
      const A a = here.a;
      points(here.points, ChebyshevStepFromZero<V, A>{a, here.b, here.v, momentum, weight, here.u});
      points(here.points, Residual<V, A>{a, here.b, here.u, here.v});
      points(next.points,
             RestrictTogether<V, W, A, true, true>{
                 {here.axis[0], here.axis[1], here.axis[2]}, here.v, next.b, next.a, first, next.v});
    }
    const Level& last = level[count - 1];
    points(last.points, FirstStep<V, A>{last.a, last.b, RealOf<V>(1), last.u});
    for (int l = count - 2; l >= 0; --l) {
      const Level &here = level[l], &next = level[l + 1];
      const A a = here.a;
      points(here.points, InterpolateTogether<V, W, true, true>{
                              {here.axis[0], here.axis[1], here.axis[2]}, next.u, here.u});
      points(here.points, ChebyshevStepFromZero<V, A>{a, here.b, here.u, RealOf<V>(0), first, here.v});
      points(here.points, ChebyshevStep<V, A>{a, here.b, here.v, momentum, weight, here.u});
    }
  }
};

/// u = 0
template <class V>
struct Clear {
  typename Values<V>::Out u;
  TERRANE_FN void operator()(Index k, Index j, Index i) const { put(u, k, j, i, V{}); }
};

/// u = 0 on the faces of the layer around a box; indices: face 0 … 5, row and column of the face.
template <class V>
struct ClearFaces {
  IndexBox<3> points;
  typename Values<V>::Out u;
  TERRANE_FN void operator()(Index face, Index row, Index column) const {
    const int axis = static_cast<int>(face / 2), first = axis == up ? north : up,
              last = axis == east ? north : east;
    if (row >= points.size(first) || column >= points.size(last)) return;
    Index at[3];
    at[axis] = face % 2 == 0 ? points.first[axis] - 1 : points.last[axis];
    at[first] = points.first[first] + row;
    at[last] = points.first[last] + column;
    put(u, at[0], at[1], at[2], V{});
  }
};

/// u = 0 by one kernel on the layers around several fields, including edges and corners, which interpolation
/// reads. A layer's points are numbered field by field and face by face; the kernel's box has rows of 32
/// points.
template <class V>
struct ClearLayers {
  static constexpr int most = 32;
  int fields = 0;
  IndexBox<3> box[most];  // boxes of the fields, including their layers
  int end[most] = {};     // running number after the last point of each field
  typename Values<V>::Out u[most];

  void take(const IndexBox<3>& with_layer, const typename Values<V>::Out& view) {
    const Index sizes[3] = {with_layer.size(0), with_layer.size(1), with_layer.size(2)};
    const Index points = 2 * (sizes[0] * sizes[1] + sizes[1] * sizes[2] + sizes[2] * sizes[0]);
    box[fields] = with_layer;
    end[fields] = (fields > 0 ? end[fields - 1] : 0) + static_cast<int>(points);
    u[fields++] = view;
  }
  IndexBox<3> numbers() const { return index_box(1, (end[fields - 1] + 31) / 32, 32); }

  TERRANE_FN void operator()(Index, Index row, Index column) const {
    int n = static_cast<int>(32 * row + column), field = 0;
    if (n >= end[fields - 1]) return;
    while (n >= end[field]) ++field;
    if (field > 0) n -= end[field - 1];
    const auto& all = box[field];
    for (int axis = 0; axis < 3; ++axis) {
      const int first = axis == up ? north : up, last = axis == east ? north : east,
                wide = static_cast<int>(all.size(last)), cells = wide * static_cast<int>(all.size(first));
      if (n >= 2 * cells) {
        n -= 2 * cells;
        continue;
      }
      const int cell = n < cells ? n : n - cells;
      Index at[3];
      at[axis] = n < cells ? all.first[axis] : all.last[axis] - 1;
      at[first] = all.first[first] + cell / wide;
      at[last] = all.first[last] + cell % wide;
      return put(u[field], at[0], at[1], at[2], V{});
    }
  }
};

/// to = factor · from, in another precision.
template <class From, class To>
struct Convert {
  typename Values<From>::In from;
  double factor;
  typename Values<To>::Out to;
  TERRANE_FN void operator()(Index k, Index j, Index i) const {
    put(to, k, j, i, converted<To>(factor, static_cast<From>(from(k, j, i))));
  }
};

}  // namespace terrane::solve
