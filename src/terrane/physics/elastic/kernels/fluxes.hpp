// Computation at a point of an element on devices: fluxes of momentum from derivatives of the displacement.
#pragma once

#include <cstddef>

#include "terrane/base/function.hpp"
#include "terrane/physics/elastic/element/stress.hpp"
#include "terrane/physics/elastic/kernels/numbers.hpp"

namespace terrane::elastic {

/// The point at which fluxes are computed. medium: the element's constant values (even_numbers()). varying:
/// the values of the medium at this point, if they vary within the element (point_numbers()). memory: the
/// point's first memory variable; the others follow at distances of `each` numbers. u: displacement. Used
/// only in matched layers: axes, along which waves are damped; at, indices of the point along ξ, η, ζ, below
/// `points`.
template <class T>
struct Here {
  const T* medium;
  T varying[2];
  T* memory;
  std::size_t each;
  const Recursion<T>* recursion;
  unsigned axes;
  int points, at[3];
  Vec4<T> u;
};

/// In a fluid with the potential χ: along[r] = weight det ∇χ·∇ξ_r / ρ (det: determinant of the map).  du:
/// derivatives of χ, [ξ, η, ζ]; a, weight: as in fluxes(); scale: weight times factor; lightness: 1/ρ
template <class T>
TERRANE_FN void fluxes_of_potential(const T (&du)[3], const T (&a)[9], T scale, T lightness,
                                    Vec4<T> (&along)[3]) {
  T g[3];
  TERRANE_UNROLL
  for (int d = 0; d < 3; ++d) g[d] = lightness * scale * (du[0] * a[d] + du[1] * a[3 + d] + du[2] * a[6 + d]);
  TERRANE_UNROLL
  for (int row = 0; row < 3; ++row)
    along[row] = {g[0] * a[3 * row] + g[1] * a[3 * row + 1] + g[2] * a[3 * row + 2], 0, 0, 0};
}

/// along[r] = weight det σ·∇ξ_r (det: determinant of the map); in matched layers also the inertia force.
/// du: derivatives of displacement, [component][ξ, η, ζ]; a: rows proportional to ∇ξ_r; det σ·∇ξ_r is
/// factor σ(du·a)·a; weight: quadrature weight.
template <Rheology rheology, class T>
TERRANE_FN void fluxes(const T (&du)[3][3], const T (&a)[9], T factor, T weight, const Here<T>& here,
                       Vec4<T> (&along)[3], Vec4<T>& inertia) {
  const T *const r = here.medium, scale = weight * factor;
  const auto kept = [&](int m) -> T& { return here.memory[static_cast<std::size_t>(m) * here.each]; };
  if constexpr (is_potential(rheology))
    return fluxes_of_potential(du[0], a, scale, point_numbers(rheology) > 0 ? here.varying[0] : r[0], along);
  T gradient[3][3];
  TERRANE_UNROLL
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) gradient[c][d] = du[c][0] * a[d] + du[c][1] * a[3 + d] + du[c][2] * a[6 + d];
  if constexpr (rheology == Rheology::matched) {
    T of[3][3][3], t[3][3], push[3];
    TERRANE_UNROLL
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) gradient[c][d] *= factor;
    const auto axis = [&](int d) { return r + 22 + fading_numbers * (d * here.points + here.at[d]); };
    const int used = stretch(here.axes, gradient, axis, kept, of);
    stretched_stress(
        of, [&](int m) { return r[m]; }, t);
    TERRANE_UNROLL
    for (int row = 0; row < 3; ++row) {
      const T b[3] = {weight * a[3 * row], weight * a[3 * row + 1], weight * a[3 * row + 2]};
      along[row] = {t[0][0] * b[0] + t[0][1] * b[1] + t[0][2] * b[2],
                    t[1][0] * b[0] + t[1][1] * b[1] + t[1][2] * b[2],
                    t[2][0] * b[0] + t[2][1] * b[1] + t[2][2] * b[2], 0};
    }
    const T at[3] = {here.u.x, here.u.y, here.u.z}, mass = weight * r[21] / factor;
    stretched_inertia(here.axes, at, axis, kept, used, push);
    inertia = {mass * push[0], mass * push[1], mass * push[2], 0};
  } else {
    T stress[6];
    if constexpr (hooke_numbers(rheology) == 21)
      anisotropic_stress(
          gradient, scale, [&](int m) { return r[m]; }, stress);
    else if constexpr (point_numbers(rheology) > 0)
      isotropic_stress(gradient, here.varying[0] * scale, here.varying[1] * scale, stress);
    else isotropic_stress(gradient, r[0] * scale, r[1] * scale, stress);
    if constexpr (rheology == Rheology::varying_attenuating) {
      const auto& f = *here.recursion;
      const T mu = here.varying[1], kappa = here.varying[0] + T(2.0 / 3) * mu;
      relax<relaxations>(
          gradient, scale, [&](int m) { return r[m] * (m < relaxations ? kappa : mu); }, f.a, f.b, f.c,
          [&](int l, int m) -> T& { return kept(6 * l + m); }, stress);
    } else if constexpr (attenuates(rheology)) {
      const auto& f = *here.recursion;
      relax<relaxations>(
          gradient, scale, [&](int m) { return r[hooke_numbers(rheology) + m]; }, f.a, f.b, f.c,
          [&](int l, int m) -> T& { return kept(6 * l + m); }, stress);
    }
    TERRANE_UNROLL
    for (int row = 0; row < 3; ++row) {
      along[row].w = 0;
      flux(stress, a[3 * row], a[3 * row + 1], a[3 * row + 2], along[row].x, along[row].y, along[row].z);
    }
  }
}

}  // namespace terrane::elastic
