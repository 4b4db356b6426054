#include "terrane/physics/electromagnetic/earth_widths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/job/mesh_plan.hpp"
#include "terrane/mesh/widths.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/physics/electromagnetic/formula/skin_depth.hpp"

namespace terrane::electromagnetic {

namespace {

/// Number of cells per skin depth vertically, divided by that horizontally: the widths of cells cause smaller
/// errors than their heights.
constexpr double upright_per_across = 1.6;
constexpr std::size_t most_columns = 40;

struct WidthPlace {
  double easting, northing;
};

/// A body of finite extent, and its distance `away` from the nearest site, m.
struct Near {
  std::string name;
  Prism box;
  std::array<double, 3> sides;
  double smallest, away;
  bool upright_sides;  ///< whether the body is a box, whose faces are planes

  /// The distance over which fields near the body change, m.
  double scale() const { return std::min(smallest, std::max(away, smallest / 4)); }
};

double beyond(double x, double low, double high) { return std::max({low - x, x - high, 0.0}); }

std::string name_of(const Body& body, std::size_t number) {
  return body.name.empty() ? fmt::format("body {}", number + 1) : body.name;
}

bool conducts(const Body& body) {
  for (const auto& value : body.values)
    for (const auto* axis : {"east", "north", "up"})
      for (const auto& source : conducts_along(axis))
        if (source.property == value.property) return true;
  return false;
}

/// Bodies that influence the fields at a site: no farther from it than three times the body's largest side.
/// survey: for sources, the distance is that from the box of sources and receivers.
std::vector<Near> near_bodies(const Description& earth, const std::vector<Vector3>& places,
                              const std::optional<Prism>& survey = {}) {
  std::vector<Near> all;
  for (std::size_t n = 0; n < earth.bodies.size(); ++n) {
    const auto& body = earth.bodies[n];
    if (!conducts(body)) continue;
    const auto box = bounds(body.shape);
    Near one{name_of(body, n),
             box,
             {box.east - box.west, box.north - box.south, box.top - box.bottom},
             0,
             INFINITY,
             std::holds_alternative<Box>(body.shape)};
    one.smallest = *std::min_element(one.sides.begin(), one.sides.end());
    const double largest = *std::max_element(one.sides.begin(), one.sides.end());
    if (!std::isfinite(largest) || !(one.smallest > 0)) continue;
    for (const auto& p : places)
      one.away =
          std::min(one.away, std::hypot(beyond(p[0], box.west, box.east), beyond(p[1], box.south, box.north),
                                        beyond(p[2], box.bottom, box.top)));
    double out = one.away;
    if (survey)
      out = std::hypot(std::max({0.0, box.west - survey->east, survey->west - box.east}),
                       std::max({0.0, box.south - survey->north, survey->south - box.north}),
                       std::max({0.0, box.bottom - survey->top, survey->bottom - box.top}));
    if (out < 3 * largest) all.push_back(std::move(one));
  }
  return all;
}

/// Points at which the medium below is sampled: some of the sites, the middles of bodies, and four points
/// outside the survey.
std::vector<WidthPlace> columns_of(const GridRequest& wanted, const std::vector<Near>& bodies) {
  std::vector<WidthPlace> all;
  const auto some = [](std::size_t count) { return std::max<std::size_t>(1, count / most_columns); };
  for (std::size_t n = 0; n < wanted.receivers.size(); n += some(wanted.receivers.size()))
    all.push_back({wanted.receivers[n][0], wanted.receivers[n][1]});
  for (std::size_t n = 0; n < bodies.size(); n += some(bodies.size()))
    all.push_back(
        {(bodies[n].box.west + bodies[n].box.east) / 2, (bodies[n].box.south + bodies[n].box.north) / 2});
  double west = INFINITY, east = -INFINITY, south = INFINITY, north = -INFINITY;
  const auto hold = [&](double e, double n) {
    west = std::min(west, e), east = std::max(east, e);
    south = std::min(south, n), north = std::max(north, n);
  };
  for (const auto& p : wanted.receivers) hold(p[0], p[1]);
  for (const auto& body : bodies) hold(body.box.west, body.box.south), hold(body.box.east, body.box.north);
  const double out = std::max({1e3, east - west, north - south});
  for (const double e : {west - out, east + out})
    for (const double n : {south - out, north + out}) all.push_back({e, n});
  return all;
}

/// The medium below a point, from top to bottom; levels: heights at which it may change.
class MediumColumn {
 public:
  /// ground: top of the earth if the earth has no air above it, else NaN
  MediumColumn(const Description& earth, WidthPlace place, std::vector<double> levels, double ground)
      : earth_(earth), place_(place), levels_(std::move(levels)) {
    if (earth.topography) levels_.push_back(earth.ground(place.easting, place.northing));
    else if (!std::isnan(ground)) {
      std::erase_if(levels_, [&](double level) { return level > ground; });
      levels_.push_back(ground);
    }
    std::sort(levels_.rbegin(), levels_.rend());
    levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
    for (std::size_t n = 0; n < levels_.size() && std::isnan(top_); ++n) {
      const double below = n + 1 < levels_.size() ? (levels_[n] + levels_[n + 1]) / 2 : levels_[n] - 1;
      if (at(below) > conductivity_of_air) top_ = levels_[n];
    }
  }
  /// Height of the top of the medium; NaN if the column contains only air or undefined cells.
  double top() const { return top_; }
  double at(double up) const { return conductivity_at(earth_, place_.easting, place_.northing, up); }
  /// The height below which the medium does not change.
  double lowest() const { return levels_.empty() ? 0 : levels_.back(); }
  /// The next level below `up`.
  double below(double up) const {
    for (const double level : levels_)
      if (level < up - 1e-6) return level;
    return -INFINITY;
  }

