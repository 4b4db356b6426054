// The shape of an element, given by a map from reference coordinates ξ = (ξ, η, ζ) in the cube [−1, 1]³ to
// positions x. The map is trilinear, given by eight corners; or, for curved sides, it goes through 27 nodes
// x_abc: x(ξ) = Σ q_a(ξ) q_b(η) q_c(ζ) x_abc with the three quadratic Lagrange polynomials q. Trilinear, with
// coefficients m0 … m7; and for both maps, with directions r = 0, 1, 2 counted modulo 3:
//
//   x(ξ) = m0 + m1 ξ + m2 η + m3 ζ + m4 ξη + m5 ηζ + m6 ξζ + m7 ξηζ
//   J_r = ∂x/∂ξ_r,   c_r = J_{r+1} × J_{r+2} (cofactors),   det = J_0 · c_0,   ∂ξ_r/∂x_d = c_rd / det
//   outward normal and area of a face ξ_r = ±1:  n = ± c_r / |c_r|,  dS = |c_r| dξ dη
//
// The number of a corner is a sum of bits: 1 for ξ = 1, 2 for η = 1, 4 for ζ = 1.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace terrane::elastic {

using Vector = std::array<double, 3>;

inline double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

/// ξ of the n-th of 27 points: corners, middles of edges and faces, centre.
inline Vector of_27_points(int n) {
  const auto at = [](int digit) { return static_cast<double>(digit - 1); };
  return {at(n % 3), at(n / 3 % 3), at(n / 9)};
}

struct Hexahedron {
  std::array<Vector, 8> corner;
  std::array<Vector, 8> monomial;  ///< m0 … m7 from the corners, also if the element is curved
  const std::array<Vector, 27>* nodes = nullptr;  ///< nodes of a curved element, in Mesh::curves

  /// all: nodes in the order of of_27_points()
  explicit Hexahedron(const std::array<Vector, 27>* all) : Hexahedron(corners_of_27(*all)) {
    nodes = all;
    monomial[0] = (*all)[13];
  }
  explicit Hexahedron(const std::array<Vector, 8>& corners) : corner(corners) {
    // Each coefficient m is ⅛ of the sum over the corners of position times monomial (1 or −1 at a corner).
    constexpr int bits[8] = {0, 1, 2, 4, 3, 6, 5, 7};
    for (std::size_t m = 0; m < 8; ++m)
      for (std::size_t d = 0; d < 3; ++d) {
        double sum = 0;
        for (int a = 0; a < 8; ++a) {
          const int minus = __builtin_popcount(static_cast<unsigned>(bits[m] & ~a)) & 1;
          sum += (minus ? -1 : 1) * corner[static_cast<std::size_t>(a)][d];
        }
        monomial[m][d] = sum / 8;
      }
  }

