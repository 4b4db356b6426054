#include "terrane/solve/multigrid/host_passes.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

#include "terrane/parallel/simd/built_sets.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/parallel/threads/for_each_box.hpp"

namespace terrane::solve {

namespace {

// ——— Rows ———

/// Values of a row, indexed along the axis east; imaginary parts of complex values are in a separate array.
template <class V>
struct Row {
  const V* at = nullptr;
  TERRANE_FN V operator()(Index i) const { return at[i]; }
};
template <class V>
struct RowOut {
  V* at = nullptr;
  TERRANE_FN void put(Index i, V value) const { at[i] = value; }
  TERRANE_FN operator Row<V>() const { return {at}; }
};
template <class T>
struct Row<Complex<T>> {
  const T* at = nullptr;
  std::ptrdiff_t to_im = 0;
  TERRANE_FN Complex<T> operator()(Index i) const { return {at[i], at[i + to_im]}; }
};
template <class T>
struct RowOut<Complex<T>> {
  T* at = nullptr;
  std::ptrdiff_t to_im = 0;
  TERRANE_FN void put(Index i, Complex<T> value) const {
    at[i] = value.re;
    at[i + to_im] = value.im;
  }
  TERRANE_FN operator Row<Complex<T>>() const { return {at, to_im}; }
};

template <class T>
TERRANE_FN auto row_of(const GridView<T>& view, Index k, Index j) {
  if constexpr (std::is_const_v<T>) return Row<std::remove_const_t<T>>{view.place(k, j, 0)};
  else return RowOut<T>{view.place(k, j, 0)};
}
template <class T>
TERRANE_FN auto row_of(const ComplexView<T>& view, Index k, Index j) {
  if constexpr (std::is_const_v<T>)
    return Row<Complex<std::remove_const_t<T>>>{view.place(k, j, 0), view.to_im()};
  else return RowOut<Complex<T>>{view.place(k, j, 0), view.to_im()};
}

/// A row and its four neighbouring rows, from which networks read the values around a point.
template <class V>
struct Neighbours {
  Row<V> here, below, above, south, north;
  Index k, j;
  TERRANE_FN V operator()(Index at_k, Index at_j, Index i) const {
    if (at_k < k) return below(i);
    if (at_k > k) return above(i);
    if (at_j < j) return south(i);
    if (at_j > j) return north(i);
    return here(i);
  }
};

/// Calls step(i) along a row. `step` is a copy, so the compiler knows that no store to memory changes it.
template <class Step>
TERRANE_FN void along(Index first, Index last, const Step step) {
#pragma omp simd
  for (Index i = first; i < last; ++i) step(i);
}
/// Calls step(network, i) along a row. A loop with a branch is not vectorised, so whether the network has
/// storage is tested before the loop.
template <class A, class Step>
TERRANE_FN void along(const A& network, Index first, Index last, const Step step) {
  A a = network;
  if (a.shift == 0) {
    a.shift = 0;
    along(first, last, [a, step](Index i) { step(a, i); });
  } else {
    along(first, last, [a, step](Index i) { step(a, i); });
  }
}

/// Number of lanes of the widest registers. Loops over a row are rounded up to whole registers, so they read
/// and write beyond the end of the row: input arrays and the rows of a block have memory there. In builds
/// with assertions, loops end exactly at the row's end.
constexpr Index most_lanes = 16;
#if defined(NDEBUG)
constexpr bool whole_registers = true;
#else
constexpr bool whole_registers = false;
#endif
/// Whether an array on this box has enough memory behind the last row of points, in its layer, for whole
/// registers.
inline bool has_room_behind(const IndexBox<3>& box) {
  return whole_registers && (box.size(1) + 2) * (box.size(2) + 2) >= 2 * most_lanes;
}
template <class T>
TERRANE_FN Index filled(Index first, Index last, bool room) {
  constexpr Index lanes = 64 / static_cast<Index>(sizeof(T));
  return room ? first + (last - first + lanes - 1) / lanes * lanes : last;
}
template <class V>
TERRANE_FN void copy(const RowOut<V>& from, const RowOut<V>& to, Index first, Index last) {
  const auto bytes = static_cast<std::size_t>(last - first) * sizeof(RealOf<V>);
  std::memcpy(to.at + first, from.at + first, bytes);
  if constexpr (Values<V>::numbers == 2)
    std::memcpy(to.at + to.to_im + first, from.at + from.to_im + first, bytes);
}

// ——— Memory of a block ———

/// Ring buffer for the planes of rows computed last.
template <class V>
struct Planes {
  using T = RealOf<V>;
  T* first = nullptr;
  Index count = 0, k = 0, j = 0, i = 0;  // number of planes; lowest indices
  Index row = 0, plane = 0;
  std::ptrdiff_t to_im = 0;

