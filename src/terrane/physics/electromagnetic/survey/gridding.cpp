#include "terrane/physics/electromagnetic/survey/gridding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string_view>

#include "terrane/base/error.hpp"
#include "terrane/mesh/graded.hpp"
#include "terrane/physics/electromagnetic/formula/skin_depth.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr std::string_view axis_names[] = {"east", "north", "up"};

constexpr double usually_farthest = 1e5;  // m, largest distance of walls by default
constexpr double of_distance = 8;         // least number of cells between a source and a receiver
constexpr double of_neighbours = 10;      // least number of cells between a source and a receiver if the mesh
                                          // has a core
constexpr double of_offset = 2.5;         // distance from a source to a wall, divided by the largest offset

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
  if (const double inside = r.growth_in_domain.value_or(1); !(inside >= 1 && inside <= r.growth))
    throw InputError(
        "mesh", fmt::format("cells cannot grow by {} in the domain, and by {} beyond it", inside, r.growth),
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

/// The domain and the walls along an axis, m; [0]: low side, [1]: high side. The domain lies between the
/// walls.
struct Reach {
  std::array<double, 2> domain, wall;
};

double farthest_of(const GridRequest& r) { return r.farthest.value_or(usually_farthest); }

/// Whether the mesh has a core, in which cells follow sources and receivers: no center, domain, growth in a
/// domain, or faces are given.
bool has_core(const GridRequest& r) {
  const auto given = [](const auto& one) { return one.has_value(); };
  return !r.center && !r.growth_in_domain && std::none_of(r.domain.begin(), r.domain.end(), given) &&
         std::all_of(r.faces.begin(), r.faces.end(), [](const auto& faces) { return faces.empty(); });
}

double distance(const Vector3& p, const Vector3& q) {
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double largest_offset(const GridRequest& r) {
  double most = 0;
  if (r.plane_waves) return most;
  for (const auto& s : r.sources)
    for (const auto& p : r.receivers) most = std::max(most, distance(s, p));
  return most;
}

/// The domain along an axis and the positions of the walls.  least: least distance of walls from the domain,
/// m
Reach reach_of(const GridRequest& r, std::size_t axis, std::array<double, 2> domain, double center,
               double hertz, double least = 0) {
  Reach reach{domain, {}};
  for (const std::size_t side : {0U, 1U}) {
    const double own = r.beyond[2 * axis + side], away = side == 0 ? -1 : 1,
                 wave = r.wavelengths * 2 * std::numbers::pi * skin_depth(own > 0 ? own : r.mean, hertz);
    if (r.wavelengths_of_way) {
      const double more = std::max(0.0, wave - std::abs(domain[side] - center) / 2);
      reach.wall[side] = away * std::min(away * domain[side] + more, away * center + farthest_of(r));
    } else {
      reach.wall[side] = domain[side] + away * std::max(std::min(wave, farthest_of(r)), least);
    }
    // No wall lies inside the domain.
    if (away * reach.wall[side] < away * domain[side]) reach.wall[side] = domain[side];
  }
  return reach;
}

/// Faces of the domain: the given faces, extended by cells that grow by `growth` until the domain is covered.
std::vector<double> continued(std::vector<double> faces, const std::array<double, 2>& domain, double growth) {
  // Drops faces beyond the domain, except the first.
  while (faces.size() > 3 && faces[1] <= domain[0]) faces.erase(faces.begin());
  while (faces.size() > 3 && faces[faces.size() - 2] >= domain[1]) faces.pop_back();
  for (double h = faces[1] - faces[0]; faces.front() > domain[0];)
    faces.insert(faces.begin(), faces.front() - (h *= growth));
  for (double h = faces.back() - faces[faces.size() - 2]; faces.back() < domain[1];)
    faces.push_back(faces.back() + (h *= growth));
  return faces;
}

/// `middle`, extended on both sides by cells that grow by `growth`, up to the walls.
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

/// The faces of an axis with one of the allowed numbers of cells.  growing(growth): returns the faces if
/// cells grow by this factor
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
  const double slow = std::max(r.growth_in_domain.value_or(1), 1 + (r.growth - 1) / trials);
  for (int n = 0; n < trials; ++n) {
    const double trial = slow + (r.growth - slow) * n / trials;
    auto slower = growing(trial);
    if (slower.size() - 1 > number) continue;
    growth = trial;
    faces = std::move(slower);
    break;
  }
  const std::size_t filled = faces.size() - 1;
  while (faces.size() - 1 < number) {  // adds a cell beyond the wall at which the last cell is smaller
    const double first = faces[1] - faces[0], last = faces.back() - faces[faces.size() - 2];
    if (first < last) faces.insert(faces.begin(), faces.front() - growth * first);
    else faces.push_back(faces.back() + growth * last);
  }
  reasons.push_back(
      fmt::format("{} cells along {}, as cell_numbers say, growing by {:.3g}: {} up to the walls", number,
                  axis_names[axis], growth, filled));
  return faces;
}

/// Describes the walls in words. wave: distance from sources and receivers to the walls if it is the same on
/// all sides, m
std::string walls_in_words(const GridRequest& r, double wave) {
  const double slowest = *std::min_element(r.frequencies.begin(), r.frequencies.end());
  const auto waves =
      r.wavelengths == 1 ? std::string("a wavelength") : fmt::format("{:.3g} wavelengths", r.wavelengths);
  if (r.beyond == std::array<double, 6>{} && !r.wavelengths_of_way)
    return fmt::format(
        "walls {:.4g} m away: {} at {:.4g} Hz in {:.3g} S/m ({:.4g} km at most), in the air too", wave, waves,
        slowest, r.mean, farthest_of(r) / 1000);
  return fmt::format(
      "walls {} away at {:.4g} Hz in {} ({:.4g} km at most){}", waves, slowest,
      r.beyond == std::array<double, 6>{} ? fmt::format("{:.3g} S/m", r.mean) : "what properties say",
      farthest_of(r) / 1000,
      r.wavelengths_of_way ? ", half of the way from the center to a wall and back to the domain" : "");
}

void tell_of_sea(const GridRequest& r, const std::vector<double>& up, std::vector<std::string>& reasons) {
  if (r.sea_surface &&
      std::any_of(up.begin(), up.end(), [&](double f) { return std::abs(f - *r.sea_surface) < 1e-3; }))
    reasons.push_back(fmt::format("a face at {:.4g} m, the sea surface", *r.sea_surface));
}

/// A source, or the point of a wire nearest to a receiver, and that receiver.
struct Pair {
  Vector3 from, to;
  double away = INFINITY;
};

Vector3 nearest_on(const std::array<Vector3, 2>& part, const Vector3& place) {
  double along = 0, length = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    along += (place[a] - part[0][a]) * (part[1][a] - part[0][a]);
    length += (part[1][a] - part[0][a]) * (part[1][a] - part[0][a]);
  }
  const double t = length > 0 ? std::clamp(along / length, 0.0, 1.0) : 0;
  Vector3 at;
  for (std::size_t a = 0; a < 3; ++a) at[a] = part[0][a] + t * (part[1][a] - part[0][a]);
  return at;
}

