#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io::magnetotelluric {

namespace {

using Matrix = std::array<std::array<double, 2>, 2>;

/// North and east components of a direction; exactly 0 and ±1 at multiples of 90°.
std::array<double, 2> direction(double azimuth) {
  const double within = std::remainder(azimuth, 360), quarters = within / 90;
  if (quarters == std::floor(quarters)) {
    constexpr std::array<std::array<double, 2>, 4> exact{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
    return exact[static_cast<std::size_t>(quarters + 4) % 4];
  }
  const double angle = within * std::numbers::pi / 180;
  return {std::cos(angle), std::sin(angle)};
}

Matrix inverse_of(const Matrix& p, const Axes& axes, const std::string& where) {
  const double det = p[0][0] * p[1][1] - p[0][1] * p[1][0];
  if (!(std::abs(det) > std::sin(std::numbers::pi / 18)))
    throw InputError(where, fmt::format("axes of E at {} and {} degrees", axes.ex, axes.ey),
                     "They must be 10 degrees apart or more.");
  return {{{p[1][1] / det, 0 - p[0][1] / det}, {0 - p[1][0] / det, p[0][0] / det}}};
}

/// Sum of factor · value, and its variance; values with factor 0 are skipped, because they may be missing.
struct Sum {
  std::complex<double> value = 0;
  double variance = 0;

  void add(double factor, const Transfer& of, std::size_t element) {
    if (factor == 0) return;
    value += factor * of.value[element];
    variance += factor * factor * of.error[element] * of.error[element];
  }
  void store(Transfer& to, std::size_t element) const {
    to.value[element] = value;
    to.error[element] = std::sqrt(variance);
  }
};

constexpr std::size_t z(std::size_t row, std::size_t column) { return 3 - 2 * row - column; }
constexpr std::size_t t(std::size_t column) { return 5 - column; }

}  // namespace

Transfer to_north(const Transfer& turned, const Axes& axes, const std::string& where) {
  if (axes.at_north()) return turned;
  const Matrix of_h{direction(axes.hx), direction(axes.hy)}, of_e{direction(axes.ex), direction(axes.ey)};
  const auto back = inverse_of(of_e, axes, where);
  Transfer made;
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t i = 0; i < 2; ++i) {
      Sum sum;
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t l = 0; l < 2; ++l) sum.add(back[i][k] * of_h[l][j], turned, z(k, l));
      sum.store(made, z(i, j));
    }
    Sum sum;
    for (std::size_t l = 0; l < 2; ++l) sum.add(of_h[l][j], turned, t(l));
    sum.store(made, t(j));
  }
  return made;
}

}  // namespace terrane::io::magnetotelluric
