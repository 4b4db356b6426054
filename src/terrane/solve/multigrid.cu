// The hierarchy and the cycle, as multigrid.hpp describes them:
//   thin()              which points of an axis stay at a target spacing
//   Hierarchy()         levels, each coarser along one axis than the one before; the smoother runs on some of
//   them Hierarchy::cycle()  smooth, restrict the residual, correct from the next level, smooth
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

template <class T>
struct Level {
  Network<T> a;
  std::array<AxisSpacing, 3> spacing;
  bool smooth = true;  // or only on the way to a level that is coarser along another axis, too
  Step step;           // to the next level
  Field<T> inverse_diagonal;
  Field<T> b, u, v;

  const IndexBox<3>& points() const { return a.points(); }
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

template <class T>
struct Multigrid<T>::Hierarchy {
  std::vector<Level<T>> levels;

  Hierarchy(Stream& stream, const Network<double>& fine, const std::array<AxisSpacing, 3>& spacing) {
    levels.reserve(400);
    levels.push_back(finest(stream, fine, spacing));
    for (double target = 1.5 * smallest_spacing(spacing); levels.back().points().count() > 1; target *= 2) {
      bool first_of_target = true;
      for (const int axis : {east, north, up}) {
        auto& level = levels.back();
        const auto kept = thin(level.spacing[static_cast<std::size_t>(axis)], target);
        if (static_cast<Index>(kept.size()) == level.points().size(axis)) continue;
        if (!first_of_target) level.smooth = false;
        first_of_target = false;
        levels.push_back(coarser(stream, level, axis, kept));
      }
    }
    for (auto& level : levels) make_room(stream, level);
  }

  /// levels[l].u = B levels[l].b.  Traffic per point of a level, in numbers: 3 conductances are read four
  /// times (three steps and a residual), 22 fields are read or written.
  void cycle(Stream& stream, std::size_t l) {
    auto& level = levels[l];
    const auto points = level.points();
    if (l + 1 == levels.size()) {  // one point
      for_each(stream, points,
               FirstStep<T>{level.inverse_diagonal.view(), level.b.view(), T(1), level.u.view()});
      return;
    }
    const NetworkView<T> a(level.a);
    const View<const T, 3> d = level.inverse_diagonal.view(), b = level.b.view();
    const auto u = level.u.view(), v = level.v.view();
    constexpr T first = T(Smoother::first_weight), momentum = T(Smoother::momentum),
                weight = T(Smoother::weight);

    for_each(stream, points, FirstStep<T>{d, b, first, v});
    for_each(stream, points, ChebyshevStepFromZero<T>{a, d, b, v, momentum, weight, u});

    for_each(stream, points, Residual<T>{a, b, u, v});
    const std::size_t coarse = restrict_to_next(stream, l);
    cycle(stream, coarse);
    interpolate_from(stream, coarse, l);

    for_each(stream, points, ChebyshevStepFromZero<T>{a, d, b, u, T(0), first, v});
    for_each(stream, points, ChebyshevStep<T>{a, d, b, v, u, momentum, weight, u});
  }

 private:
  static Level<T> finest(Stream& stream, const Network<double>& fine,
                         const std::array<AxisSpacing, 3>& spacing) {
    Level<T> level;
    level.spacing = spacing;
    const auto points = fine.points();
    for (int axis = 0; axis < 3; ++axis) {
      const auto n = static_cast<std::size_t>(axis);
      if (spacing[n].points() != points.size(axis))
        throw ShapeError("multigrid", "the spacings of an axis are not one more than its points");
      level.a.link[n] = Field<T>(stream, points);
      for_each(stream, points.grown(axis, 0, 1),
               Convert<double, T>{fine.link[n].view(), 1, level.a.link[n].view()});
    }
    level.a.shift = fine.shift;
    if (fine.shift != 0) {
      level.a.storage = Field<T>(stream, points);
      for_each(stream, points, Convert<double, T>{fine.storage.view(), 1, level.a.storage.view()});
    }
    return level;
  }

