// One level of a multigrid cycle on a CPU: two passes over memory instead of eleven or more.
//
// On the way down, plane after plane: the first step of the smoother, the second from it, the residual, and
// its restriction along east, north and up. On the way up: interpolation along up, north and east, added to
// what the way down left, and both steps of the smoother. What a step needs of the one before are three
// planes, which stay in the cache of the core: a pass reads b, S and conductances once and writes one field.
// Threads share a level in blocks of planes and rows; what lies around a block is computed again, up to three
// points from it.
//
// Every value is computed by the formulas of kernels.hpp, rounded as there: the bits are those of
// one kernel after the other, which is the slow twin (Transfers::axis_by_axis).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "terrane/parallel/simd/wide_rows.hpp"
#include "terrane/solve/multigrid/kernels.hpp"

namespace terrane::solve {

/// Per axis, where links are kept of removed points alone: the place in their array by index of the fine
/// point. Empty: links of all points are kept.
using PlacesOfRemoved = std::array<View<const std::int32_t>, 3>;
/// The place of the links of a removed point; along east all links are kept.
template <int Axis>
Place place_of_weights(const PlacesOfRemoved& removed, const Place& p) {
  const auto& places = removed[Axis];
  return places.size == 0 ? p : p.with<Axis>(places[static_cast<std::size_t>(p.get<Axis>())]);
}

/// The pass down: a level and the transfer to the next. Boxes: points of this rank, with those that it
/// computes around its part.
template <class V, class W, class A>
struct PassDown {
  A a;
  RealOf<V> first, momentum, weight;  // of the smoother
  AxisStep<W> axis[3];
  IndexBox<3> held, points;  // points where b is known, and where u is wanted
  IndexBox<3> coarse;        // coarse points where the restricted residual is wanted
  typename Values<V>::In b;
  typename Values<V>::Out u, right;  // u after both steps; the restricted residual
  PlacesOfRemoved removed = {};
};

template <class V, class W, class A>
struct PassUp {
  A a;
  RealOf<V> first, momentum, weight;
  AxisStep<W> axis[3];
  IndexBox<3> held, between, points;  // where the corrected u, the first step and the second are computed
  IndexBox<3> coarse;                 // coarse points where the correction is known; beyond them it is zero
  typename Values<V>::In b, u, correction;
  typename Values<V>::Out next;
  PlacesOfRemoved removed = {};
};

/// Whether this processor has passes for cycles in V: in single precision and, on x86, with AVX2. For others
/// they are not compiled, as that takes long; kernels run one by one.
template <class V>
bool has_passes() {
#if defined(__x86_64__) && defined(__GNUC__)
  return std::is_same_v<RealOf<V>, float> && terrane::detail::has_wide_rows();
#else
  return std::is_same_v<RealOf<V>, float>;
#endif
}

/// Runs a pass on `threads` threads. Precondition: has_passes().
template <class V, class W, class A>
void run_pass(const PassDown<V, W, A>& pass, int threads);
template <class V, class W, class A>
void run_pass(const PassUp<V, W, A>& pass, int threads);

}  // namespace terrane::solve
