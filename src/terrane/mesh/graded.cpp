#include "terrane/mesh/graded.hpp"

#include <algorithm>
#include <cmath>

namespace terrane {

namespace {

/// count(x): cells from the core's lower end to x; place(n): where that many end.
struct Density {
  double low, high, h, below, above;  ///< below, above: ln g

  double count(double x) const {
    const double inside = (high - low) / h;
    if (x < low) return -std::log1p(below * (low - x) / h) / below;
    if (x > high) return inside + std::log1p(above * (x - high) / h) / above;
    return (x - low) / h;
  }
  double place(double n) const {
    const double inside = (high - low) / h;
    if (n < 0) return low - h * std::expm1(-below * n) / below;
    if (n > inside) return high + h * std::expm1(above * (n - inside)) / above;
    return low + n * h;
  }
};

}  // namespace

std::vector<double> graded_faces(const GradedAxis& axis) {
  const Density density{axis.low, axis.high, axis.cell, std::log(axis.growth_low),
                        std::log(axis.growth_high)};
  auto wanted = axis.wanted;
  wanted.push_back(axis.from);
  wanted.push_back(axis.to);
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> all;
  for (const double next : wanted) {
    if (next < axis.from || next > axis.to) continue;
    if (all.empty()) {
      all.push_back(next);
      continue;
    }
    const double last = all.back();
    if (next - last < density.h * 1e-6) continue;
    const double first = density.count(last), cells = density.count(next) - first;
    const int pieces = std::max(1, static_cast<int>(std::ceil(cells - 0.2)));
    for (int n = 1; n < pieces; ++n) all.push_back(density.place(first + cells * n / pieces));
    all.push_back(next);
  }
  return all;
}

}  // namespace terrane