  TERRANE_FN RowOut<V> operator()(Index at_k, Index at_j) const {
    T* const at = first + ((at_k - k) % count) * plane + (at_j - j) * row - i;
    if constexpr (Values<V>::numbers == 1) return {at};
    else return {at, to_im};
  }
};

/// Memory that a thread needs while it computes a block; reused for the thread's next block.
class Room {
 public:
  /// The memory of the calling thread, marked as unused.
  static Room& own() {
    static thread_local Room room;
    room.chunk_ = room.used_ = 0;
    return room;
  }
  /// Planes filled with zeros.
  template <class V>
  Planes<V> planes(Index count, const IndexBox<3>& box) {
    Planes<V> made;
    made.count = count;
    made.k = box.first[0];
    made.j = box.first[1];
    made.i = box.first[2];
    made.row = (box.size(2) + 2 * most_lanes - 1) / most_lanes * most_lanes;
    made.plane = made.row * box.size(1);
    made.to_im = made.plane * count;
    made.first = take<RealOf<V>>(made.to_im * Values<V>::numbers);
    return made;
  }
  /// An array filled with zeros.
  template <class T>
  T* take(Index count) {
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 127) / 128 * 128;
    std::byte* const at = place(bytes);
    std::fill_n(at, bytes, std::byte{0});
    return reinterpret_cast<T*>(at);
  }

 private:
  __attribute__((noinline)) std::byte* place(std::size_t bytes) {
    while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size()) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) chunks_.emplace_back(std::max(bytes, std::size_t{1} << 20));
    std::byte* const at = chunks_[chunk_].data() + used_;
    used_ += bytes;
    return at;
  }
  std::vector<std::vector<std::byte>> chunks_;
  std::size_t chunk_ = 0, used_ = 0;
};

// ——— Along the axes, between levels ———

/// For the coarse points of an axis: the corresponding fine point, and which of its removed neighbours
/// contribute.
template <class W>
struct Taking {
  const AxisStep<W>& axis;
  Index kept(Index coarse) const { return axis.thins ? word(coarse) >> 2 : coarse; }
  bool below(Index coarse) const { return axis.thins && (word(coarse) & 1) != 0; }
  bool above(Index coarse) const { return axis.thins && (word(coarse) & 2) != 0; }
  Index lowest(Index coarse) const { return kept(coarse) - (below(coarse) ? 1 : 0); }
  Index highest(Index coarse) const { return kept(coarse) + (above(coarse) ? 1 : 0); }
  /// The range of coarse points in [first, last) whose fine points are in [from, to).
  std::pair<Index, Index> within(Index first, Index last, Index from, Index to) const {
    while (first < last && kept(first) < from) ++first;
    Index end = first;
    while (end < last && kept(end) < to) ++end;
    return {first, end};
  }
  /// The last coarse point at or below a fine point; −1 if there is none.
  Index at_or_below(Index fine) const { return axis.thins ? lies(fine) >> 1 : fine; }
  /// Whether the fine point itself is a coarse one.
  bool on(Index fine) const { return !axis.thins || (lies(fine) & 1) != 0; }

 private:
  std::int32_t word(Index coarse) const { return axis.thinning.taken[static_cast<std::size_t>(coarse)]; }
  std::int32_t lies(Index fine) const { return axis.thinning.lies[static_cast<std::size_t>(fine)]; }
};

