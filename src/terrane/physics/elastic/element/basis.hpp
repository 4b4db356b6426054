// Polynomials of an element in one direction: Lagrange's, through the points of Gauss, Lobatto and Legendre.
//
//   x_i   zeros of (1 − x²) P'_N(x), i = 0 … N          w_i = 2 / (N (N + 1) P_N(x_i)²)
//   D_ij = l_j'(x_i) = P_N(x_i) / (P_N(x_j) (x_i − x_j)),   D_00 = −N (N + 1) / 4 = −D_NN,   else D_ii = 0
//
// Quadrature with these points is exact to degree 2 N − 1, derivatives to degree N, and both together obey
// W D + (W D)ᵀ = diag(−1, 0, …, 0, 1): summation by parts (Canuto, Hussaini, Quarteroni & Zang 2006, Spectral
// Methods, section 2.3).
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
  /// All l_i and l_i' at a point of [−1, 1].
  void at(double x, Row& value, Row& slope) const;

  int degree = 0;
  Row x{}, weight{};
  std::array<Row, most_points> derivative{};  ///< [i][j]: l_j'(x_i)
};

}  // namespace terrane::elastic
