#include "terrane/physics/electromagnetic/survey/gridding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::electromagnetic {

namespace {

double skin_depth(double sigma, double hertz) { return 503.292 / std::sqrt(sigma * hertz); }

/// Cells of h in the core [low, high], and of h + c d at a distance d from it. count(x): cells from the
/// core's lower end to x; place(n): where that many end.
struct Density {
  double low, high, h, c;

  double count(double x) const {
    const double inside = (high - low) / h;
    if (x < low) return -std::log1p(c * (low - x) / h) / c;
    if (x > high) return inside + std::log1p(c * (x - high) / h) / c;
    return (x - low) / h;
  }
  double place(double n) const {
    const double inside = (high - low) / h;
    if (n < 0) return low - h * std::expm1(-c * n) / c;
    if (n > inside) return high + h * std::expm1(c * (n - inside)) / c;
    return low + n * h;
  }
};

/// Faces from `from` to `to`, with some at the places wanted.
std::vector<double> faces(const Density& density, double from, double to, std::vector<double> wanted) {
  wanted.push_back(from);
  wanted.push_back(to);
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> all;
  for (const double next : wanted) {
    if (next < from || next > to) continue;
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

void check_request(const GridRequest& r) {
  if (r.frequencies.empty() || r.sources.empty() || r.receivers.empty())
    throw InputError("mesh", "it needs frequencies, sources and receivers");
  const bool positive =
      r.at_sources > 0 && r.mean > 0 && r.cells_per_skin_depth > 0 &&
      std::all_of(r.frequencies.begin(), r.frequencies.end(), [](double f) { return f > 0; });
  if (!positive)
    throw InputError("mesh", "a frequency, a conductivity or a number of cells is not above zero");
  if (!(r.growth > 1 && r.growth < 2))
    throw InputError("mesh", fmt::format("cells cannot grow by {}", r.growth), "Allowed: above 1, below 2.");
}

}  // namespace

GridPlan plan_mesh(const GridRequest& r) {
  check_request(r);
  const auto [slowest, fastest] = std::minmax_element(r.frequencies.begin(), r.frequencies.end());
  GridPlan plan;
  const double depth = skin_depth(r.at_sources, *fastest);
  double nearest = INFINITY;
  for (const auto& s : r.sources)
    for (const auto& p : r.receivers)
      nearest = std::min(nearest, std::hypot(s[0] - p[0], s[1] - p[1], s[2] - p[2]));
  double h = depth / r.cells_per_skin_depth;
  plan.reasons.push_back(
      fmt::format("cells of {:.3g} m: {} in the skin depth of {:.3g} m at {:.4g} Hz beside the sources", h,
                  r.cells_per_skin_depth, depth, *fastest));
  if (nearest > 0 && nearest / 8 < h) {
    h = nearest / 8;
    plan.reasons.push_back(
        fmt::format("made {:.3g} m, an eighth of the {:.4g} m from a source to a receiver", h, nearest));
  }
  const double wave = std::min(2 * std::numbers::pi * skin_depth(r.mean, *slowest), 1e5);
  plan.reasons.push_back(
      fmt::format("walls {:.4g} m away: a wavelength at {:.4g} Hz in {:.3g} S/m (100 km at most)", wave,
                  *slowest, r.mean));
  std::array<std::vector<double>, 3> axes;
  for (std::size_t a = 0; a < 3; ++a) {
    const double cell = a == 2 ? h / 2 : h;
    double low = INFINITY, high = -INFINITY;
    for (const auto* points : {&r.sources, &r.receivers})
      for (const auto& p : *points) {
        low = std::min(low, p[a] - 3 * cell);
        high = std::max(high, p[a] + 3 * cell);
      }
    const double cells = std::ceil((high - low) / cell);
    high = low + cells * cell;
    const Density density{low, high, cell, std::log(r.growth)};
    axes[a] = faces(density, low - wave, high + wave, a == 2 ? r.heights : std::vector<double>{});
  }
  plan.mesh = TensorMesh(axes[0], axes[1], axes[2]);
  plan.reasons.push_back(fmt::format("{} x {} x {} cells, growing by {} beyond the core", axes[0].size() - 1,
                                     axes[1].size() - 1, axes[2].size() - 1, r.growth));
  return plan;
}

}  // namespace terrane::electromagnetic