 private:
  const Description& earth_;
  WidthPlace place_;
  std::vector<double> levels_;
  double top_ = std::nan("");
};

}  // namespace

double ground_without_air(const Description& earth, const std::vector<Vector3>& sites) {
  if (earth.topography) return std::nan("");
  const double height = sites.front()[2];
  constexpr double above[] = {1e-3, 1, 30, 1e3, 3e4, 1e6};
  for (const auto& site : sites)
    for (const double more : above)
      if (site[2] != height ||
          !(conductivity_at(earth, site[0], site[1], height + more) > conductivity_of_air))
        return std::nan("");
  return height;
}

namespace {

/// Requests widths from the top of a column down to the depth at which fields of all frequencies have
/// decayed.
void ask_down(const MediumColumn& column, const std::vector<double>& frequencies, double per_skin_depth,
              double growth, double farthest, std::vector<WidthWish>& wishes) {
  constexpr double dead = 6, beside = 1.5;
  constexpr int most_cells = 2000;
  std::vector<double> a(frequencies.size(), 0.0);
  double z = column.top(), before = INFINITY, next = column.below(z);
  for (int n = 0; n < most_cells && z > column.lowest() - farthest; ++n) {
    const auto width_in = [&](double sigma) {
      double width = before * growth;
      for (std::size_t f = 0; f < frequencies.size(); ++f)
        if (a[f] < dead)
          width = std::min(width, skin_depth(sigma, frequencies[f]) / per_skin_depth * std::exp(a[f] / 2));
      return width;
    };
    double sigma = column.at(z - 1e-6 * std::max(1.0, std::abs(z)));
    if (std::isnan(sigma)) break;
    // In a cave or a medium without conductivity, σ has a lower limit, so that cells are as wide as those
    // around.
    sigma = std::max(sigma, 1e-6);
    double width = width_in(sigma);
    if (const double middle = column.at(z - width / 2); z - width > next && middle > sigma)
      width = width_in(sigma = middle);
    const double end = std::max(z - width, next);
    wishes.push_back({end, z, width, beside});
    bool alive = false;
    for (std::size_t f = 0; f < frequencies.size(); ++f) {
      a[f] += (z - end) / skin_depth(sigma, frequencies[f]);
      alive = alive || a[f] < dead;
    }
    if (!alive) return;
    before = width;
    z = end;
    if (z == next) {
      next = column.below(z);
      before = INFINITY;
    }
  }
}

/// The distance of each site from its nearest neighbour; infinite for a single site.
std::vector<double> spacings(const std::vector<Vector3>& sites) {
  std::vector<std::size_t> order(sites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto n, auto m) { return sites[n][0] < sites[m][0]; });
  std::vector<double> least(sites.size(), INFINITY);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const auto &p = sites[order[i]], &q = sites[order[j]];
      const double east = q[0] - p[0], away = std::hypot(east, q[1] - p[1]);
      if (east > least[order[i]] && east > 0) break;
      if (away == 0) continue;
      least[order[i]] = std::min(least[order[i]], away);
      least[order[j]] = std::min(least[order[j]], away);
    }
  return least;
}