/// The nearest receiver of each source, and the nearest source of each receiver; receivers at the source
/// itself are left out.
std::vector<Pair> neighbours(const GridRequest& r) {
  std::vector<Pair> of_receivers(r.receivers.size()), all;
  auto parts = r.parts;
  for (const auto& place : r.sources) parts.push_back({place, place});
  for (const auto& part : parts) {
    Pair own;
    for (std::size_t n = 0; n < r.receivers.size(); ++n) {
      const auto from = nearest_on(part, r.receivers[n]);
      const double away = distance(from, r.receivers[n]);
      if (away == 0) continue;
      if (away < own.away) own = {from, r.receivers[n], away};
      if (away < of_receivers[n].away) of_receivers[n] = {from, r.receivers[n], away};
    }
    all.push_back(own);
  }
  all.insert(all.end(), of_receivers.begin(), of_receivers.end());
  std::erase_if(all, [](const Pair& pair) { return std::isinf(pair.away); });
  return all;
}

/// Cell widths along an axis between sources and their nearest receivers, if `cell` is too wide.
std::vector<WidthWish> between_neighbours(const GridRequest& r, const std::vector<Pair>& pairs,
                                          std::size_t axis, double cell, double share) {
  constexpr double growth = 1.15;
  std::vector<WidthWish> wishes;
  for (const auto& [from, to, away] : pairs) {
    const double width = std::max(away / of_neighbours, r.limits[0]);
    if (width < cell)
      wishes.push_back(
          {std::min(from[axis], to[axis]), std::max(from[axis], to[axis]), share * width, growth});
  }
  return wishes;
}

