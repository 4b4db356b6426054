// Formulas of a time step at one node that all equations share; nodes.hpp has the whole step of a node for
// each equation. All kernels and regions use these expressions, in the same order and with the same
// roundings, so results are bitwise identical whichever kernel computes a node.
#pragma once

#include <cstddef>

#include "terrane/base/function.hpp"
#include "terrane/parallel/arrays/index_box.hpp"
#include "terrane/physics/acoustic/formula/equation.hpp"
#include "terrane/physics/acoustic/formula/stencil.hpp"

namespace terrane::acoustic {

/// Coefficients of differences (formula/stencil.hpp): c_r / h², d_r / h and a_r / h, [axis][r − 1] (a_r:
/// half). They are zero beyond the order and on axes of one node.
template <class T>
struct Stencil {
  T centre = 0, second[3][widest] = {}, first[3][widest] = {}, half[3][widest] = {};
  T centre_of[3] = {};  ///< c_0 / h² of each axis; `centre` is their sum
};

/// ψ and ζ of the absorbing layer on one side. The arrays cover the layer and, with zeros, the nodes around
/// it that stencils read; on a GPU, layers along easting have no such zeros. With variable density ψ is
/// staggered: the ψ of a node lies half-way to the next node, with its own a and b. With a tilted axis the
/// layers of the axis up have ψ and ζ of q, and η of p (nodes.hpp).
template <class T>
struct LayerArrays {
  T *psi = nullptr, *zeta = nullptr, *eta = nullptr;  ///< addresses that node [0, 0, 0] would have
  Index stride[3] = {};                               ///< elements from a node to the next on each axis
  const T *a = nullptr, *b = nullptr;          ///< coefficients of ζ, [index on the absorbing layer's axis]
  const T *a_psi = nullptr, *b_psi = nullptr;  ///< coefficients of ψ, [index on the layer's axis]
  Index first = 0, last = 0;  ///< the absorbing layer's nodes on its axis: first ≤ n < last
};

/// A neighbouring rank on the axis up whose memory this rank can write, and the planes of this rank that the
/// neighbour's stencils read: kernels also write p⁺ and q⁺ of these planes into the neighbour's fields.
template <class T>
struct Beside {
  Index first = 0, last = 0;  ///< planes first ≤ n < last that the neighbour reads; none without a neighbour
  T* next[2] = {};            ///< the neighbour's p⁺ and q⁺: addresses of node [0, 0, 0]
  TERRANE_FN bool reads(Index plane) const { return plane >= first && plane < last; }
};

/// All arguments of a step's kernels. Pointers are the addresses that node [0, 0, 0] would have.
template <class T>
struct StepArguments {
  Stencil<T> stencil;
  const T* now = nullptr;                     ///< p
  T* next = nullptr;                          ///< p⁻ on input, p⁺ on output
  const T* squared = nullptr;                 ///< v²Δt²; with variable density ρv²Δt²
  const T* half_density = nullptr;            ///< ρ/2
  const T* now_q = nullptr;                   ///< q, the second field of a VTI or TTI medium
  T* next_q = nullptr;                        ///< q⁻ on input, q⁺ on output
  const T *wide = nullptr, *mixed = nullptr;  ///< 1 + 2ε, √(1 + 2δ)
  const T* normal[3] = {};                    ///< n, the direction of a tilted axis
  T *along_p = nullptr, *along_q = nullptr;   ///< G p and G q, the derivatives along a tilted axis
  T rounding = 0;                             ///< c of leap_and_back() if steps are to be reversible, else 0
  IndexBox<3> part;                           ///< this rank's nodes
  IndexBox<3> held;                           ///< nodes in a field's memory: `part`, its halo, padding
  Index stride[3] = {};                       ///< elements to the next node; 0 on axes of one node
  LayerArrays<T> layers[3][2];                ///< [axis][side: 0 below, 1 above]
  bool sponge = false;                        ///< whether any side has a sponge
  const T* damping[3] = {};                   ///< dΔt/2 of sponges, d: damping, [axis][index on the axis]
  Beside<T> beside[2];                        ///< the neighbours below and above

  /// Writes p⁺ and q⁺ of a node to the neighbours whose stencils read it.  here: the node's offset
  TERRANE_FN void hand_on(Index here) const {
    for (const auto& other : beside) {
      if (other.first == other.last || !other.reads(plane_of(here))) continue;
      other.next[0][here] = next[here];
      if (next_q != nullptr) other.next[1][here] = next_q[here];
    }
  }
  TERRANE_FN Index plane_of(Index here) const {
    const Index first = held.first[0] * stride[0] + held.first[1] * stride[1] + held.first[2];
    return held.first[0] + (here - first) / stride[0];
  }
};

/// A box of nodes whose steps have the same terms. side[a]: the absorbing layer of axis a that affects the
/// nodes: −1 none, 0 the layer below, 1 the one above. Tiles of the CPU contain whole rows: there `both` on
/// the axis easting means that layers affect some of the nodes.
struct Region {
  static constexpr int both = 2;
  IndexBox<3> box;
  int side[3] = {-1, -1, -1};
  bool sponge = false;

