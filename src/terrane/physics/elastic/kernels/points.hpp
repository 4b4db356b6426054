// Time steps at the points: one pass sums the forces and advances w and u, so that a point's values are read
// and written once.
//
//   w⁺ = w + Δt²/m Σ f,   u⁺ = u + w⁺
//
// w: change of displacement over a step; u: displacement; m: mass of the point; f: forces of elements.
//
// A contribution is the force of one element at one of its points. Memory traffic per point in single
// precision: u and w read and written, 64 B; per contribution 12 B on the CPU or 16 B on devices, and 4 B for
// its index. An element of degree 4 has 125 contributions, and on average 65 points, because elements share
// points.
#pragma once

#include <cstddef>
#include <cstdint>

#include "terrane/base/function.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"

namespace terrane::elastic {

/// Forces in the layout of the lane kernels: components are `stride` elements apart.
template <class T>
struct ForceRows {
  const T* data;
  std::size_t stride;
  TERRANE_FN void add(std::uint32_t at, T& x, T& y, T& z) const {
    const T* const f = data + at;
    x += f[0];
    y += f[stride];
    z += f[2 * stride];
  }
};

/// Forces in the layout of device kernels.
template <class T>
struct ForceQuads {
  const Vec4<T>* data;
  TERRANE_FN void add(std::uint32_t at, T& x, T& y, T& z) const {
    const Vec4<T> f = data[at];
    x += f.x;
    y += f.y;
    z += f.z;
  }
};

/// Sets the change w of a point to zero, and its fourth number to Δt² / m.
template <class T>
struct RestWithFactor {
  const T* factor;
  Vec4<T>* w;
  TERRANE_FN void operator()(std::size_t n) const { w[n] = {0, 0, 0, factor[n]}; }
};

/// The indices of a point's contributions in the array of all elements' forces. Most points have one or two:
/// then `first` and `second` are the indices (`second` is `none` if there is only one). For points with more,
/// `first` is the position in Contributions::list at which the indices begin, and `second` is their number,
/// with the highest bit set.
struct ContributionPlaces {
  static constexpr std::uint32_t many = 1u << 31, none = UINT32_MAX;
  std::uint32_t first, second;
};

/// Sums the contributions to a point in the order of elements.
template <class Forces, class T>
struct Contributions {
  const ContributionPlaces* places;
  const std::uint32_t* list;
  Forces force;
  TERRANE_FN void sum(std::size_t point, T& x, T& y, T& z) const {
    const ContributionPlaces at = places[point];
    x = y = z = 0;
    if (at.second < ContributionPlaces::many || at.second == ContributionPlaces::none) {
      force.add(at.first, x, y, z);
      if (at.second != ContributionPlaces::none) force.add(at.second, x, y, z);
    } else {
      const std::uint32_t last = at.first + (at.second & ~ContributionPlaces::many);
      for (std::uint32_t n = at.first; n < last; ++n) force.add(list[n], x, y, z);
    }
  }
};
/// Reads forces that atomic additions have already summed, and sets them to zero for the next step.
template <class T>
struct AddedForces {
  Vec4<T>* force;
  TERRANE_FN void sum(std::size_t point, T& x, T& y, T& z) const {
    const Vec4<T> f = force[point];
    x = f.x;
    y = f.y;
    z = f.z;
    force[point] = {0, 0, 0, 0};
  }
};

template <class Sum, class T>
struct Leap {
  Sum forces;
  Vec4<T>*w, *u;
  TERRANE_FN void operator()(std::size_t point) const {
    Vec4<T> now = w[point], at = u[point];
    if (now.w == 0) return;  // u of this point is fixed, or LeapAndLeave or LeapInContact advances it
    T x, y, z;
    forces.sum(point, x, y, z);
    now.x += now.w * x;
    now.y += now.w * y;
    now.z += now.w * z;
    w[point] = now;
    at.x += now.x;
    at.y += now.y;
    at.z += now.z;
    u[point] = at;
  }
};

/// The step at points of absorbing sides and matched layers: w⁺ = R (2 w + Δt²/m Σ f) − w, where the
/// symmetric matrix R contains the damping at the point (Part::leaving).
template <class Sum, class T>
struct LeapAndLeave {
  Sum forces;
  const std::uint32_t* points;
  const T* leaving;  // [points][7]: R (xx, yy, zz, yz, xz, xy), Δt²/m
  Vec4<T>*w, *u;
  TERRANE_FN void operator()(std::size_t n) const {
    const std::uint32_t point = points[n];
    const T* const r = leaving + 7 * n;
    Vec4<T> now = w[point], at = u[point];
    T x, y, z;
    forces.sum(point, x, y, z);
    x = now.x + now.x + r[6] * x;
    y = now.y + now.y + r[6] * y;
    z = now.z + now.z + r[6] * z;
    now.x = r[0] * x + r[5] * y + r[4] * z - now.x;
    now.y = r[5] * x + r[1] * y + r[3] * z - now.y;
    now.z = r[4] * x + r[3] * y + r[2] * z - now.z;
    w[point] = now;
    at.x += now.x;
    at.y += now.y;
    at.z += now.z;
    u[point] = at;
  }
};

/// Steps at contacts of a fluid and a solid, where two points have the same position. First the fluid's point
/// is advanced, driven by the displacement of the solid; then the solid's, driven by the pressure at the same
/// instant (problem.hpp). numbers: [contacts][contact_numbers]: the vector a, area times normal
/// (Contact::area); R and Δt²/m of the fluid; a/m, Δt²/m and R of the solid.
inline constexpr int contact_numbers = 15;
template <class Sum, class T>
struct LeapInContact {
  Sum forces;
  const std::uint32_t* points;  // [contacts][fluid, solid]
  const T* numbers;
  Vec4<T>*w, *u;
  TERRANE_FN void operator()(std::size_t n) const {
    const std::uint32_t fluid = points[2 * n], solid = points[2 * n + 1];
    const T *const a = numbers + contact_numbers * n, *const b = a + 5, *const r = a + 9;
    Vec4<T> now = w[fluid], at = u[fluid], moves = w[solid], is = u[solid];
    T x, y, z;
    forces.sum(fluid, x, y, z);
    const T before = now.x;
    now.x = a[3] * (now.x + now.x + a[4] * (x - (a[0] * is.x + a[1] * is.y + a[2] * is.z))) - now.x;
    at.x += now.x;
    w[fluid] = now;
    u[fluid] = at;
    const T change = now.x - before;  // Δt² times the second derivative of the potential
    forces.sum(solid, x, y, z);
    x = moves.x + moves.x + b[3] * x + b[0] * change;
    y = moves.y + moves.y + b[3] * y + b[1] * change;
    z = moves.z + moves.z + b[3] * z + b[2] * change;
    moves.x = r[0] * x + r[5] * y + r[4] * z - moves.x;
    moves.y = r[5] * x + r[1] * y + r[3] * z - moves.y;
    moves.z = r[4] * x + r[3] * y + r[2] * z - moves.z;
    is.x += moves.x;
    is.y += moves.y;
    is.z += moves.z;
    w[solid] = moves;
    u[solid] = is;
  }
};

/// Sums the changes of w that sources cause at points in several steps, at each point in the order of its
/// sources. A fault of 100,000 point sources has ten million pairs of a source and a point: they are read
/// once for four steps.
template <class T>
struct SumPushes {
  static constexpr std::size_t steps = 4;