/// Requests horizontal widths of half the distance between sites, but at least 1/160 of the skin depth.
/// Returns the smallest.
double ask_for_sites(GridRequest& wanted) {
  constexpr double finest = 160;
  const double fastest = *std::max_element(wanted.frequencies.begin(), wanted.frequencies.end()),
               least = skin_depth(wanted.at_sources, fastest) / finest;
  const auto apart = spacings(wanted.receivers);
  double smallest = INFINITY;
  for (std::size_t n = 0; n < apart.size(); ++n) {
    if (!std::isfinite(apart[n])) continue;
    const double width = std::max(apart[n] / 2, least);
    smallest = std::min(smallest, width);
    for (std::size_t a = 0; a < 2; ++a) {
      const double at = wanted.receivers[n][a];
      wanted.finer[a].push_back({at, at, width, wanted.growth});
    }
  }
  return smallest;
}

/// Adds a face, unless it is too close to another.
void add_face(std::vector<double>& faces, double at, double width) {
  if (std::none_of(faces.begin(), faces.end(), [&](double f) { return std::abs(f - at) < width / 2; }))
    faces.push_back(at);
}

void ask_for_bodies(const std::vector<Near>& bodies, GridRequest& wanted) {
  constexpr double of_scale = 3, of_side = 6;
  for (const auto& body : bodies) {
    const double width = body.scale() / of_scale;
    const std::array<std::array<double, 2>, 3> ends{
        {{body.box.west, body.box.east}, {body.box.south, body.box.north}, {body.box.bottom, body.box.top}}};
    for (std::size_t a = 0; a < 3; ++a) {
      const double inside = body.sides[a] / of_side, own = std::min(width, inside);
      for (const double end : ends[a]) {
        wanted.finer[a].push_back({end, end, own, wanted.growth});
        if (body.upright_sides) add_face(a == 2 ? wanted.heights : wanted.sides[a], end, own);
      }
      wanted.finer[a].push_back({ends[a][0], ends[a][1], inside, wanted.growth});
    }
  }
}