/// to = own + the weighted rows of removed neighbours along an axis across the row, as in Restrict. low,
/// high: rows of the neighbours below and above; null if not removed.
template <int Axis, class V, class W>
TERRANE_FN void add_across(const W& weights, const PlacesOfRemoved& removed, const Place& kept, Index first,
                           Index last, const Row<V>& own, const Row<V>* low, const Row<V>* high,
                           const RowOut<V>& to) {
  Place at_low = kept, at_high = kept;
  if (low) at_low = place_of_weights<Axis>(removed, kept.moved<Axis>(-1));
  if (high) at_high = place_of_weights<Axis>(removed, kept.moved<Axis>(1));
  const auto from_low = [weights, at_low](Index i, const V& value) {
    return weights.template of<Axis>(at_low.with<east>(i)).above * value;
  };
  const auto from_high = [weights, at_high](Index i, const V& value) {
    return weights.template of<Axis>(at_high.with<east>(i)).below * value;
  };
  if (low && high) {
    const Row<V> l = *low, h = *high, o = own;
    along(first, last, [=](Index i) {
      V sum = o(i);
      sum += from_low(i, l(i));
      sum += from_high(i, h(i));
      to.put(i, sum);
    });
  } else if (low) {
    const Row<V> l = *low, o = own;
    along(first, last, [=](Index i) { to.put(i, o(i) + from_low(i, l(i))); });
  } else if (high) {
    const Row<V> h = *high, o = own;
    along(first, last, [=](Index i) { to.put(i, o(i) + from_high(i, h(i))); });
  } else {
    const Row<V> o = own;
    along(first, last, [=](Index i) { to.put(i, o(i)); });
  }
}

/// The pass down in a block: computes u in planes [k0, k1) and rows [j0, j1), and the restricted residual at
/// coarse points whose fine points are there.
template <class V, class W, class A>
struct BlockDown {
  using T = RealOf<V>;
  using P = PassDown<V, W, A>;
  const P& pass;
  const A& a;
  Index k0, k1, j0, j1;  // planes and rows of the block
  Index west, end;       // range of points of rows along east
  Index coarse_k0 = 0, coarse_k1 = 0, coarse_j0 = 0, coarse_j1 = 0;
  Index rk0 = 0, rk1 = 0, rj0 = 0, rj1 = 0;  // planes and rows in which residuals are computed
  Index uk0 = 0, uk1 = 0, uj0 = 0, uj1 = 0;  // planes and rows in which u is computed
  Planes<V> step, u, thin_rows, thin_planes;
  RowOut<V> residual, from_low, from_high, right;
  std::int32_t *low = nullptr, *mid = nullptr, *high = nullptr;  // [coarse points of a row] fine indices
  bool room_behind;

  BlockDown(const P& whole, Index first_k, Index last_k, Index first_j, Index last_j)
      : pass(whole),
        a(whole.a),
        k0(first_k),
        k1(last_k),
        j0(first_j),
        j1(last_j),
        west(whole.held.first[2]),
        end(whole.held.last[2]),
        room_behind(has_room_behind(whole.held)) {
    const auto& coarse = pass.coarse;
    const Taking<W> on_up{pass.axis[up]}, on_north{pass.axis[north]};
    std::tie(coarse_k0, coarse_k1) = on_up.within(coarse.first[0], coarse.last[0], k0, k1);
    std::tie(coarse_j0, coarse_j1) = on_north.within(coarse.first[1], coarse.last[1], j0, j1);
    uk0 = k0, uk1 = k1, uj0 = j0, uj1 = j1;
    if (coarse_k0 < coarse_k1 && coarse_j0 < coarse_j1) {
      rk0 = on_up.lowest(coarse_k0), rk1 = on_up.highest(coarse_k1 - 1) + 1;
      rj0 = on_north.lowest(coarse_j0), rj1 = on_north.highest(coarse_j1 - 1) + 1;
      uk0 = std::min(uk0, rk0 - 1), uk1 = std::max(uk1, rk1 + 1);
      uj0 = std::min(uj0, rj0 - 1), uj1 = std::max(uj1, rj1 + 1);
    }
  }

  inline void run() {
    auto& room = Room::own();
    const IndexBox<3> rows{{uk0 - 1, uj0 - 1, west - 1}, {uk1 + 1, uj1 + 1, end + 1}};
    step = room.template planes<V>(3, rows);
    u = room.template planes<V>(3, rows);
    prepare_east(room);
    make_step(uk0 - 1);
    make_step(uk0);
    for (Index k = uk0; k < uk1; ++k) {
      make_step(k + 1);
      make_u(k);
      if (k - 1 >= rk0 && k - 1 < rk1) restrict_plane(k - 1);
    }
  }