  TERRANE_FN bool plain() const { return side[0] < 0 && side[1] < 0 && side[2] < 0 && !sponge; }
};

/// a · b + c, rounded once if the instruction set has fused multiply-add.
template <class T>
TERRANE_FN T fused(T a, T b, T c) {
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (sizeof(T) == 4) return __builtin_fmaf(a, b, c);
  else return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// a / b for a divisor that is neither huge nor tiny, as densities are. On a GPU in single precision: a times
/// an approximate 1/b, whose error is at most one unit in the last place. The error depends only on b, so it
/// is equivalent to an equal error of the density. Exact division would take four more instructions for
/// each of the three fluxes of a node.
template <class T>
TERRANE_FN T ratio(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) {
    T inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    return __fmul_rn(a, inverse);  // the product is rounded here, so that the compiler does not fuse it with
                                   // a later addition
  }
#endif
  return a / b;
}

/// The sum of second differences (L_up + L_north + L_east) p.  p: pointer to the value at the node
template <int M, class T>
TERRANE_FN T laplacian(const Stencil<T>& s, const T* p, const Index (&stride)[3]) {
  T sum = s.centre * p[0];
  unrolled<M>([&](auto r) {
    constexpr int n = decltype(r)::value;
    const Index k = (n + 1) * stride[0], j = (n + 1) * stride[1];
    sum = fused(s.second[2][n], p[n + 1] + p[-n - 1], sum);
    sum = fused(s.second[1][n], p[j] + p[-j], sum);
    sum = fused(s.second[0][n], p[k] + p[-k], sum);
  });
  return sum;
}

/// The second difference L p along one axis.  step: number of elements to the next node on this axis
template <int M, class T>
TERRANE_FN T second_difference(const T (&c)[widest], T centre, const T* p, Index step) {
  T sum = centre * p[0];
  unrolled<M>([&](auto r) {
    constexpr int n = decltype(r)::value;
    sum = fused(c[n], p[(n + 1) * step] + p[-(n + 1) * step], sum);
  });
  return sum;
}

/// The first difference D p along one axis.
template <int M, class T>
TERRANE_FN T first_difference(const T (&d)[widest], const T* p, Index step) {
  T sum = 0;
  unrolled<M>([&](auto r) {
    constexpr int n = decltype(r)::value;
    sum = fused(d[n], p[(n + 1) * step] - p[-(n + 1) * step], sum);
  });
  return sum;
}

/// The new ψ of an absorbing layer (problem.hpp): b ψ + a D p.
template <int M, class T>
TERRANE_FN T new_psi(const T (&d)[widest], T a, T b, T psi, const T* p, Index step) {
  return fused(b, psi, a * first_difference<M>(d, p, step));
}

/// The staggered difference D⁺p along one axis, half-way to the next node.
template <int M, class T>
TERRANE_FN T half_difference(const T (&a)[widest], const T* p, Index step) {
  T sum = 0;
  for (int n = 0; n < M; ++n) sum = fused(a[n], p[(n + 1) * step] - p[-n * step], sum);
  return sum;
}

/// Whether D⁺ and D⁻ on this axis are computed by difference_of_planes(): on the axis up, in single precision
/// on a GPU.
template <class T>
TERRANE_FN constexpr bool by_planes([[maybe_unused]] int axis) {
#if defined(__CUDA_ARCH__)
  return sizeof(T) == 4 && axis == 0;
#else
  return false;
#endif
}

/// The staggered difference D⁺ or D⁻ along the axis up, summed from the lowest plane up, the order in which
/// tiles of a GPU load planes. of(m): the value in plane m above the point, m = 0 for the nearest; of(−1 −
/// m): the same below it
template <int M, class T, class Of>
TERRANE_FN T difference_of_planes(const T (&a)[widest], const Of& of) {
  T sum = -a[M - 1] * of(-M);
  unrolled<M - 1>([&](auto n) { sum = fused(-a[M - 2 - n], of(n + 1 - M), sum); });
  unrolled<M>([&](auto n) { sum = fused(a[n], of(n), sum); });
  return sum;
}

/// The new ψ of an absorbing layer with variable density: b ψ + a D⁺p.
template <int M, class T>
TERRANE_FN T new_psi_half_way(const T (&d)[widest], T a, T b, T psi, const T* p, Index step) {
  return fused(b, psi, a * half_difference<M>(d, p, step));
}

/// The new ζ of an absorbing layer (problem.hpp): b ζ + a (L p + D ψ).  slope: D ψ
template <int M, class T>
TERRANE_FN T new_zeta(const T (&c)[widest], T centre, T a, T b, T zeta, T slope, const T* p, Index step) {
  return fused(b, zeta, a * (second_difference<M>(c, centre, p, step) + slope));
}

/// The field that the equation differentiates on this axis: q on the axis up in a VTI or TTI medium,
/// else p.
template <class T>
TERRANE_FN const T* field_on(const StepArguments<T>& g, int axis) {
  return axis == 0 && g.now_q != nullptr ? g.now_q : g.now;
}

/// Updates ψ at a node of the absorbing layer.
template <Equation equation, int M, class T>
TERRANE_FN void update_psi(const StepArguments<T>& g, int axis, int side, Index k, Index j, Index i) {
  const LayerArrays<T>& layer = g.layers[axis][side];
  const Index at = axis == 0 ? k : axis == 1 ? j : i;
  const T* const p = field_on(g, axis) + k * g.stride[0] + j * g.stride[1] + i;
  T& psi = layer.psi[k * layer.stride[0] + j * layer.stride[1] + i];
  if constexpr (equation == Equation::variable_density)
    psi = new_psi_half_way<M>(g.stencil.half[axis], layer.a_psi[at], layer.b_psi[at], psi, p, g.stride[axis]);
  else psi = new_psi<M>(g.stencil.first[axis], layer.a_psi[at], layer.b_psi[at], psi, p, g.stride[axis]);
}

/// The first difference D ψ along one axis. Beyond the absorbing layer ψ is zero, and on a GPU may have no
/// memory.  at: the node's index
template <int M, class T>
TERRANE_FN T slope_of_psi(const T (&d)[widest], const LayerArrays<T>& layer, Index at, const T* psi,
                          Index step) {
  const auto psi_at = [&](Index away) {
    return at + away >= layer.first && at + away < layer.last ? psi[away * step] : T(0);
  };
  T sum = 0;
  unrolled<M>([&](auto r) {
    constexpr int n = decltype(r)::value;
    sum = fused(d[n], psi_at(n + 1) - psi_at(-n - 1), sum);
  });
  return sum;
}

/// D ψ + ζ, the term of an absorbing layer in A p at a node. If the node is in the layer its ζ is updated
/// first; at nodes beside the layer the stencil reads ψ of the layer, but there is no ζ.
template <int M, class T>
TERRANE_FN T layer_term(const StepArguments<T>& g, int axis, int side, Index k, Index j, Index i) {
  const LayerArrays<T>& layer = g.layers[axis][side];
  const Index at = axis == 0 ? k : axis == 1 ? j : i;
  const Index here = k * layer.stride[0] + j * layer.stride[1] + i;
  T& zeta = layer.zeta[here];
  const T slope = slope_of_psi<M>(g.stencil.first[axis], layer, at, layer.psi + here, layer.stride[axis]);
  if (at < layer.first || at >= layer.last) return slope;
  const T* const p = field_on(g, axis) + k * g.stride[0] + j * g.stride[1] + i;
  zeta = new_zeta<M>(g.stencil.second[axis], g.stencil.centre_of[axis], layer.a[at], layer.b[at], zeta, slope,
                     p, g.stride[axis]);
  return slope + zeta;
}

/// The leapfrog step p⁺ = 2p − p⁻ + v²Δt² A p (problem.hpp).
template <class T>
TERRANE_FN T leap(T now, T before, T squared, T a_p) {
  return fused(squared, a_p, fused(T(2), now, -before));
}

/// Rounds `value` to the nearest multiple of the unit in the last place of c.
template <class T>
TERRANE_FN T rounded_to_grains(T value, T c) {
  return (value + c) - c;
}

/// p⁺ of a step that can be reversed bit by bit: p⁺ + p⁻ is rounded, then p⁻ is subtracted without error.
template <class T>
TERRANE_FN T leap_and_back(T now, T before, T squared, T a_p, T c) {
  return rounded_to_grains(fused(squared, a_p, T(2) * now), c) - before;
}

/// The step in a sponge: p⁺ = (2p − (1 − s) p⁻ + v²Δt² A p) / (1 + s),  s = dΔt/2, d: damping
template <class T>
TERRANE_FN T leap_through_sponge(T now, T before, T squared, T a_p, T s) {
  return fused(squared, a_p, fused(T(2), now, -((1 - s) * before))) / (1 + s);
}

/// Computes p⁺ of a node from its A p.
template <class T>
TERRANE_FN void leap_at(const StepArguments<T>& g, const Region& region, Index k, Index j, Index i,
                        const T* now, T* next, T a_p) {
  const Index here = k * g.stride[0] + j * g.stride[1] + i;
  if (region.sponge)
    next[here] = leap_through_sponge(now[here], next[here], g.squared[here], a_p,
                                     g.damping[0][k] + g.damping[1][j] + g.damping[2][i]);
  else if (g.rounding > 0)
    next[here] = leap_and_back(now[here], next[here], g.squared[here], a_p, g.rounding);
  else next[here] = leap(now[here], next[here], g.squared[here], a_p);
}

}  // namespace terrane::acoustic
