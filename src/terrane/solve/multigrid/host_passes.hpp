// One level of a multigrid cycle on a CPU: two passes over memory instead of eleven or more.
//
// The pass down computes, plane after plane, both steps of the smoother, the residual, and its restriction
// along east, north and up. The pass up computes the interpolation along up, north and east, adds this to u
// of the pass down, and computes both steps of the smoother. A step needs three planes of the previous step,
// which stay in the cache of the core: a pass reads the right-hand side, the storage S and conductances once
// and writes one field. Threads divide a level into blocks of planes and rows; up to three points around a
// block are computed again.
//
// Every value is computed by the formulas of kernels.hpp and rounded in the same way: the result has the same
// bits as the slower separate kernels (Transfers::axis_by_axis).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "terrane/parallel/simd/wide_rows.hpp"
#include "terrane/solve/multigrid/kernels.hpp"

namespace terrane::solve {

/// For each axis along which only links of removed points are kept: the index in the link array, for each
/// fine point. Empty: links of all points are kept.
using PlacesOfRemoved = std::array<View<const std::int32_t>, 3>;
/// The point of the link array at which the links of a removed point are stored; along east all links are
/// kept.
template <int Axis>
Place place_of_weights(const PlacesOfRemoved& removed, const Place& p) {
  const auto& places = removed[Axis];
  return places.size == 0 ? p : p.with<Axis>(places[static_cast<std::size_t>(p.get<Axis>())]);
}

/// The pass down: smoothing of a level (right-hand side b, solution u) and the transfer to the next one.
/// Boxes contain this rank's points and those of the halo that it computes.
template <class V, class W, class A>
struct PassDown {
  A a;
  RealOf<V> first, momentum, weight;  // coefficients of the smoother
  AxisStep<W> axis[3];
  IndexBox<3> held, points;  // points where b is valid, and where u is computed
  IndexBox<3> coarse;        // coarse points where the restricted residual is computed
  typename Values<V>::In b;
  typename Values<V>::Out u, right;  // u after both steps of the smoother; the restricted residual
  PlacesOfRemoved removed = {};
};

/// The pass up: adds the interpolated correction to u, and smooths. next: u after both steps of the smoother.
template <class V, class W, class A>
struct PassUp {
  A a;
  RealOf<V> first, momentum, weight;
  AxisStep<W> axis[3];
  IndexBox<3> held, between, points;  // points where corrected u, first and second step are computed
  IndexBox<3> coarse;                 // coarse points where the correction is valid; zero elsewhere
  typename Values<V>::In b, u, correction;
  typename Values<V>::Out next;
  PlacesOfRemoved removed = {};
};

/// Whether there are passes for cycles in numbers of type V on this processor: in single precision and, on
/// x86, with AVX2. Otherwise separate kernels are used; passes for these are not compiled, as that takes
/// long.
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