 private:
  static void clear(const RowOut<V>& row, Index first, Index last) {
    along(first, last, [row](Index i) { row.put(i, V{}); });
  }
  bool held(Index k, Index j) const {
    const auto& box = pass.held;
    return k >= box.first[0] && k < box.last[0] && j >= box.first[1] && j < box.last[1];
  }
  bool wanted(Index k, Index j) const {
    const auto& box = pass.points;
    return k >= box.first[0] && k < box.last[0] && j >= box.first[1] && j < box.last[1];
  }

  /// Computes the first step of the smoother, from zero.
  inline void make_step(Index k) {
    for (Index j = uj0 - 1; j < uj1 + 1; ++j) {
      const RowOut<V> to = step(k, j);
      if (!held(k, j)) {
        clear(to, west, end);
        continue;
      }
      const auto b = row_of(pass.b, k, j);
      const T weight = pass.first;
      along(a, west, filled<T>(west, end, room_behind), [=](const auto& net, Index i) {
        to.put(i, weight * net.template over_diagonal<V>(b(i), k, j, i));
      });
      to.put(end, V{});
    }
  }

  /// Computes the second step of the smoother; stores the block's part of u.
  inline void make_u(Index k) {
    const Index first = pass.points.first[2], last = pass.points.last[2];
    for (Index j = uj0; j < uj1; ++j) {
      const RowOut<V> to = u(k, j);
      if (!wanted(k, j)) {
        clear(to, west, end);
        continue;
      }
      const auto b = row_of(pass.b, k, j);
      const Neighbours<V> before{
          step(k, j), step(k - 1, j), step(k + 1, j), step(k, j - 1), step(k, j + 1), k, j};
      const T momentum = pass.momentum, weight = pass.weight;
      along(a, first, filled<T>(first, last, room_behind), [=](const auto& net, Index i) {
        const V here = before.here(i);
        const V change = net.residual_over_diagonal(net.coefficients(k, j, i), b(i), before, here, k, j, i);
        to.put(i, here + momentum * here + weight * change);
      });
      to.put(last, V{});
      if (k >= k0 && k < k1 && j >= j0 && j < j1) copy(to, row_of(pass.u, k, j), first, last);
    }
  }

  void prepare_east(Room& room) {
    const auto& coarse = pass.coarse;
    if (rk0 == rk1) return;
    const IndexBox<3> thin{{rk0, rj0, coarse.first[2]}, {rk1, rj1, coarse.last[2]}};
    thin_rows = room.template planes<V>(1, thin);
    thin_planes = room.template planes<V>(3, thin);
    right = room.template planes<V>(1, {{0, 0, coarse.first[2]}, {1, 1, coarse.last[2]}})(0, 0);
    const IndexBox<3> one{{0, 0, west - 1}, {1, 1, end + 1}};
    residual = room.template planes<V>(1, one)(0, 0);
    if (!pass.axis[east].thins) return;
    from_low = room.template planes<V>(1, one)(0, 0);
    from_high = room.template planes<V>(1, one)(0, 0);
    const Taking<W> on_east{pass.axis[east]};
    for (auto* list : {&low, &mid, &high})
      *list = room.template take<std::int32_t>(coarse.size(2) + most_lanes) - coarse.first[2];
    const auto nothing = static_cast<std::int32_t>(west - 1);  // index of a point where all rows are zero
    for (Index i = coarse.last[2]; i < coarse.last[2] + most_lanes; ++i) low[i] = mid[i] = high[i] = nothing;
    for (Index i = coarse.first[2]; i < coarse.last[2]; ++i) {
      mid[i] = static_cast<std::int32_t>(on_east.kept(i));
      low[i] = on_east.below(i) ? mid[i] - 1 : nothing;
      high[i] = on_east.above(i) ? mid[i] + 1 : nothing;
    }
  }

