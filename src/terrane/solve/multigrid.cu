// The hierarchy and the cycle, as multigrid.hpp describes them:
//   thin()              which points of an axis stay at a target spacing
//   Hierarchy()         levels, each coarser along one axis than the one before; the smoother runs on some of
//                      them
//   Hierarchy::cycle()  smooth, restrict the residual, correct from the next level, smooth
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/solve/kernels_multigrid.hpp"
#include "terrane/solve/multigrid.hpp"

namespace terrane::solve {

namespace {

/// Fine indices of the points that stay, when spacings up to `target` are wanted.
std::vector<Index> thin(const AxisSpacing& axis, double target) {
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

AxisSpacing thinned(const AxisSpacing& axis, const std::vector<Index>& kept) {
  AxisSpacing coarse{{}, axis.natural_low, axis.natural_high};
  Index from = 0;  // the first spacing of the next coarse one
  const auto add_up_to = [&](Index last) {
    double sum = 0;
    for (; from <= last; ++from) sum += axis.spacing[static_cast<std::size_t>(from)];
    coarse.spacing.push_back(sum);
  };
  for (const Index p : kept) add_up_to(p);
  add_up_to(axis.points());
  return coarse;
}

/// The kernels of one axis, which is a number that the compiler must know.
template <class Call>
void with_axis(int axis, const Call& call) {
  if (axis == up) call(std::integral_constant<int, up>{});
  else if (axis == north) call(std::integral_constant<int, north>{});
  else call(std::integral_constant<int, east>{});
}

/// From a level to the next, which is coarser along one axis.
struct Step {
  int axis = 0;
  Buffer<Index> kept_and_ends, below;

  Thinning view() const { return {kept_and_ends.view(), below.view()}; }
};

Step make_step(Stream& stream, int axis, const std::vector<Index>& kept, Index points) {
  std::vector<Index> ends{-1}, below(static_cast<std::size_t>(points));
  ends.insert(ends.end(), kept.begin(), kept.end());
  ends.push_back(points);
  for (Index p = 0, n = -1; p < points; ++p) {
    if (n + 1 < static_cast<Index>(kept.size()) && kept[static_cast<std::size_t>(n + 1)] == p) ++n;
    below[static_cast<std::size_t>(p)] = n;
  }
  // By pointer and size: nvcc 13 does not take these vectors for ranges.
  const auto on_device = [&](const std::vector<Index>& list) {
    return Buffer<Index>(stream, std::span<const Index>(list.data(), list.size()));
  };
  return {axis, on_device(ends), on_device(below)};
}

/// The part of a coarser box that comes from `fine` points: those that stay.
IndexBox<3> thinned(IndexBox<3> fine, int axis, const std::vector<Index>& kept) {
  const auto place = [&](Index p) { return std::lower_bound(kept.begin(), kept.end(), p) - kept.begin(); };
  return fine.with(axis, place(fine.first[axis]), place(fine.last[axis]));
}

Cartesian<3> thinned(Cartesian<3> fine, int axis, const std::vector<Index>& kept) {
  fine.whole = thinned(fine.whole, axis, kept);
  for (auto& part : fine.parts) part = thinned(part, axis, kept);
  return fine;
}

/// With the high walls, which links have.
IndexBox<3> with_walls(IndexBox<3> part, const IndexBox<3>& whole) {
  if (part.empty()) return part;
  for (int a = 0; a < 3; ++a)
    if (part.last[a] == whole.last[a]) ++part.last[a];
  return part;
}
Cartesian<3> with_walls(Cartesian<3> cut) {
  for (auto& part : cut.parts) part = with_walls(part, cut.whole);
  cut.whole = with_walls(cut.whole, cut.whole);
  return cut;
}

/// A level can be shared when a rank that has points keeps some on the next: no two neighbours go.
bool can_be_shared(const Cartesian<3>& cut, Index together) {
  if (cut.whole.count() < together) return false;
  for (const auto& part : cut.parts)
    for (int a = 0; a < 3; ++a)
      if (!part.empty() && part.size(a) < 2) return false;
  return true;
}

template <class V>
struct Level {
  using T = RealOf<V>;
  Cartesian<3> cut;
  bool shared = false;                  // or whole on every rank
  std::unique_ptr<SharedGrid<T>> grid;  // where shared, and where parts are gathered to the whole
  Network<T> a;
  std::array<AxisSpacing, 3> spacing;
  bool smooth = true;  // or only on the way to a level that is coarser along another axis, too
  Step step;           // to the next level
  Field<V> b, u, v, part_of_b;

  const IndexBox<3>& points() const { return a.points(); }
  bool gathers() const { return grid && !shared; }
  /// Where this rank writes its part of b.
  Field<V>& right() { return gathers() ? part_of_b : b; }
  void right_is_written(Stream& stream) {
    if (gathers()) b.upload(stream, grid->gather(stream, part_of_b));
  }
  void bring(Stream& stream, Field<V>& field) const {
    if (shared) grid->bring(stream, field);
  }
};

/// Chebyshev polynomial of degree 2 on D⁻¹A for [λ/6, λ], λ = 2.
struct Smoother {
  static constexpr double most = 2, least = most / 6;
  static constexpr double middle = (most + least) / 2, half = (most - least) / 2;
  static constexpr double first = half / middle;                     // ρ
  static constexpr double second = 1 / (2 * middle / half - first);  // ρ'
  static constexpr double first_weight = 1 / middle;
  static constexpr double momentum = first * second, weight = 2 * second / half;
};

}  // namespace

template <class V>
struct Multigrid<V>::Hierarchy {
  using T = Real;
  std::vector<Level<V>> levels;

