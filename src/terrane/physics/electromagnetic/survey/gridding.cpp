#include "terrane/physics/electromagnetic/survey/gridding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string_view>

#include "terrane/base/error.hpp"
#include "terrane/mesh/graded.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr std::string_view axis_names[] = {"east", "north", "up"};

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
  if (!(r.growth_in_domain >= 1 && r.growth_in_domain <= r.growth))
    throw InputError("mesh",
                     fmt::format("cells cannot grow by {} in the domain, and by {} beyond it",
                                 r.growth_in_domain, r.growth),
                     "Allowed in it: 1 to what they grow by beyond it.");
  for (std::size_t a = 0; a < 3; ++a) {
    const auto name = axis_names[a];
    if (r.domain[a] && !((*r.domain[a])[0] < (*r.domain[a])[1]))
      throw InputError("mesh",
                       fmt::format("the domain along {} is not from a lower to a higher place", name));
    const auto& f = r.faces[a];
    if (!f.empty() &&
        (f.size() < 3 || std::adjacent_find(f.begin(), f.end(), std::greater_equal<>()) != f.end()))
      throw InputError("mesh",
                       fmt::format("the faces given along {} are fewer than three, or do not ascend", name));
  }
  if (r.sea_surface && r.center && *r.sea_surface <= (*r.center)[2])
    throw InputError("mesh", "the sea surface is not above the center",
                     "Move the center, the place of the smallest cells, into the sea.");
}

/// From one wall to the other: [0], [1]: their places; the domain lies between.
struct Reach {
  std::array<double, 2> domain, wall;
};

Reach reach_of(const GridRequest& r, std::size_t axis, std::array<double, 2> domain, double center,
               double hertz) {
  Reach reach{domain, {}};
  for (const std::size_t side : {0U, 1U}) {
    const double own = r.beyond[2 * axis + side], away = side == 0 ? -1 : 1,
                 wave = r.wavelengths * 2 * std::numbers::pi * skin_depth(own > 0 ? own : r.mean, hertz);
    if (r.wavelengths_of_way) {
      const double more = std::max(0.0, wave - std::abs(domain[side] - center) / 2);
      reach.wall[side] = away * std::min(away * domain[side] + more, away * center + r.farthest);
    } else {
      reach.wall[side] = domain[side] + away * std::min(wave, r.farthest);
    }
    // A wall is no nearer than the domain's own last cell.
    if (away * reach.wall[side] < away * domain[side]) reach.wall[side] = domain[side];
  }
  return reach;
}

/// Faces of the domain: the given ones, continued with cells that grow by `growth` until it is covered.
std::vector<double> continued(std::vector<double> faces, const std::array<double, 2>& domain, double growth) {
  // Without those beyond the domain, but for the first.
  while (faces.size() > 3 && faces[1] <= domain[0]) faces.erase(faces.begin());
  while (faces.size() > 3 && faces[faces.size() - 2] >= domain[1]) faces.pop_back();
  for (double h = faces[1] - faces[0]; faces.front() > domain[0];)
    faces.insert(faces.begin(), faces.front() - (h *= growth));
  for (double h = faces.back() - faces[faces.size() - 2]; faces.back() < domain[1];)
    faces.push_back(faces.back() + (h *= growth));
  return faces;
}

/// `middle` with cells that grow by `growth` on both sides, up to the walls.
std::vector<double> grown(const std::vector<double>& middle, const std::array<double, 2>& wall, double growth,
                          const std::vector<double>& wanted) {
  const double first = middle[1] - middle[0], last = middle.back() - middle[middle.size() - 2];
  std::vector<double> faces;
  if (wall[0] < middle.front() - first / 2)
    faces = graded_faces(
        {middle.front(), middle.front() + first, first, growth, growth, wall[0], middle.front(), wanted});
  if (!faces.empty()) faces.pop_back();
  faces.insert(faces.end(), middle.begin(), middle.end());
  if (wall[1] > middle.back() + last / 2) {
    const auto more = graded_faces(
        {middle.back() - last, middle.back(), last, growth, growth, middle.back(), wall[1], wanted});
    faces.insert(faces.end(), more.begin() + 1, more.end());
  }
  return faces;
}