  inline void restrict_plane(Index k) {
    const Taking<W> on_up{pass.axis[up]}, on_north{pass.axis[north]};
    const Index first = pass.coarse.first[2], last = pass.coarse.last[2];
    // Weights come from links of intermediate levels, which have less memory behind a row.
    const bool thin_room = has_room_behind(pass.coarse);
    for (Index j = rj0; j < rj1; ++j) restrict_row(k, j);
    for (Index c = coarse_j0; c < coarse_j1; ++c) {
      const Index kept = on_north.kept(c);
      const Row<V> own = thin_rows(rk0, kept);
      Row<V> south, north_of;
      if (on_north.below(c)) south = thin_rows(rk0, kept - 1);
      if (on_north.above(c)) north_of = thin_rows(rk0, kept + 1);
      add_across<north>(pass.axis[north].weights, pass.removed, Place{k, kept, 0}, first,
                        filled<T>(first, last, thin_room), own, on_north.below(c) ? &south : nullptr,
                        on_north.above(c) ? &north_of : nullptr, thin_planes(k, rj0 + (c - coarse_j0)));
    }
    for (Index c = coarse_k0; c < coarse_k1; ++c) {
      if (on_up.highest(c) != k) continue;
      const Index kept = on_up.kept(c);
      for (Index n = coarse_j0; n < coarse_j1; ++n) {
        const Index j = rj0 + (n - coarse_j0);
        const Row<V> own = thin_planes(kept, j);
        Row<V> below, above;
        if (on_up.below(c)) below = thin_planes(kept - 1, j);
        if (on_up.above(c)) above = thin_planes(kept + 1, j);
        add_across<up>(pass.axis[up].weights, pass.removed, Place{kept, n, 0}, first,
                       filled<T>(first, last, thin_room), own, on_up.below(c) ? &below : nullptr,
                       on_up.above(c) ? &above : nullptr, right);
        copy(right, row_of(pass.right, c, n), first, last);
      }
    }
  }

  /// Computes the residual of a row and restricts it along east.
  inline void restrict_row(Index k, Index j) {
    const bool thins = pass.axis[east].thins;
    const Taking<W> on_east{pass.axis[east]};
    const Index first = pass.coarse.first[2], last = pass.coarse.last[2];
    const Index from = thins ? on_east.lowest(first) : first,
                to = thins ? on_east.highest(last - 1) + 1 : last;
    const RowOut<V> out = thin_rows(rk0, j), left = thins ? residual : out;
    const auto b = row_of(pass.b, k, j);
    const Neighbours<V> now{u(k, j), u(k - 1, j), u(k + 1, j), u(k, j - 1), u(k, j + 1), k, j};
    along(a, from, filled<T>(from, to, room_behind),
          [=](const auto& net, Index i) { left.put(i, b(i) - net.apply(now, k, j, i)); });
    if (!thins) return;
    const Row<V> all = residual, of_low = from_low, of_high = from_high;
    const RowOut<V> to_low = from_low, to_high = from_high;
    const W weights = pass.axis[east].weights;
    along(from, filled<T>(from, to, room_behind), [=](Index i) {
      const auto shares = weights.template of<east>(Place{k, j, i});
      const V value = all(i);
      to_low.put(i, shares.above * value);
      to_high.put(i, shares.below * value);
    });
    const std::int32_t *const l = low, *const m = mid, *const h = high;
    along(first, filled<T>(first, last, whole_registers), [=](Index i) {
      V sum = all(m[i]);
      sum += of_low(l[i]);
      sum += of_high(h[i]);
      out.put(i, sum);
    });
  }
};

/// The pass up in a block: computes the solution in planes [k0, k1) and rows [j0, j1).
template <class V, class W, class A>
struct BlockUp {
  using T = RealOf<V>;
  using P = PassUp<V, W, A>;
  const P& pass;
  const A& a;
  Index k0, k1, j0, j1;
  Index west, end;                 // range of points of rows along east
  Index cw, ce, cj0 = 0, cj1 = 0;  // ranges of coarse points along east, and of coarse rows along north
  Planes<V> u, step, of_plane;
  RowOut<V> of_row, zeros, result;
  bool room_behind, coarse_room;
  std::int32_t *low = nullptr, *high = nullptr;  // [points of a row] indices of coarse points below and above
  std::int32_t* on = nullptr;

  BlockUp(const P& whole, Index first_k, Index last_k, Index first_j, Index last_j)
      : pass(whole),
        a(whole.a),
        k0(first_k),
        k1(last_k),
        j0(first_j),
        j1(last_j),
        west(whole.held.first[2]),
        end(whole.held.last[2]),
        cw(whole.coarse.first[2]),
        ce(whole.coarse.last[2]),
        room_behind(has_room_behind(whole.held)),
        coarse_room(has_room_behind(whole.coarse)) {}