/// For sources: cells at a side of a body are no smaller than its distance from the survey requires; sides
/// farther than three times the survey's size from it are ignored.
void ask_for_bodies_of_sources(const std::vector<Near>& bodies, const Prism& survey, double wider,
                               GridRequest& wanted) {
  constexpr double of_scale = 3, of_side = 6, of_distance = 4, seen = 3;
  const std::array<std::array<double, 2>, 3> around{
      {{survey.west, survey.east}, {survey.south, survey.north}, {survey.bottom, survey.top}}};
  double size = 0;
  for (const auto& [low, high] : around) size = std::max(size, high - low);
  for (const auto& body : bodies) {
    const std::array<std::array<double, 2>, 3> ends{
        {{body.box.west, body.box.east}, {body.box.south, body.box.north}, {body.box.bottom, body.box.top}}};
    for (std::size_t a = 0; a < 3; ++a) {
      const double inside = wider * body.sides[a] / of_side, low = around[a][0] - seen * size,
                   high = around[a][1] + seen * size;
      for (const double end : ends[a]) {
        const double away = std::max(body.away, beyond(end, around[a][0], around[a][1]));
        if (end < low || end > high) continue;
        const double own = std::min(inside, wider * std::max(body.scale() / of_scale, away / of_distance));
        wanted.finer[a].push_back({end, end, own, wanted.growth});
        if (body.upright_sides) add_face(a == 2 ? wanted.heights : wanted.sides[a], end, own);
      }
      const double from = std::max(ends[a][0], low), to = std::min(ends[a][1], high);
      if (from < to) wanted.finer[a].push_back({from, to, inside, wanted.growth});
    }
  }
}

/// For an earth defined on cells: requests the widths of these cells at faces where conductivity changes.
void ask_for_cells(const EarthModel& cells, GridRequest& wanted) {
  const auto values = conductivity_along(cells, "east");
  if (values.empty()) return;
  const auto& mesh = std::get<MeshCells>(cells.geometry).mesh;
  constexpr double contrast = 1.5;
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<bool> changes(faces[a]->size(), false);
    for (std::size_t k = 0; k < mesh.n_up(); ++k)
      for (std::size_t j = 0; j < mesh.n_north(); ++j)
        for (std::size_t i = 0; i < mesh.n_east(); ++i) {
          const std::size_t at[3] = {i, j, k};
          if (at[a] == 0) continue;
          const double here = values[mesh.index(i, j, k)],
                       other = values[mesh.index(i - (a == 0), j - (a == 1), k - (a == 2))];
          if (!(here > conductivity_of_air) || !(other > conductivity_of_air)) continue;
          if (std::max(here, other) > contrast * std::min(here, other)) changes[at[a]] = true;
        }
    for (std::size_t n = 1; n + 1 < faces[a]->size(); ++n) {
      if (!changes[n]) continue;
      const double at = (*faces[a])[n], width = std::min(at - (*faces[a])[n - 1], (*faces[a])[n + 1] - at);
      wanted.finer[a].push_back({at, at, width, wanted.growth});
      if (a < 2) add_face(wanted.sides[a], at, width);
    }
  }
}

/// Requests two cells in each layer under the sites, unless the layers are too many for a mesh.
void ask_for_layers(const Description& earth, GridRequest& wanted) {
  auto levels = levels_of(earth);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  constexpr std::size_t most = 200;
  for (std::size_t n = 0; n + 1 < levels.size() && levels.size() < most; ++n) {
    const auto sigma = conductivity_at(earth, wanted.receivers.front()[0], wanted.receivers.front()[1],
                                       (levels[n] + levels[n + 1]) / 2);
    if (sigma > conductivity_of_air) wanted.layers.push_back({levels[n], levels[n + 1], 2});
  }
}

/// Number of cells between two coordinates of an axis.
double cells_between(const std::vector<double>& faces, double low, double high) {
  double count = 0;
  for (std::size_t n = 0; n + 1 < faces.size(); ++n) {
    const double inside = std::min(high, faces[n + 1]) - std::max(low, faces[n]);
    if (inside > 0) count += inside / (faces[n + 1] - faces[n]);
  }
  return count;
}

/// The layer of ground or water that contains a source, or at whose top under air a source lies.
struct OwnLayer {
  double bottom = -INFINITY, top = INFINITY;  ///< heights of the next contrasts above a factor of 1.5
  /// Conductivity of the layer, and of the better conductor above or below it, S/m.
  double own = 0, beside = 0;
};