  /// grid: null where this rank has everything.
  Hierarchy(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing,
            const SharedGrid<double>* grid, Index together) {
    levels.reserve(400);
    levels.push_back(finest(stream, fine, spacing, grid, together));
    for (double target = 1.5 * smallest_spacing(spacing); levels.back().cut.whole.count() > 1; target *= 2) {
      bool first_of_target = true;
      for (const int axis : {east, north, up}) {
        auto& level = levels.back();
        const auto kept = thin(level.spacing[static_cast<std::size_t>(axis)], target);
        if (static_cast<Index>(kept.size()) == level.cut.whole.size(axis)) continue;
        if (!first_of_target) level.smooth = false;
        first_of_target = false;
        levels.push_back(coarser(stream, level, axis, kept, together));
      }
    }
    for (auto& level : levels) make_room(stream, level);
  }

  /// levels[l].u = B levels[l].b, its layer brought.  Traffic per point of a level, in numbers: 3
  /// conductances are read five times (four steps and a residual), 17 fields are read or written.
  void cycle(Stream& stream, std::size_t l) {
    auto& level = levels[l];
    const auto points = level.points();
    const NetworkView<T> a(level.a);
    const typename Values<V>::In b = level.b.view();
    const auto u = level.u.view(), v = level.v.view();
    if (l + 1 == levels.size())  // one point
      return for_each(stream, points, FirstStep<V>{a, b, T(1), u});
    constexpr T first = T(Smoother::first_weight), momentum = T(Smoother::momentum),
                weight = T(Smoother::weight);

    for_each(stream, points, FirstStep<V>{a, b, first, v});
    level.bring(stream, level.v);
    for_each(stream, points, ChebyshevStepFromZero<V>{a, b, v, momentum, weight, u});
    level.bring(stream, level.u);

    for_each(stream, points, Residual<V>{a, b, u, v});
    level.bring(stream, level.v);
    const std::size_t coarse = restrict_to_next(stream, l);
    cycle(stream, coarse);
    interpolate_from(stream, coarse, l);

    for_each(stream, points, ChebyshevStepFromZero<V>{a, b, u, T(0), first, v});
    level.bring(stream, level.v);
    for_each(stream, points, ChebyshevStep<V>{a, b, v, u, momentum, weight, u});
    level.bring(stream, level.u);
  }