  inline void run() {
    auto& room = Room::own();
    const IndexBox<3> rows{{k0 - 2, j0 - 2, west - 1}, {k1 + 2, j1 + 2, end + 1}};
    u = room.template planes<V>(3, rows);
    step = room.template planes<V>(3, rows);
    prepare_axes(room);
    for (Index k = k0 - 2; k < k1 + 2; ++k) {
      make_u(k);
      if (k - 1 >= k0 - 1) make_step(k - 1);
      if (k - 2 >= k0) make_next(k - 2);
    }
  }

 private:
  static void clear(const RowOut<V>& row, Index first, Index last) {
    along(first, last, [row](Index i) { row.put(i, V{}); });
  }
  static bool in(const IndexBox<3>& box, Index k, Index j) {
    return k >= box.first[0] && k < box.last[0] && j >= box.first[1] && j < box.last[1];
  }

  void prepare_axes(Room& room) {
    const Taking<W> on_north{pass.axis[north]}, on_east{pass.axis[east]};
    const Index first = std::max(j0 - 2, pass.held.first[1]), last = std::min(j1 + 2, pass.held.last[1]);
    cj0 = on_north.at_or_below(first);
    cj1 = on_north.at_or_below(last - 1) + (on_north.on(last - 1) ? 1 : 2);
    of_plane = room.template planes<V>(1, {{0, cj0, cw - 1}, {1, cj1, ce + 1}});
    of_row = room.template planes<V>(1, {{0, 0, cw - 1}, {1, 1, ce + 1}})(0, 0);
    zeros = room.template planes<V>(1, {{0, 0, cw - 1}, {1, 1, ce + 1}})(0, 0);
    result = room.template planes<V>(1, {{0, 0, west - 1}, {1, 1, end + 1}})(0, 0);
    if (!pass.axis[east].thins) return;
    for (auto* list : {&low, &high, &on})
      *list = room.template take<std::int32_t>(end - west + most_lanes) - west;
    for (Index i = end; i < end + most_lanes; ++i) low[i] = high[i] = static_cast<std::int32_t>(cw - 1);
    for (Index i = west; i < end; ++i) {
      on[i] = on_east.on(i) ? 1 : 0;
      const Index c = on_east.at_or_below(i);
      low[i] = static_cast<std::int32_t>(std::clamp(c, cw - 1, ce));
      high[i] = static_cast<std::int32_t>(std::clamp(c + 1 - on[i], cw - 1, ce));
    }
  }

  /// to = below · low + above · high, as in Interpolate, for the removed point between the two rows on an
  /// axis across them.
  template <int Axis>
  TERRANE_FN void between(const Place& removed, const Row<V>& low_row, const Row<V>& high_row,
                          const RowOut<V>& to) const {
    const W weights = pass.axis[Axis].weights;
    const Place at = place_of_weights<Axis>(pass.removed, removed);
    const Row<V> l = low_row, h = high_row;
    along(cw, filled<T>(cw, ce, coarse_room), [=](Index i) {
      const auto shares = weights.template of<Axis>(at.with<east>(i));
      to.put(i, shares.below * l(i) + shares.above * h(i));
    });
    to.put(ce, V{});
  }
  /// A row of the coarse correction; zeros outside its box.
  Row<V> coarse_row(Index k, Index j) const {
    return in(pass.coarse, k, j) ? row_of(pass.correction, k, j) : Row<V>(zeros);
  }

