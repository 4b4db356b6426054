#include "terrane/physics/electric/edges.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::electric {

namespace {

/// The trace of the product of the matrices of the four cells at an edge, minus 2: negative for exponents
/// below α.
double excess(const std::array<double, 4>& conductivity, double exponent) {
  const double turn = exponent * std::numbers::pi / 2, c = std::cos(turn), s = std::sin(turn);
  std::array<double, 4> product{1, 0, 0, 1};  // a matrix of 2 × 2 numbers, row by row
  for (const double sigma : conductivity) {
    const auto [a, b, p, q] = product;
    product = {c * a + s / sigma * p, c * b + s / sigma * q, c * p - sigma * s * a, c * q - sigma * s * b};
  }
  return product[0] + product[3] - 2;
}

}  // namespace

double exponent_of_edge(const std::array<double, 4>& conductivity, double below) {
  constexpr double of_rounding = 1e-9;
  if (excess(conductivity, below) <= of_rounding) return below;
  double low = 0, high = below;
  for (int halved = 0; halved < 40; ++halved) {
    const double middle = (low + high) / 2;
    (excess(conductivity, middle) > 0 ? high : low) = middle;
  }
  return high;
}

double smallest_exponent(const TensorMesh& mesh, const Conductivity& conductivity) {
  const std::array<std::size_t, 3> cells{mesh.n_east(), mesh.n_north(), mesh.n_up()},
      step{1, cells[0], cells[0] * cells[1]};
  double smallest = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t b = (axis + 1) % 3, c = (axis + 2) % 3;
    const auto &along_b = *conductivity.along[b], &along_c = *conductivity.along[c];
    const auto sigma = [&](std::size_t cell) {
      return &along_b == &along_c ? along_b[cell] : std::sqrt(along_b[cell] * along_c[cell]);
    };
    for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
      if (cell / step[b] % cells[b] == 0 || cell / step[c] % cells[c] == 0) continue;
      const std::array<double, 4> around{sigma(cell), sigma(cell - step[b]), sigma(cell - step[b] - step[c]),
                                         sigma(cell - step[c])};
      if ((around[0] == around[1] && around[2] == around[3]) ||
          (around[0] == around[3] && around[1] == around[2]))
        continue;  // four equal values, or an edge on a plane face
      smallest = exponent_of_edge(around, smallest);
    }
  }
  return smallest;
}

}  // namespace terrane::electric
