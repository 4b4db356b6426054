// Basis functions of an element in one direction: Lagrange polynomials l_j of degree N through the N + 1
// Gauss-Lobatto-Legendre points x_i, with quadrature weights w_i. P_N is the Legendre polynomial of degree N.
//
//   x_i   zeros of (1 − x²) P'_N(x), i = 0 … N          w_i = 2 / (N (N + 1) P_N(x_i)²)
//   D_ij = l_j'(x_i) = P_N(x_i) / (P_N(x_j) (x_i − x_j)),   D_00 = −N (N + 1) / 4 = −D_NN,   else D_ii = 0
//
// Quadrature with these points is exact for polynomials up to degree 2 N − 1, differentiation up to degree N,
// and together they satisfy W D + (W D)ᵀ = diag(−1, 0, …, 0, 1), W = diag(w_i): integration by parts holds
// exactly for the sums (Canuto, Hussaini, Quarteroni & Zang 2006, Spectral Methods, section 2.3).
#pragma once

#include <array>

namespace terrane::elastic {

inline constexpr int least_degree = 2, most_degree = 8, most_points = most_degree + 1;

struct Basis {
  using Row = std::array<double, most_points>;

  /// degree: 2 … 8. Throws InputError.
  explicit Basis(int degree);

  int points() const noexcept { return degree + 1; }
  int points_of_element() const noexcept { return points() * points() * points(); }
  /// Computes the values and derivatives of all N + 1 polynomials at a point x of [−1, 1].
  void at(double x, Row& value, Row& slope) const;

  int degree = 0;
  Row x{}, weight{};
  std::array<Row, most_points> derivative{};  ///< [i][j]: l_j'(x_i)
};

}  // namespace terrane::elastic