 private:
  /// An array of a level, from this rank's part of it: with its layers, or all of it.
  static Field<T> complete(Stream& stream, const Level<V>& level, const Cartesian<3>& cut, Field<T> part) {
    if (level.gathers()) {
      auto whole = link_field<T>(stream, level.cut.whole);
      whole.upload(stream, SharedGrid<T>(stream, cut, level.grid->comm()).gather(stream, part), cut.whole);
      return whole;
    }
    if (level.shared) {  // two points above, and those across two axes: restriction of links reads them
      Halo<T, 3> halo(stream, cut, {{1, 1, 1}, {2, 2, 2}, {}, true}, 1, level.grid->comm());
      const View<T, 3> array = part.view();
      halo.exchange(stream, std::span<const View<T, 3>>(&array, 1));
    }
    return part;
  }

  static Level<V> finest(Stream& stream, const Network<double>& fine,
                         const std::array<AxisSpacing, 3>& spacing, const SharedGrid<double>* grid,
                         Index together) {
    Level<V> level;
    level.spacing = spacing;
    const auto part = fine.points();
    const bool several = grid && grid->comm().size() > 1;
    level.cut = several ? grid->partition() : Cartesian<3>{part, {1, 1, 1}, {part}};
    if (several) level.grid = std::make_unique<SharedGrid<T>>(stream, level.cut, grid->comm());
    level.shared = several && can_be_shared(level.cut, together);
    for (int axis = 0; axis < 3; ++axis) {
      const auto n = static_cast<std::size_t>(axis);
      if (spacing[n].points() != level.cut.whole.size(axis) || level.cut.whole.first[axis] != 0)
        throw ShapeError("multigrid", "the spacings of an axis are not one more than its points");
      auto link = link_field<T>(stream, part);
      const auto box = with_walls(part, level.cut.whole);
      for_each(stream, overlap(box, part.grown(axis, 0, 1)),
               Convert<double, T>{fine.link[n].view(), 1, link.view()});
      level.a.link[n] = complete(stream, level, with_walls(level.cut), std::move(link));
    }
    level.a.shift = fine.shift;
    if (!fine.storage.box().empty()) {
      auto storage = link_field<T>(stream, part);
      for_each(stream, part, Convert<double, T>{fine.storage.view(), 1, storage.view()});
      level.a.storage = complete(stream, level, level.cut, std::move(storage));
    }
    return level;
  }

  static Level<V> coarser(Stream& stream, Level<V>& fine, int axis, const std::vector<Index>& kept,
                          Index together) {
    const auto n = static_cast<std::size_t>(axis);
    fine.step = make_step(stream, axis, kept, fine.cut.whole.size(axis));
    Level<V> coarse;
    coarse.spacing = fine.spacing;
    coarse.spacing[n] = thinned(fine.spacing[n], kept);
    coarse.cut = thinned(fine.cut, axis, kept);
    const auto part = thinned(fine.points(), axis, kept), whole = coarse.cut.whole;
    if (fine.shared) {
      coarse.grid = std::make_unique<SharedGrid<T>>(stream, coarse.cut, fine.grid->comm());
      coarse.shared = can_be_shared(coarse.cut, together);
    }
    std::array<Field<T>, 3> links;
    for (auto& link : links) link = link_field<T>(stream, part);
    Field<T> storage;
    with_axis(axis, [&](auto along) {
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
      if (fine.a.storage.box().empty()) return;
      storage = link_field<T>(stream, part);
      for_each(stream, part,
               Restrict<T, a>{link, std::as_const(fine.a.storage).view(), thinning, storage.view()});
    });
    for (std::size_t x = 0; x < 3; ++x)
      coarse.a.link[x] = complete(stream, coarse, with_walls(coarse.cut), std::move(links[x]));
    coarse.a.shift = fine.a.shift;
    if (!storage.box().empty()) coarse.a.storage = complete(stream, coarse, coarse.cut, std::move(storage));
    return coarse;
  }

  static void make_room(Stream& stream, Level<V>& level) {
    level.b = Field<V>(stream, level.points());
    level.u = Field<V>(stream, level.points());
    if (level.smooth) level.v = Field<V>(stream, level.points());
    if (level.gathers()) level.part_of_b = Field<V>(stream, level.grid->part());
  }

