#include "terrane/physics/electromagnetic/survey/gridding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/mesh/graded.hpp"

namespace terrane::electromagnetic {

namespace {

double skin_depth(double sigma, double hertz) { return 503.292 / std::sqrt(sigma * hertz); }

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
  double h = r.cell > 0 ? r.cell : depth / r.cells_per_skin_depth;
  if (r.cell > 0) plan.reasons.push_back(fmt::format("cells of {:.3g} m, as asked for", h));
  else
    plan.reasons.push_back(
        fmt::format("cells of {:.3g} m: {} in the skin depth of {:.3g} m at {:.4g} Hz beside the sources", h,
                    r.cells_per_skin_depth, depth, *fastest));
  if (r.cell == 0 && nearest > 0 && nearest / 8 < h) {
    h = nearest / 8;
    plan.reasons.push_back(
        fmt::format("made {:.3g} m, an eighth of the {:.4g} m from a source to a receiver", h, nearest));
  }
  if (r.cell == 0 && (h < r.limits[0] || h > r.limits[1])) {
    h = std::clamp(h, r.limits[0], r.limits[1]);
    plan.reasons.push_back(fmt::format("made {:.3g} m, as min_width_limits say", h));
  }
  const double wave =
      std::min(r.wavelengths * 2 * std::numbers::pi * skin_depth(r.mean, *slowest), r.farthest);
  plan.reasons.push_back(fmt::format(
      "walls {:.4g} m away: {} at {:.4g} Hz in {:.3g} S/m ({:.4g} km at most), in the air too", wave,
      r.wavelengths == 1 ? "a wavelength" : fmt::format("{:.3g} wavelengths", r.wavelengths), *slowest,
      r.mean, r.farthest / 1000));
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
    axes[a] = graded_faces({low, high, cell, r.growth, r.growth, low - wave, high + wave,
                            a == 2 ? r.heights : std::vector<double>{}});
  }
  plan.mesh = TensorMesh(axes[0], axes[1], axes[2]);
  plan.reasons.push_back(fmt::format("{} x {} x {} cells, growing by {} beyond the core", axes[0].size() - 1,
                                     axes[1].size() - 1, axes[2].size() - 1, r.growth));
  return plan;
}

}  // namespace terrane::electromagnetic
