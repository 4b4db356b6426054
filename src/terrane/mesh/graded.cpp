#include "terrane/mesh/graded.hpp"

#include <algorithm>
#include <cmath>

namespace terrane {

namespace {

/// Number of cells as a function of the coordinate (core, h and g: graded.hpp). count(x): number of cells
/// from the lower end of the core to x, negative below it; place(n): its inverse, the x with count n.
struct Density {
  double low, high, h, below, above;  ///< low, high: ends of the core; h: cell width in it; below, above: ln
                                      ///< g, g the growth factors outside it

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

/// Density for an axis with intervals of finer cells: the count is integrated numerically in steps of an
/// eighth of a cell.
class FineDensity {
 public:
  FineDensity(const GradedAxis& axis, const Density& even) : axis_(axis), even_(even) {}

  double width(double x) const {
    const double away = std::max({0.0, even_.low - x, x - even_.high});
    double least = even_.h + away * (x < even_.low ? even_.below : even_.above);
    const double growth = std::min(even_.below, even_.above);
    for (const auto& one : axis_.fine)
      least = std::min(least, one.cell + growth * std::max({0.0, one.low - x, x - one.high}));
    return least;
  }
  /// Faces from `from` to `to`, both included.
  std::vector<double> between(double from, double to) const {
    std::vector<double> at{from}, count{0};
    while (at.back() < to) {
      const double x = at.back(), ahead = width(std::min(to, x + width(x) / 16)) / 8;
      const double next = x + ahead < to - 1e-9 * ahead ? x + ahead : to;
      count.push_back(count.back() + (next - x) / (8 * ahead));
      at.push_back(next);
    }
    const int pieces = std::max(1, static_cast<int>(std::ceil(count.back() - 0.2)));
    std::vector<double> faces;
    for (int n = 1; n < pieces; ++n) {
      const double wanted = count.back() * n / pieces;
      const auto above =
          static_cast<std::size_t>(std::upper_bound(count.begin(), count.end(), wanted) - count.begin());
      const double part = (wanted - count[above - 1]) / (count[above] - count[above - 1]);
      faces.push_back(at[above - 1] + part * (at[above] - at[above - 1]));
    }
    return faces;
  }

 private:
  const GradedAxis& axis_;
  const Density& even_;
};

}  // namespace

std::vector<double> graded_faces(const GradedAxis& axis) {
  const Density density{axis.low, axis.high, axis.cell, std::log(axis.growth_low),
                        std::log(axis.growth_high)};
  const FineDensity finer(axis, density);
  double least = density.h;
  for (const auto& one : axis.fine) least = std::min(least, one.cell);
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
    if (next - last < least * 1e-6) continue;
    if (!axis.fine.empty()) {
      const auto faces = finer.between(last, next);
      all.insert(all.end(), faces.begin(), faces.end());
      all.push_back(next);
      continue;
    }
    const double first = density.count(last), cells = density.count(next) - first;
    const int pieces = std::max(1, static_cast<int>(std::ceil(cells - 0.2)));
    for (int n = 1; n < pieces; ++n) all.push_back(density.place(first + cells * n / pieces));
    all.push_back(next);
  }
  return all;
}

}  // namespace terrane