  /// Computes u plus the coarse correction.
  inline void make_u(Index k) {
    const bool plane_there = k >= pass.held.first[0] && k < pass.held.last[0];
    if (plane_there) make_coarse_plane(k);
    for (Index j = j0 - 2; j < j1 + 2; ++j) {
      const RowOut<V> to = u(k, j);
      if (in(pass.held, k, j)) correct_row(k, j, to);
      else clear(to, west, end);
    }
  }
  /// Interpolates the coarse values along up.
  inline void make_coarse_plane(Index k) {
    const Taking<W> on_up{pass.axis[up]};
    const Index below = on_up.at_or_below(k);
    const bool there = on_up.on(k);
    for (Index c = cj0; c < cj1; ++c) {
      const RowOut<V> to = of_plane(0, c);
      if (c < pass.coarse.first[1] || c >= pass.coarse.last[1]) {
        clear(to, cw, ce);
      } else if (there) {
        const Row<V> from = coarse_row(below, c);
        along(cw, filled<T>(cw, ce, coarse_room), [=](Index i) { to.put(i, from(i)); });
        to.put(ce, V{});
      } else {
        between<up>(Place{k, c, 0}, coarse_row(below, c), coarse_row(below + 1, c), to);
      }
    }
  }
  inline void correct_row(Index k, Index j, const RowOut<V>& to) {
    const Taking<W> on_north{pass.axis[north]};
    const Index c = on_north.at_or_below(j);
    Row<V> coarse = of_plane(0, c);
    if (!on_north.on(j)) {
      between<north>(Place{k, j, 0}, coarse, of_plane(0, c + 1), of_row);
      coarse = of_row;
    }
    const auto before = row_of(pass.u, k, j);
    if (!pass.axis[east].thins) return along(west, end, [=](Index i) { to.put(i, before(i) + coarse(i)); });
    const Index last = filled<T>(west, end, room_behind);
    const W weights = pass.axis[east].weights;
    const std::int32_t *const l = low, *const h = high;
    const std::int32_t* const here = on;
    along(west, last, [=](Index i) {
      const auto shares = weights.template of<east>(Place{k, j, i});
      const V from_low = coarse(l[i]), from_high = coarse(h[i]);
      const V value =
          (here[i] != 0 ? T(1) : shares.below) * from_low + (here[i] != 0 ? T(0) : shares.above) * from_high;
      to.put(i, before(i) + value);
    });
    to.put(end, V{});
  }

  /// Computes the first step of the smoother after the correction.
  inline void make_step(Index k) {
    const Index first = pass.between.first[2], last = pass.between.last[2];
    for (Index j = j0 - 1; j < j1 + 1; ++j) {
      const RowOut<V> to = step(k, j);
      if (!in(pass.between, k, j)) {
        clear(to, west, end);
        continue;
      }
      const auto b = row_of(pass.b, k, j);
      const Neighbours<V> before{u(k, j), u(k - 1, j), u(k + 1, j), u(k, j - 1), u(k, j + 1), k, j};
      const T weight = pass.first;
      along(a, first, filled<T>(first, last, room_behind), [=](const auto& net, Index i) {
        const V here = before.here(i);
        const V change = net.residual_over_diagonal(net.coefficients(k, j, i), b(i), before, here, k, j, i);
        to.put(i, here + T(0) * here + weight * change);
      });
      to.put(last, V{});
    }
  }
  /// Computes the second step of the smoother after the correction.
  inline void make_next(Index k) {
    const Index first = pass.points.first[2], last = pass.points.last[2];
    for (Index j = j0; j < j1; ++j) {
      const RowOut<V> to = result;
      const auto b = row_of(pass.b, k, j);
      const Row<V> last_u = u(k, j);
      const Neighbours<V> before{
          step(k, j), step(k - 1, j), step(k + 1, j), step(k, j - 1), step(k, j + 1), k, j};
      const T momentum = pass.momentum, weight = pass.weight;
      along(a, first, filled<T>(first, last, room_behind), [=](const auto& net, Index i) {
        const V here = before.here(i), two_before = last_u(i);
        const V change = net.residual_over_diagonal(net.coefficients(k, j, i), b(i), before, here, k, j, i);
        to.put(i, here + momentum * (here - two_before) + weight * change);
      });
      copy(to, row_of(pass.next, k, j), first, last);
    }
  }
};

// ——— Blocks and threads ———

/// A box divided into blocks of planes and rows.
struct Blocks {
  IndexBox<3> box;
  Index planes = 1, rows = 1;  // number of blocks along up and north
  int team = 1;