/// Keeps requested widths within r.limits: none is narrower than the lower limit, and at least those at
/// receivers are no wider than the upper limit.  share: ratio of widths along this axis to r.limits
void keep_limits(const GridRequest& r, std::size_t axis, double share, WidthAxis& made,
                 std::vector<std::string>& reasons) {
  const double least = share * r.limits[0], most = share * r.limits[1];
  bool kept = false;
  for (auto& wish : made.wishes) {
    kept = kept || wish.width < (1 - 1e-9) * least;
    wish.width = std::max(wish.width, least);
  }
  for (auto& layer : made.least)
    if (layer.cells * least > layer.high - layer.low) layer.cells = 1;
  double smallest = INFINITY;
  for (const auto& wish : made.wishes) smallest = std::min(smallest, wish.width);
  if (smallest > (1 + 1e-9) * most) {
    kept = true;
    for (const auto& p : r.receivers)
      made.wishes.push_back({p[axis] - 2 * most, p[axis] + 2 * most, most, r.growth});
  }
  if (kept)
    reasons.push_back(fmt::format("the smallest cells along {} made {:.3g} m, as min_width_limits say",
                                  axis_names[axis], std::clamp(smallest, least, most)));
}

/// Adds a reason if cells are narrower than the lower of r.limits, because they lie between faces that the
/// earth needs.
void tell_of_limits(const GridRequest& r, const std::array<std::vector<double>, 3>& axes,
                    std::vector<std::string>& reasons) {
  for (std::size_t a = 0; a < 3; ++a) {
    const double least = (a == 2 ? 0.5 : 1) * r.limits[0];
    double smallest = INFINITY;
    for (std::size_t n = 1; n < axes[a].size(); ++n)
      smallest = std::min(smallest, axes[a][n] - axes[a][n - 1]);
    if (smallest <
        0.7 * least)  // fitting a whole number of cells makes them a little narrower than requested
      reasons.push_back(
          fmt::format("cells {} of {:.3g} m, less than min_width_limits: contrasts are so near "
                      "to each other",
                      a == 2 ? "upright" : fmt::format("along {}", axis_names[a]), smallest));
  }
}