OwnLayer layer_of(const Description& earth, const std::vector<double>& levels, const Vector3& place) {
  constexpr double alike = 1.5;
  const double aside = 1e-6 * std::max(1.0, std::abs(place[2]));
  const auto at = [&](double up) { return conductivity_at(earth, place[0], place[1], up); };
  OwnLayer layer;
  double start = place[2] + aside;
  if (!(at(start) > conductivity_of_air)) start = place[2] - aside;
  layer.own = at(start);
  if (!(layer.own > conductivity_of_air)) return layer;
  const auto ends = [&](double level, double away) {
    const double sigma = at(level + away * aside);
    if (std::max(sigma, layer.own) < alike * std::min(sigma, layer.own)) return false;
    if (sigma > layer.beside) layer.beside = sigma;
    return true;
  };
  const auto next = std::lower_bound(levels.begin(), levels.end(), start);
  for (auto level = next; level != levels.end() && std::isinf(layer.top); ++level)
    if (ends(*level, 1)) layer.top = *level;
  for (auto level = next; level != levels.begin() && std::isinf(layer.bottom);)
    if (ends(*--level, -1)) layer.bottom = *level;
  return layer;
}

std::string text_of_length(double metres) {
  return metres < 1e4 ? fmt::format("{:.4g} m", metres) : fmt::format("{:.4g} km", metres / 1e3);
}

}  // namespace

double conductivity_at(const Description& earth, double easting, double northing, double up) {
  for (const auto& source : conducts_along("east"))
    if (const double value = earth.at(source.property, easting, northing, up); !std::isnan(value))
      return source.conductivity(value);
  return std::nan("");
}

std::vector<std::string> ask_for_earth(const Description& earth, GridRequest& wanted) {
  std::vector<std::string> reasons;
  const auto bodies = near_bodies(earth, wanted.receivers);
  auto levels = wanted.heights;
  for (const auto& body : bodies) levels.insert(levels.end(), {body.box.bottom, body.box.top});
  const double per = upright_per_across * wanted.cells_per_skin_depth;
  const double ground = ground_without_air(earth, wanted.receivers);
  if (!std::isnan(ground)) wanted.heights.push_back(ground);
  for (const auto& place : columns_of(wanted, bodies)) {
    const MediumColumn column(earth, place, levels, ground);
    if (std::isnan(column.top())) continue;
    ask_down(column, wanted.frequencies, per, wanted.growth, wanted.farthest.value_or(1e5), wanted.finer[2]);
  }
  if (wanted.finer[2].empty()) return reasons;
  double least = INFINITY;
  for (const auto& wish : wanted.finer[2]) least = std::min(least, wish.width);
  reasons.push_back(
      fmt::format("cells upright of {:.3g} m and more: {:.2g} in the skin depth of the medium they "
                  "lie in, growing as waves die out, two or more in a layer",
                  least, per));
  if (const double width = ask_for_sites(wanted); std::isfinite(width))
    reasons.push_back(
        fmt::format("cells across of {:.3g} m and more: half of the distance from a site to the "
                    "next",
                    width));
  ask_for_bodies(bodies, wanted);
  ask_for_layers(earth, wanted);
  if (earth.cells) ask_for_cells(*earth.cells, wanted);
  if (!bodies.empty()) {
    double smallest = INFINITY;
    for (const auto& body : bodies) smallest = std::min(smallest, body.scale() / 3);
    reasons.push_back(
        fmt::format("cells of {:.3g} m at the sides of {} near the sites: a third of its smallest side or "
                    "distance",
                    smallest, bodies.size() == 1 ? bodies.front().name : "bodies"));
  }
  return reasons;
}