  Blocks(const IndexBox<3>& whole, int threads) : box(whole) {
    constexpr Index least_for_thread = 8192, most_in_plane = 20000, least_planes = 12;
    const Index points = box.count();
    if (points > least_for_thread)
      team = static_cast<int>(std::min<Index>(thread_count(threads), points / least_for_thread));
    rows = std::min(box.size(1), (box.size(1) * box.size(2) + most_in_plane - 1) / most_in_plane);
    // There are twice as many blocks as threads, if that costs little, so that a slow thread delays the
    // others less.
    const Index wanted = team == 1 ? 1 : (box.size(0) >= 2 * least_planes * team ? 2 : 1) * team;
    planes = std::clamp<Index>((wanted + rows - 1) / rows, 1, box.size(0));
    if (planes * rows < team) rows = std::min(box.size(1), (team + planes - 1) / planes);
  }
  Index count() const { return planes * rows; }
  /// The first index of block n, if [first, last) along an axis is divided into `of` blocks.
  static Index begin(Index first, Index last, Index n, Index of) { return first + (last - first) * n / of; }
};

template <class Pass>
struct BlockOf;
template <class V, class W, class A>
struct BlockOf<PassDown<V, W, A>> {
  using type = BlockDown<V, W, A>;
};
template <class V, class W, class A>
struct BlockOf<PassUp<V, W, A>> {
  using type = BlockUp<V, W, A>;
};

template <class Pass>
struct Work {
  const Pass& pass;
  const Blocks& blocks;

  inline void block(Index n) const {
    const auto& box = blocks.box;
    const Index k = n / blocks.rows, j = n % blocks.rows;
    typename BlockOf<Pass>::type one(pass, Blocks::begin(box.first[0], box.last[0], k, blocks.planes),
                                     Blocks::begin(box.first[0], box.last[0], k + 1, blocks.planes),
                                     Blocks::begin(box.first[1], box.last[1], j, blocks.rows),
                                     Blocks::begin(box.first[1], box.last[1], j + 1, blocks.rows));
    one.run();
  }
  using Call = void (*)(const void*, Index);
#if defined(__x86_64__) && defined(__GNUC__)
  __attribute__((target("avx2"), flatten)) static void run_avx2(const void* with, Index n) {
    static_cast<const Work*>(with)->block(n);
  }
#if defined(__clang__)  // Clang does not know the attribute for the preferred width
  __attribute__((target("avx512f,avx512vl,avx512dq"), flatten))
#else
  __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"), flatten))
#endif
  static void
  run_avx512(const void* with, Index n) {
    static_cast<const Work*>(with)->block(n);
  }
  /// Passes are compiled only for the instruction sets that other kernels of the build have.
  static Call best() {
    if constexpr (!is_built("avx512")) return run_avx2;
    else if constexpr (!is_built("avx2")) return run_avx512;
    else return instruction_set() == "avx512" ? run_avx512 : run_avx2;
  }
#else
  static void run(const void* with, Index n) { static_cast<const Work*>(with)->block(n); }
  static Call best() { return run; }
#endif
};

template <class Pass>
void run_blocks(const Pass& pass, int threads) {
  static const auto call = Work<Pass>::best();
  if (pass.points.empty()) return;
  const Blocks blocks(pass.points, threads);
  const Work<Pass> work{pass, blocks};
  terrane::detail::run_team(blocks.count(), blocks.team, call, &work);
}

}  // namespace

template <class V, class W, class A>
void run_pass(const PassDown<V, W, A>& pass, int threads) {
  run_blocks(pass, threads);
}
template <class V, class W, class A>
void run_pass(const PassUp<V, W, A>& pass, int threads) {
  run_blocks(pass, threads);
}

template void run_pass(const PassDown<float, LinkWeights<float>, NetworkView<float>>&, int);
template void run_pass(const PassUp<float, LinkWeights<float>, NetworkView<float>>&, int);
template void run_pass(const PassDown<float, ListWeights<float>, ProductView<float>>&, int);
template void run_pass(const PassUp<float, ListWeights<float>, ProductView<float>>&, int);
template void run_pass(const PassDown<Complex<float>, LinkWeights<float>, NetworkView<float>>&, int);
template void run_pass(const PassUp<Complex<float>, LinkWeights<float>, NetworkView<float>>&, int);
template void run_pass(const PassDown<Complex<float>, ListWeights<float>, ProductView<float>>&, int);
template void run_pass(const PassUp<Complex<float>, ListWeights<float>, ProductView<float>>&, int);

}  // namespace terrane::solve
