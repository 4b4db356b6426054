// Forces of one element by the formulas of textbooks: a slow reference for the kernels; also used to compute
// limits of time steps and masses.
//
//   f_c(i,j,k) −= w_j w_k Σ_l w_l D_li F_0c(l,j,k) + w_i w_k Σ_l w_l D_lj F_1c(i,l,k)
//                 + w_i w_j Σ_l w_l D_lk F_2c(i,j,l)          F_rc = det Σ_d σ_cd ∂ξ_r/∂x_d
//
// f_c(i,j,k): component c of the force at point i, j, k. w, D: quadrature weights and derivative matrix
// (basis.hpp). F_rc: flux of momentum c along ξ_r, from the stress σ. det: determinant of the element's map.
#pragma once

#include <vector>

#include "terrane/physics/elastic/element/basis.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"
#include "terrane/physics/elastic/element/medium.hpp"
#include "terrane/physics/elastic/element/stress.hpp"

namespace terrane::elastic {

/// The 21 elastic constants: the upper triangle, row by row.
inline std::array<double, 21> constants_of(const Medium& medium) {
  std::array<double, 21> all{};
  std::size_t at = 0;
  for (std::size_t p = 0; p < 6; ++p)
    for (std::size_t q = p; q < 6; ++q) all[at++] = medium.stiffness[p][q];
  return all;
}

class PlainElement {
 public:
  /// rock: the medium at each point if it varies within the element, else null.
  PlainElement(const Basis& basis, const Hexahedron& shape, const Medium& medium,
               const PointRock* rock = nullptr)
      : basis_(basis), points_(basis.points()), fluid_(medium.is_fluid()) {
    for (int n = 0; n < basis.points_of_element(); ++n) {
      const auto here = rock ? medium.with(rock[n]) : medium;
      if (rock || n == 0) constants_.push_back(constants_of(here)), lightness_.push_back(1 / here.density);
      maps_.push_back(shape.map({x(n % points_), x(n / points_ % points_), x(n / points_ / points_)}));
      mass_.push_back((fluid_ ? 1 / here.lambda() : here.density) * w(n % points_) *
                      w(n / points_ % points_) * w(n / points_ / points_) * maps_.back().det);
    }
  }
  /// Mass of each point, kg; in a fluid the integral of 1/κ instead of ρ, m³/Pa.
  const std::vector<double>& mass() const noexcept { return mass_; }

  /// Subtracts from f the forces K u that the displacement u causes (K: the element's stiffness matrix).
  /// u, f: [points of the element][3]; in a fluid the first component is the potential
  void subtract_forces(const double* u, double* f) const {
    const int p = points_, all = p * p * p;
    std::vector<double> fluxes(static_cast<std::size_t>(9 * all));
    for (int n = 0; n < all; ++n) {
      const int at[3] = {n % p, n / p % p, n / p / p}, stride[3] = {1, p, p * p};
      const auto& map = maps_[static_cast<std::size_t>(n)];
      double gradient[3][3] = {};
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          double along = 0;
          for (int l = 0; l < p; ++l) along += d(at[r], l) * u[3 * (n + (l - at[r]) * stride[r]) + c];
          for (int a = 0; a < 3; ++a) gradient[c][a] += along * map.cofactor[index(r)][index(a)] / map.det;
        }
      const auto of_medium = constants_.size() > 1 ? index(n) : 0;
      if (fluid_) {
        for (int r = 0; r < 3; ++r)
          for (int a = 0; a < 3; ++a)
            fluxes[index(9 * n + 3 * r)] +=
                lightness_[of_medium] * gradient[0][a] * map.cofactor[index(r)][index(a)];
        continue;
      }
      double stress[6];
      anisotropic_stress(
          gradient, 1.0, [&](int m) { return constants_[of_medium][index(m)]; }, stress);
      for (int r = 0; r < 3; ++r) {
        const auto& a = map.cofactor[index(r)];
        double* const to = &fluxes[static_cast<std::size_t>(9 * n + 3 * r)];
        flux(stress, a[0], a[1], a[2], to[0], to[1], to[2]);
      }
    }
    for (int n = 0; n < all; ++n) {
      const int at[3] = {n % p, n / p % p, n / p / p}, stride[3] = {1, p, p * p};
      for (int r = 0; r < 3; ++r) {
        const double across = w(at[(r + 1) % 3]) * w(at[(r + 2) % 3]);
        for (int c = 0; c < 3; ++c) {
          double sum = 0;
          for (int l = 0; l < p; ++l)
            sum += w(l) * d(l, at[r]) * fluxes[index(9 * (n + (l - at[r]) * stride[r]) + 3 * r + c)];
          f[3 * n + c] -= across * sum;
        }
      }
    }
  }

 private:
  static std::size_t index(int n) { return static_cast<std::size_t>(n); }
  double x(int i) const { return basis_.x[index(i)]; }
  double w(int i) const { return basis_.weight[index(i)]; }
  double d(int i, int l) const { return basis_.derivative[index(i)][index(l)]; }

  Basis basis_;
  int points_;
  bool fluid_;
  // Elastic constants: one entry for the element or, if they vary in it, one for each point.
  std::vector<std::array<double, 21>> constants_;
  std::vector<double> lightness_;  // 1/ρ
  std::vector<Hexahedron::Map> maps_;
  std::vector<double> mass_;
};

}  // namespace terrane::elastic