  static Level<T> coarser(Stream& stream, Level<T>& fine, int axis, const std::vector<Index>& kept) {
    const auto n = static_cast<std::size_t>(axis);
    fine.step = make_step(stream, axis, kept, fine.points().size(axis));
    Level<T> coarse;
    coarse.spacing = fine.spacing;
    coarse.spacing[n] = thinned(fine.spacing[n], kept);
    const auto points = fine.points().with(axis, 0, static_cast<Index>(kept.size()));
    for (auto& link : coarse.a.link) link = Field<T>(stream, points);
    coarse.a.shift = fine.a.shift;
    if (fine.a.shift != 0) coarse.a.storage = Field<T>(stream, points);
    with_axis(axis, [&](auto along) {
      constexpr int a = along, b = (a + 1) % 3, c = (a + 2) % 3;
      const View<const T, 3> link = fine.a.link[a].view();
      const auto thinning = fine.step.view();
      for_each(stream, points.grown(a, 0, 1), CoarseLinkAlong<T, a>{link, thinning, coarse.a.link[a].view()});
      for_each(stream, points.grown(b, 0, 1),
               CoarseLinkAcross<T, a, b>{link, fine.a.link[b].view(), thinning, points.size(b),
                                         coarse.a.link[b].view()});
      for_each(stream, points.grown(c, 0, 1),
               CoarseLinkAcross<T, a, c>{link, fine.a.link[c].view(), thinning, points.size(c),
                                         coarse.a.link[c].view()});
      if (fine.a.shift != 0)
        for_each(stream, points,
                 Restrict<T, a>{link, fine.a.storage.view(), thinning, coarse.a.storage.view()});
    });
    return coarse;
  }

  static void make_room(Stream& stream, Level<T>& level) {
    level.b = Field<T>(stream, level.points());
    level.u = Field<T>(stream, level.points());
    if (!level.smooth) return;
    level.v = Field<T>(stream, level.points());
    level.inverse_diagonal = Field<T>(stream, level.points());
    for_each(stream, level.points(),
             InverseDiagonal<T>{NetworkView<T>(level.a), level.inverse_diagonal.view()});
  }

  /// The residual in v of level l becomes b of the next level with a smoother, which is returned.
  std::size_t restrict_to_next(Stream& stream, std::size_t l) {
    View<const T, 3> from = levels[l].v.view();
    for (;; ++l) {
      const auto& fine = levels[l];
      auto& coarse = levels[l + 1];
      with_axis(fine.step.axis, [&](auto along) {
        for_each(stream, coarse.points(),
                 Restrict<T, along>{fine.a.link[along].view(), from, fine.step.view(), coarse.b.view()});
      });
      if (coarse.smooth) return l + 1;
      from = coarse.b.view();
    }
  }

  /// u of level `fine` += u of level `coarse`, interpolated.
  void interpolate_from(Stream& stream, std::size_t coarse, std::size_t fine) {
    for (std::size_t l = coarse; l-- > fine;) {
      const View<const T, 3> from = levels[l + 1].u.view();
      auto& level = levels[l];
      with_axis(level.step.axis, [&](auto along) {
        const View<const T, 3> link = level.a.link[along].view();
        if (l == fine)
          for_each(stream, level.points(),
                   Interpolate<T, along, true>{link, from, level.step.view(), level.u.view()});
        else
          for_each(stream, level.points(),
                   Interpolate<T, along, false>{link, from, level.step.view(), level.u.view()});
      });
    }
  }
};

template <class T>
Multigrid<T>::Multigrid(Stream& stream, const Network<double>& fine,
                        const std::array<AxisSpacing, 3>& spacing)
    : hierarchy_(std::make_unique<Hierarchy>(stream, fine, spacing)) {}
template <class T>
Multigrid<T>::~Multigrid() = default;
template <class T>
Multigrid<T>::Multigrid(Multigrid&&) noexcept = default;

template <class T>
void Multigrid<T>::apply(Stream& stream, const Field<double>& r, Field<double>& z, double scale) {
  auto& finest = hierarchy_->levels.front();
  for_each(stream, r.points(), Convert<double, T>{r.view(), scale, finest.b.view()});
  hierarchy_->cycle(stream, 0);
  for_each(stream, r.points(), Convert<T, double>{std::as_const(finest.u).view(), 1 / scale, z.view()});
}

template <class T>
std::vector<IndexBox<3>> Multigrid<T>::levels() const {
  std::vector<IndexBox<3>> boxes;
  for (const auto& level : hierarchy_->levels)
    if (level.smooth) boxes.push_back(level.points());
  return boxes;
}

template <class T>
double Multigrid<T>::operator_complexity() const {
  double sum = 0;
  for (const auto& box : levels()) sum += static_cast<double>(box.count());
  return sum / static_cast<double>(levels().front().count());
}

template class Multigrid<float>;
template class Multigrid<double>;

}  // namespace terrane::solve