/// Faces with one of the allowed numbers of cells between them.  growing: faces of cells that grow by so much
std::vector<double> of_allowed_number(const GridRequest& r, std::size_t axis,
                                      const std::function<std::vector<double>(double)>& growing,
                                      std::vector<std::string>& reasons) {
  auto faces = growing(r.growth);
  if (r.cell_numbers.empty()) return faces;
  const std::size_t least = faces.size() - 1;
  std::size_t number = 0;
  for (const std::size_t one : r.cell_numbers)
    if (one >= least && (number == 0 || one < number)) number = one;
  if (number == 0)
    throw InputError(
        "mesh",
        fmt::format("along {} it needs {} cells, and cell_numbers ends with {}", axis_names[axis], least,
                    *std::max_element(r.cell_numbers.begin(), r.cell_numbers.end())),
        "Add larger numbers, or take wider cells (min_width_pps, min_width_limits), a larger stretching, a "
        "smaller domain or nearer walls (lambda_factor, max_buffer).");
  constexpr int trials = 100;
  double growth = r.growth;
  const double slow = std::max(r.growth_in_domain, 1 + (r.growth - 1) / trials);
  for (int n = 0; n < trials; ++n) {
    const double trial = slow + (r.growth - slow) * n / trials;
    auto slower = growing(trial);
    if (slower.size() - 1 > number) continue;
    growth = trial;
    faces = std::move(slower);
    break;
  }
  const std::size_t filled = faces.size() - 1;
  while (faces.size() - 1 < number) {  // beyond the wall whose cell is smaller
    const double first = faces[1] - faces[0], last = faces.back() - faces[faces.size() - 2];
    if (first < last) faces.insert(faces.begin(), faces.front() - growth * first);
    else faces.push_back(faces.back() + growth * last);
  }
  reasons.push_back(
      fmt::format("{} cells along {}, as cell_numbers say, growing by {:.3g}: {} up to the walls", number,
                  axis_names[axis], growth, filled));
  return faces;
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
  const auto waves =
      r.wavelengths == 1 ? std::string("a wavelength") : fmt::format("{:.3g} wavelengths", r.wavelengths);
  if (r.beyond == std::array<double, 6>{} && !r.wavelengths_of_way)
    plan.reasons.push_back(
        fmt::format("walls {:.4g} m away: {} at {:.4g} Hz in {:.3g} S/m ({:.4g} km at most), in the air too",
                    wave, waves, *slowest, r.mean, r.farthest / 1000));
  else
    plan.reasons.push_back(fmt::format(
        "walls {} away at {:.4g} Hz in {} ({:.4g} km at most){}", waves, *slowest,
        r.beyond == std::array<double, 6>{} ? fmt::format("{:.3g} S/m", r.mean) : "what properties say",
        r.farthest / 1000,
        r.wavelengths_of_way ? ", half of the way from the center to a wall and back to the domain" : ""));
  std::array<std::vector<double>, 3> axes;
  std::size_t outside = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double cell = a == 2 ? h / 2 : h;
    double low = INFINITY, high = -INFINITY, mean = 0;
    for (const auto& p : r.sources) mean += p[a] / static_cast<double>(r.sources.size());
    const auto& given = r.faces[a];
    if (r.domain[a]) low = (*r.domain[a])[0], high = (*r.domain[a])[1];
    else if (!given.empty()) low = given.front(), high = given.back();
    for (const auto* points : {&r.sources, &r.receivers})
      for (const auto& p : *points) {
        if (r.domain[a] || !given.empty()) {
          outside += p[a] < low || p[a] > high ? 1 : 0;
        } else {
          low = std::min(low, p[a] - 3 * cell);
          high = std::max(high, p[a] + 3 * cell);
        }
      }
    auto wanted = a == 2 ? r.heights : std::vector<double>{};
    if (a == 2 && r.sea_surface) {
      wanted.push_back(*r.sea_surface);
      high = std::max(high, *r.sea_surface);
    }
    const double center = r.center ? (*r.center)[a] : mean;
    if (given.empty() && r.center)
      for (const double away : r.center_on_face ? std::vector<double>{0} : std::vector<double>{-0.5, 0.5})
        wanted.push_back(center + away * cell);
    const bool even = given.empty() && r.growth_in_domain == 1;
    if (even && !r.domain[a]) high = low + std::ceil((high - low) / cell) * cell;
    const auto reach = reach_of(r, a, {low, high}, center, *slowest);
    const auto growing = [&](double growth) -> std::vector<double> {
      if (even) return graded_faces({low, high, cell, growth, growth, reach.wall[0], reach.wall[1], wanted});
      const double core = std::clamp(center, low, high), within = std::min(r.growth_in_domain, growth);
      const auto middle = !given.empty()
                              ? continued(given, reach.domain, within)
                              : graded_faces({std::max(low, core - cell), std::min(high, core + cell), cell,
                                              within, within, low, high, wanted});
      return grown(middle, reach.wall, growth, wanted);
    };
    axes[a] = of_allowed_number(r, a, growing, plan.reasons);
  }
  if (r.sea_surface && std::any_of(axes[2].begin(), axes[2].end(),
                                   [&](double f) { return std::abs(f - *r.sea_surface) < 1e-3; }))
    plan.reasons.push_back(fmt::format("a face at {:.4g} m, the sea surface", *r.sea_surface));
  if (outside > 0)
    plan.reasons.push_back(fmt::format(
        "{} coordinates of sources and receivers lie outside the domain, where cells grow", outside));
  plan.mesh = TensorMesh(axes[0], axes[1], axes[2]);
  plan.reasons.push_back(fmt::format("{} x {} x {} cells, growing by {}{} beyond the core",
                                     axes[0].size() - 1, axes[1].size() - 1, axes[2].size() - 1, r.growth,
                                     r.cell_numbers.empty() ? "" : " or less"));
  return plan;
}

}  // namespace terrane::electromagnetic