std::vector<std::string> ask_for_layers_of_sources(const Description& earth, GridRequest& wanted) {
  constexpr double in_layer = 6, near = 12, around = 5, resists = 3, slow = 1.15;
  auto levels = wanted.heights;
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  double least = INFINITY;
  for (std::size_t n = 0; n < wanted.sources.size(); ++n) {
    const auto& p = wanted.sources[n];
    const auto layer = layer_of(earth, levels, p);
    const double high = layer.top - layer.bottom, away = std::min(p[2] - layer.bottom, layer.top - p[2]);
    if (std::isfinite(high)) {
      wanted.finer[2].push_back({layer.bottom, layer.top, high / in_layer, wanted.growth});
      least = std::min(least, high / in_layer);
      const bool seen = std::any_of(wanted.receivers.begin(), wanted.receivers.end(), [&](const Vector3& q) {
        return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) < near * high;
      });
      for (std::size_t a = 0; a < 2 && seen && layer.beside > resists * layer.own; ++a)
        wanted.finer[a].push_back({p[a] - around * high, p[a] + around * high, high / around, slow});
    }
    if (wanted.upright[n] && away > 0 && std::isfinite(away)) {
      wanted.finer[2].push_back({p[2] - away, p[2] + away, 2 * away, wanted.growth});
      wanted.heights.insert(wanted.heights.end(), {p[2] - away, p[2] + away});
    }
  }
  wanted.finer[2] = without_others(std::move(wanted.finer[2]));
  if (std::isinf(least)) return {};
  return {fmt::format("cells of {:.3g} m upright in the layer of a source: a sixth of it", least)};
}

std::vector<std::string> ask_for_bodies_of_sources(const Description& earth, double wider,
                                                   GridRequest& wanted) {
  std::vector<Vector3> places = wanted.receivers;
  places.insert(places.end(), wanted.sources.begin(), wanted.sources.end());
  for (const auto& part : wanted.parts) {
    constexpr int pieces = 10;
    for (int n = 0; n <= pieces; ++n) {
      Vector3 at;
      for (std::size_t a = 0; a < 3; ++a) at[a] = part[0][a] + (part[1][a] - part[0][a]) * n / pieces;
      places.push_back(at);
    }
  }
  Prism survey{INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (const auto& p : places) {
    survey.west = std::min(survey.west, p[0]), survey.east = std::max(survey.east, p[0]);
    survey.south = std::min(survey.south, p[1]), survey.north = std::max(survey.north, p[1]);
    survey.bottom = std::min(survey.bottom, p[2]), survey.top = std::max(survey.top, p[2]);
  }
  const auto bodies = near_bodies(earth, places, survey);
  if (bodies.empty()) return {};
  ask_for_bodies_of_sources(bodies, survey, wider, wanted);
  for (auto& wishes : wanted.finer) wishes = without_others(std::move(wishes));
  return {fmt::format(
      "faces and smaller cells at the sides of {}: six cells across, a third of its smallest "
      "side or a quarter of its distance at a side{}",
      bodies.size() == 1 ? bodies.front().name : fmt::format("{} bodies", bodies.size()),
      wider > 1 ? fmt::format(", {:.2g} times as wide, else there were too many cells", wider) : "")};
}

std::vector<std::string> not_resolved(const Description& earth, const TensorMesh& mesh,
                                      const std::vector<Vector3>& places) {
  constexpr double least = 1.9;  // number of cells across a body; the outer two may contain two media
  std::vector<std::string> lines;
  for (const auto& body : near_bodies(earth, places)) {
    const double across[3] = {cells_between(mesh.easting(), body.box.west, body.box.east),
                              cells_between(mesh.northing(), body.box.south, body.box.north),
                              cells_between(mesh.up(), body.box.bottom, body.box.top)};
    static constexpr const char* names[3] = {"east", "north", "up"};
    const auto a = static_cast<std::size_t>(std::min_element(across, across + 3) - across);
    if (across[a] < least)
      lines.push_back(fmt::format(
          "{} is not resolved: {} along {} in {:.2g} cells, and fields around it are wrong by tens of "
          "percent; give a mesh with cells of {} there (for plane waves [mesh] left out plans one)",
          body.name, text_of_length(body.sides[a]), names[a], across[a], text_of_length(body.sides[a] / 4)));
  }
  return lines;
}

}  // namespace terrane::electromagnetic