  const std::uint32_t *first, *source;  // source[first[n]] … source[first[n + 1] − 1] act on point n
  const T* change;  // [pairs of a point and a source][3]: change of w if the source's time function is 1
  const T* course;  // [blocks · steps][sources]: values of the time functions
  std::size_t sources, pushed, blocks;
  T* push;  // [blocks · steps][pushed][3]: sums at the `pushed` points on which sources act
  TERRANE_FN void operator()(std::size_t item) const {
    const std::size_t n = item / blocks, block = item % blocks;
    T sum[3][steps] = {};
    for (std::uint32_t s = first[n]; s < first[n + 1]; ++s) {
      T now[steps];
      for (std::size_t k = 0; k < steps; ++k) now[k] = course[(block * steps + k) * sources + source[s]];
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t k = 0; k < steps; ++k) sum[c][k] += change[3 * std::size_t{s} + c] * now[k];
    }
    for (std::size_t k = 0; k < steps; ++k)
      for (std::size_t c = 0; c < 3; ++c) push[((block * steps + k) * pushed + n) * 3 + c] = sum[c][k];
  }
};

/// Adds the changes that sources cause at a point to w and u.
template <class T>
struct Push {
  const std::uint32_t* points;
  const T* push;  // [points][3] changes in this step
  Vec4<T>*w, *u;
  TERRANE_FN void operator()(std::size_t n) const {
    const T x = push[3 * n], y = push[3 * n + 1], z = push[3 * n + 2];
    Vec4<T>&v = w[points[n]], &at = u[points[n]];
    v.x += x;
    v.y += y;
    v.z += z;
    at.x += x;
    at.y += y;
    at.z += z;
  }
};

/// Records the change of displacement at receivers over the last step.
template <class T>
struct Record {
  const std::uint32_t* points;  // [receivers][points of an element]
  const T* weight;              // [receivers][points of an element]: basis functions at the receiver
  std::size_t each;
  const Vec4<T>* w;
  T* series;  // [receivers][3]

  /// Adds to `sum` the weighted values at every `stride`-th point of the receiver's element, from index
  /// `first` on.
  TERRANE_FN void add(std::size_t receiver, std::size_t first, std::size_t stride, T (&sum)[3]) const {
    for (std::size_t n = receiver * each + first; n < (receiver + 1) * each; n += stride) {
      const Vec4<T>& v = w[points[n]];
      sum[0] += weight[n] * v.x;
      sum[1] += weight[n] * v.y;
      sum[2] += weight[n] * v.z;
    }
  }
  TERRANE_FN void operator()(std::size_t receiver) const {
    T sum[3] = {0, 0, 0};
    add(receiver, 0, 1, sum);
    for (std::size_t c = 0; c < 3; ++c) series[3 * receiver + c] = sum[c];
  }
};