/// The faces of one axis of a mesh whose cells follow sources, receivers and the earth.
std::vector<double> faces_around(const GridRequest& r, const std::vector<Pair>& pairs, std::size_t axis,
                                 double cell, double least_wall, double least_lid,
                                 std::vector<std::string>& reasons) {
  const double share = axis == 2 ? 0.5 : 1, own = share * cell;
  double low = INFINITY, high = -INFINITY, mean = 0;
  for (const auto* points : {&r.sources, &r.receivers})
    for (const auto& p : *points) {
      low = std::min(low, p[axis] - 3 * own);
      high = std::max(high, p[axis] + 3 * own);
    }
  for (const auto& p : r.sources) mean += p[axis] / static_cast<double>(r.sources.size());
  WidthAxis made;
  made.wanted = axis == 2 ? r.heights : r.sides[axis];
  if (axis == 2) {
    made.least = r.layers;
    if (r.sea_surface) {
      made.wanted.push_back(*r.sea_surface);
      high = std::max(high, *r.sea_surface);
    }
  }
  auto wishes = between_neighbours(r, pairs, axis, cell, share);
  wishes.insert(wishes.end(), r.finer[axis].begin(), r.finer[axis].end());
  const bool of_earth = axis == 2 && r.plane_waves && !r.finer[2].empty() && r.cell == 0;
  if (of_earth) low = INFINITY, high = -INFINITY;
  // `low` and `high` do not yet include layers with sources in them, which extend far beyond the sources: so
  // cells of the width `own` are requested only around sources and receivers.
  if (!r.plane_waves) wishes.push_back({low, high, own, r.growth});
  for (const auto& wish : r.finer[axis]) {
    low = std::min(low, wish.low);
    high = std::max(high, wish.high);
  }
  if (r.plane_waves && !of_earth) wishes.push_back({low, high, own, r.growth});
  made.wishes = std::move(wishes);
  keep_limits(r, axis, share, made, reasons);
  made.wishes = without_others(std::move(made.wishes));
  made.low = low;
  made.high = high;
  const double slowest = *std::min_element(r.frequencies.begin(), r.frequencies.end());
  const auto reach = reach_of(r, axis, {low, high}, mean, slowest, least_wall);
  made.from = of_earth ? low : reach.wall[0];  // if of_earth, waves have decayed at the height `low`
  made.to = std::max(reach.wall[1], high + least_lid);
  return of_allowed_number(
      r, axis,
      [&](double growth) {
        made.growth = growth;
        return faces_of_widths(made);
      },
      reasons);
}

std::string names_of_cells(const GridRequest& r, const std::array<std::vector<double>, 3>& axes) {
  return fmt::format("{} x {} x {} cells, growing by {}{} beyond the core", axes[0].size() - 1,
                     axes[1].size() - 1, axes[2].size() - 1, r.growth,
                     r.cell_numbers.empty() ? "" : " or less");
}

/// h: cell width at the sources, m
GridPlan plan_around(const GridRequest& r, double h, GridPlan plan) {
  const auto pairs = r.plane_waves || r.cell > 0 ? std::vector<Pair>{} : neighbours(r);
  double nearest = INFINITY;
  for (const auto& pair : pairs) nearest = std::min(nearest, pair.away);
  if (nearest / of_neighbours < h)
    plan.reasons.push_back(
        fmt::format("made {:.3g} m and growing by 1.15 from there, between sources and the "
                    "receivers next to them: a tenth of {:.4g} m, the least distance",
                    std::max(nearest / of_neighbours, r.limits[0]), nearest));
  const double slowest = *std::min_element(r.frequencies.begin(), r.frequencies.end()),
               wave = std::min(r.wavelengths * 2 * std::numbers::pi * skin_depth(r.mean, slowest),
                               farthest_of(r)),
               offsets = r.farthest || !r.by_offset ? 0 : of_offset * largest_offset(r);
  plan.reasons.push_back(
      offsets > wave && r.beyond == std::array<double, 6>{}
          ? fmt::format("walls {:.4g} m away: {} times the largest distance from a source to a receiver, in "
                        "the air too",
                        offsets, of_offset)
          : walls_in_words(r, wave));
  std::array<std::vector<double>, 3> axes;
  double half = 0;  // m, half of the mesh's width
  for (std::size_t a = 0; a < 3; ++a) {
    // In air above the ground, fields decay slowly if the top is nearer than a third of half the mesh's width
    // (thin_air).
    const double high = a == 2 ? 0.35 * half : 0;
    axes[a] = faces_around(r, pairs, a, h, offsets, high, plan.reasons);
    half = std::max(half, (axes[a].back() - axes[a].front()) / 2);
  }
  tell_of_sea(r, axes[2], plan.reasons);
  tell_of_limits(r, axes, plan.reasons);
  plan.mesh = TensorMesh(axes[0], axes[1], axes[2]);
  plan.reasons.push_back(names_of_cells(r, axes));
  return plan;
}