  Vector at(const Vector& xi) const {
    if (nodes) return curved(xi).first;
    const double m[8] = {
        1, xi[0], xi[1], xi[2], xi[0] * xi[1], xi[1] * xi[2], xi[0] * xi[2], xi[0] * xi[1] * xi[2]};
    Vector x{};
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t d = 0; d < 3; ++d) x[d] += m[k] * monomial[k][d];
    return x;
  }

  struct Map {
    std::array<Vector, 3> tangent, cofactor;  ///< J_r, c_r
    double det;
  };
  Map map(const Vector& xi) const {
    Map map;
    if (nodes) map.tangent = curved(xi).second;
    for (std::size_t d = 0; d < 3 && !nodes; ++d) {
      const auto m = [&](std::size_t k) { return monomial[k][d]; };
      map.tangent[0][d] = m(1) + m(4) * xi[1] + m(6) * xi[2] + m(7) * xi[1] * xi[2];
      map.tangent[1][d] = m(2) + m(4) * xi[0] + m(5) * xi[2] + m(7) * xi[0] * xi[2];
      map.tangent[2][d] = m(3) + m(5) * xi[1] + m(6) * xi[0] + m(7) * xi[0] * xi[1];
    }
    for (std::size_t r = 0; r < 3; ++r)
      map.cofactor[r] = cross(map.tangent[(r + 1) % 3], map.tangent[(r + 2) % 3]);
    map.det = dot(map.tangent[0], map.cofactor[0]);
    return map;
  }

  /// The corners among 27 nodes, in the order of `corner`.
  static std::array<Vector, 8> corners_of_27(const std::array<Vector, 27>& all) {
    std::array<Vector, 8> eight;
    for (std::size_t a = 0; a < 8; ++a) eight[a] = all[2 * (a & 1) + 6 * (a >> 1 & 1) + 18 * (a >> 2)];
    return eight;
  }
  /// The position and the tangents J_r at xi, by the map through 27 nodes.
  std::pair<Vector, std::array<Vector, 3>> curved(const Vector& xi) const {
    double q[3][3], slope[3][3];
    for (std::size_t r = 0; r < 3; ++r) {
      const double x = xi[r];
      q[r][0] = 0.5 * x * (x - 1), q[r][1] = 1 - x * x, q[r][2] = 0.5 * x * (x + 1);
      slope[r][0] = x - 0.5, slope[r][1] = -2 * x, slope[r][2] = x + 0.5;
    }
    std::pair<Vector, std::array<Vector, 3>> out{};
    for (std::size_t n = 0; n < 27; ++n) {
      const std::size_t a = n % 3, b = n / 3 % 3, c = n / 9;
      const double here = q[0][a] * q[1][b] * q[2][c];
      const double along[3] = {slope[0][a] * q[1][b] * q[2][c], q[0][a] * slope[1][b] * q[2][c],
                               q[0][a] * q[1][b] * slope[2][c]};
      for (std::size_t d = 0; d < 3; ++d) {
        out.first[d] += here * (*nodes)[n][d];
        for (std::size_t r = 0; r < 3; ++r) out.second[r][d] += along[r] * (*nodes)[n][d];
      }
    }
    return out;
  }
  /// The largest distance of the 27 nodes from their positions in an element with straight edges, m.
  double bend() const {
    double most = 0;
    const Hexahedron straight(corner);
    for (int n = 0; n < 27 && nodes; ++n) {
      const auto at = straight.at(of_27_points(n));
      const auto& x = (*nodes)[static_cast<std::size_t>(n)];
      most = std::fmax(most, norm({x[0] - at[0], x[1] - at[1], x[2] - at[2]}));
    }
    return most;
  }

  /// Length of the shortest edge, m.
  double shortest() const {
    double least = INFINITY;
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t bit = 1; bit < 8; bit *= 2)
        if (!(a & bit)) {
          Vector e;
          for (std::size_t d = 0; d < 3; ++d) e[d] = corner[a + bit][d] - corner[a][d];
          least = std::min(least, norm(e));
        }
    return least;
  }

  /// ξ of the element's point nearest to x, and its distance from x, m (0 if x is inside). Found by Newton's
  /// method, with ξ restricted to the cube at every iteration.
  struct Place {
    Vector xi;
    double distance;
  };
  Place locate(const Vector& x) const {
    Place place{{0, 0, 0}, 0};
    for (int iteration = 0; iteration < 30; ++iteration) {
      const auto now = at(place.xi);
      const auto m = map(place.xi);
      const Vector miss{x[0] - now[0], x[1] - now[1], x[2] - now[2]};
      double moved = 0;
      for (std::size_t r = 0; r < 3; ++r) {
        const double next = std::fmin(1.0, std::fmax(-1.0, place.xi[r] + dot(m.cofactor[r], miss) / m.det));
        moved = std::fmax(moved, std::fabs(next - place.xi[r]));
        place.xi[r] = next;
      }
      if (moved < 1e-14) break;
    }
    const auto end = at(place.xi);
    place.distance = norm({x[0] - end[0], x[1] - end[1], x[2] - end[2]});
    return place;
  }
};

}  // namespace terrane::elastic