/// Records at receivers in fluids, where the displacement is ∇χ/ρ: its change over the last step, or, if
/// pressure is recorded, the change of the potential χ as first component.
template <class T>
struct RecordPotential {
  const std::uint32_t* points;  // [receivers][points of an element]
  const T* weight;              // [receivers][points of an element][3]
  std::size_t each;
  const Vec4<T>* w;
  T* series;  // [receivers][3]

  TERRANE_FN void add(std::size_t receiver, std::size_t first, std::size_t stride, T (&sum)[3]) const {
    for (std::size_t n = receiver * each + first; n < (receiver + 1) * each; n += stride) {
      const T potential = w[points[n]].x;
      for (std::size_t c = 0; c < 3; ++c) sum[c] += weight[3 * n + c] * potential;
    }
  }
  TERRANE_FN void operator()(std::size_t receiver) const {
    T sum[3] = {0, 0, 0};
    add(receiver, 0, 1, sum);
    for (std::size_t c = 0; c < 3; ++c) series[3 * receiver + c] = sum[c];
  }
};

/// Does the work of Record and RecordPotential on devices. There, a single thread would wait for 125 points
/// one after the other; instead a group of threads computes a receiver, each thread sums every 32nd point,
/// and these sums are added in a fixed order.
template <class T>
struct RecordByGroups {
  static constexpr int groups_at_once = 32;

  Record<T> solid;
  RecordPotential<T> fluid;  ///< records at the receivers from index in_solid on
  std::size_t in_solid;

  struct Shared {
    T sum[group_threads][3];
  };
  struct Thread {};

  TERRANE_FN std::size_t steps(std::size_t) const { return 1; }
  TERRANE_FN void begin(Shared& shared, Thread&, std::size_t receiver, int thread) const {
    T sum[3] = {0, 0, 0};
    const auto first = static_cast<std::size_t>(thread);
    if (receiver < in_solid) solid.add(receiver, first, group_threads, sum);
    else fluid.add(receiver - in_solid, first, group_threads, sum);
    for (int c = 0; c < 3; ++c) shared.sum[thread][c] = sum[c];
  }
  TERRANE_FN void load(Shared&, Thread&, std::size_t, std::size_t, int) const {}
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t receiver, std::size_t, int thread) const {
    if (thread >= 3) return;
    T sum = 0;
    for (int n = 0; n < group_threads; ++n) sum += shared.sum[n][thread];
    solid.series[3 * receiver + static_cast<std::size_t>(thread)] = sum;
  }
  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

/// Adds sources and records at receivers in one launch; used only if no source acts on a point that a
/// receiver reads, because both run at the same time.
template <class T>
struct PushAndRecord {
  static constexpr int groups_at_once = RecordByGroups<T>::groups_at_once;

  RecordByGroups<T> record;
  Push<T> push;
  std::size_t receivers, pushed;

  using Shared = typename RecordByGroups<T>::Shared;
  using Thread = typename RecordByGroups<T>::Thread;

  std::size_t groups() const { return receivers + (pushed + group_threads - 1) / group_threads; }
  TERRANE_FN std::size_t steps(std::size_t) const { return 1; }
  TERRANE_FN void begin(Shared& shared, Thread& mine, std::size_t group, int thread) const {
    if (group < receivers) return record.begin(shared, mine, group, thread);
    const std::size_t n = (group - receivers) * group_threads + static_cast<std::size_t>(thread);
    if (n < pushed) push(n);
  }
  TERRANE_FN void load(Shared&, Thread&, std::size_t, std::size_t, int) const {}
  TERRANE_FN void work(Shared& shared, Thread& mine, std::size_t group, std::size_t step, int thread) const {
    if (group < receivers) record.work(shared, mine, group, step, thread);
  }
  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

/// Copies the values at some points into a contiguous array.
template <class T>
struct Pick {
  const std::uint32_t* points;
  const Vec4<T>* from;
  Vec4<T>* to;
  TERRANE_FN void operator()(std::size_t n) const { to[n] = from[points[n]]; }
};

/// Copies the contributions that another rank needs, without summing them.
template <class T>
struct PackRows {
  const T* force;
  std::size_t stride;
  const std::uint32_t* at;
  T* out;
  TERRANE_FN void operator()(std::size_t n) const {
    for (std::size_t c = 0; c < 3; ++c) out[3 * n + c] = force[at[n] + c * stride];
  }
};
template <class T>
struct UnpackRows {
  const T* in;
  const std::uint32_t* at;
  T* force;
  std::size_t stride;
  TERRANE_FN void operator()(std::size_t n) const {
    for (std::size_t c = 0; c < 3; ++c) force[at[n] + c * stride] = in[3 * n + c];
  }
};

}  // namespace terrane::elastic