  /// The residual in v of level l becomes b of the next level with a smoother, which is returned.
  std::size_t restrict_to_next(Stream& stream, std::size_t l) {
    typename Values<V>::In from = std::as_const(levels[l].v).view();
    for (;; ++l) {
      const auto& fine = levels[l];
      auto& coarse = levels[l + 1];
      auto& to = coarse.right();
      with_axis(fine.step.axis, [&](auto along) {
        for_each(stream, to.points(),
                 Restrict<V, along>{fine.a.link[along].view(), from, fine.step.view(), to.view()});
      });
      coarse.right_is_written(stream);
      if (coarse.smooth) return l + 1;
      coarse.bring(stream, coarse.b);
      from = std::as_const(coarse.b).view();
    }
  }

  /// u of level `fine` += u of level `coarse`, interpolated.
  void interpolate_from(Stream& stream, std::size_t coarse, std::size_t fine) {
    for (std::size_t l = coarse; l-- > fine;) {
      const typename Values<V>::In from = std::as_const(levels[l + 1].u).view();
      auto& level = levels[l];
      with_axis(level.step.axis, [&](auto along) {
        const View<const T, 3> link = level.a.link[along].view();
        if (l == fine)
          for_each(stream, level.points(),
                   Interpolate<V, along, true>{link, from, level.step.view(), level.u.view()});
        else
          for_each(stream, level.points(),
                   Interpolate<V, along, false>{link, from, level.step.view(), level.u.view()});
      });
      level.bring(stream, level.u);
    }
  }
};

template <class V>
Multigrid<V>::Multigrid(Stream& stream, const Network<double>& fine,
                        const std::array<AxisSpacing, 3>& spacing)
    : hierarchy_(std::make_unique<Hierarchy>(stream, fine, spacing, nullptr, 0)) {}
template <class V>
Multigrid<V>::Multigrid(Stream& stream, const Network<double>& fine,
                        const std::array<AxisSpacing, 3>& spacing, const SharedGrid<double>& grid,
                        Index together)
    : hierarchy_(std::make_unique<Hierarchy>(stream, fine, spacing, &grid, together)) {}
template <class V>
Multigrid<V>::~Multigrid() = default;
template <class V>
Multigrid<V>::Multigrid(Multigrid&&) noexcept = default;

template <class V>
void Multigrid<V>::apply(Stream& stream, const Field<Wide>& r, Field<Wide>& z, double scale) {
  for_each(stream, r.points(), Convert<Wide, V>{r.view(), scale, right().view()});
  cycle(stream);
  for_each(stream, r.points(), Convert<V, Wide>{solution().view(), 1 / scale, z.view()});
}

template <class V>
Field<V>& Multigrid<V>::right() {
  return hierarchy_->levels.front().right();
}
template <class V>
void Multigrid<V>::cycle(Stream& stream) {
  hierarchy_->levels.front().right_is_written(stream);
  hierarchy_->cycle(stream, 0);
}
template <class V>
const Field<V>& Multigrid<V>::solution() const {
  return hierarchy_->levels.front().u;
}

template <class V>
void Multigrid<V>::set_shift(double shift) {
  for (auto& level : hierarchy_->levels) level.a.shift = shift;
}

template <class V>
std::vector<IndexBox<3>> Multigrid<V>::levels() const {
  std::vector<IndexBox<3>> boxes;
  for (const auto& level : hierarchy_->levels)
    if (level.smooth) boxes.push_back(level.cut.whole);
  return boxes;
}

template <class V>
double Multigrid<V>::operator_complexity() const {
  double sum = 0;
  for (const auto& box : levels()) sum += static_cast<double>(box.count());
  return sum / static_cast<double>(levels().front().count());
}

template class Multigrid<float>;
template class Multigrid<double>;
template class Multigrid<Complex<float>>;
template class Multigrid<Complex<double>>;

}  // namespace terrane::solve