/// The width of cells beside the sources, m: the requested width; or a fraction of the skin depth, less if a
/// receiver is near, within the limits of the job.
double width_of_cells(const GridRequest& r, std::vector<std::string>& reasons) {
  if (r.cell > 0) {
    reasons.push_back(fmt::format("cells of {:.3g} m, as asked for", r.cell));
    return r.cell;
  }
  const double fastest = *std::max_element(r.frequencies.begin(), r.frequencies.end()),
               depth = skin_depth(r.at_sources, fastest);
  double h = depth / r.cells_per_skin_depth;
  reasons.push_back(
      fmt::format("cells of {:.3g} m: {} in the skin depth of {:.3g} m at {:.4g} Hz beside the sources", h,
                  r.cells_per_skin_depth, depth, fastest));
  double nearest = INFINITY;
  for (const auto& s : r.sources)
    for (const auto& p : r.receivers) nearest = std::min(nearest, distance(s, p));
  if (!has_core(r) && nearest > 0 && nearest / of_distance < h) {
    h = nearest / of_distance;
    reasons.push_back(
        fmt::format("made {:.3g} m, an eighth of the {:.4g} m from a source to a receiver", h, nearest));
  }
  if (h < r.limits[0] || h > r.limits[1]) {
    h = std::clamp(h, r.limits[0], r.limits[1]);
    reasons.push_back(fmt::format("made {:.3g} m, as min_width_limits say", h));
  }
  return h;
}

/// The faces along an axis: cells of width h (h/2 along up) around sources and receivers, and beyond them
/// cells that grow out to the walls.  outside: is increased by the number of coordinates of sources and
/// receivers outside the given domain
std::vector<double> faces_of_axis(const GridRequest& r, std::size_t a, double h, double slowest,
                                  std::size_t& outside, std::vector<std::string>& reasons) {
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
  const bool even = given.empty() && r.growth_in_domain.value_or(1) == 1;
  if (even && !r.domain[a]) high = low + std::ceil((high - low) / cell) * cell;
  const auto reach = reach_of(r, a, {low, high}, center, slowest);
  const auto growing = [&](double growth) -> std::vector<double> {
    if (even) return graded_faces({low, high, cell, growth, growth, reach.wall[0], reach.wall[1], wanted});
    const double core = std::clamp(center, low, high),
                 within = std::min(r.growth_in_domain.value_or(1), growth);
    const auto middle = !given.empty()
                            ? continued(given, reach.domain, within)
                            : graded_faces({std::max(low, core - cell), std::min(high, core + cell), cell,
                                            within, within, low, high, wanted});
    return grown(middle, reach.wall, growth, wanted);
  };
  return of_allowed_number(r, a, growing, reasons);
}

}  // namespace

GridPlan plan_mesh(const GridRequest& r) {
  check_request(r);
  const auto slowest = *std::min_element(r.frequencies.begin(), r.frequencies.end());
  GridPlan plan;
  const double h = width_of_cells(r, plan.reasons);
  if (has_core(r)) return plan_around(r, h, std::move(plan));
  plan.reasons.push_back(walls_in_words(
      r, std::min(r.wavelengths * 2 * std::numbers::pi * skin_depth(r.mean, slowest), farthest_of(r))));
  std::array<std::vector<double>, 3> axes;
  std::size_t outside = 0;
  for (std::size_t a = 0; a < 3; ++a) axes[a] = faces_of_axis(r, a, h, slowest, outside, plan.reasons);
  tell_of_sea(r, axes[2], plan.reasons);
  if (outside > 0)
    plan.reasons.push_back(fmt::format(
        "{} coordinates of sources and receivers lie outside the domain, where cells grow", outside));
  plan.mesh = TensorMesh(axes[0], axes[1], axes[2]);
  plan.reasons.push_back(names_of_cells(r, axes));
  return plan;
}

}  // namespace terrane::electromagnetic
