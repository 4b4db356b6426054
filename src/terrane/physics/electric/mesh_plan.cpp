// Outline: find the sides of bodies as intervals along the three axes; from these, faces and fine cells; if
// there are too many cells, wider ones.
#include "terrane/physics/electric/mesh_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <variant>

#include "terrane/mesh/graded.hpp"

namespace terrane::electric {

namespace {
constexpr double seen = 0.25;    // depth to which cells are even, relative to the length of the survey
constexpr double far = 3;        // distance from an electrode to a wall, relative to the length of the survey
constexpr double farthest = 12;  // largest distance to a wall, if a resistive dyke divides the ground
constexpr double sideways = 1.4, down = 1.2;  // factors by which cells grow

using Interval3 = std::array<std::array<double, 2>, 3>;  // easting, northing, up

/// The extent and properties of a body or layer, as a mesh must resolve them.
struct Sides {
  std::size_t body = 0;
  Interval3 at{};
  std::array<bool, 3> even{};  // whether the sides on this axis are planes normal to it
  double conductivity = 0;     // S/m; 0: not defined
  double thinnest = INFINITY;  // least thickness of a layer between curved surfaces, m
};

double conductivity_of(const std::vector<PropertyValue>& values) {
  for (const auto& value : values) {
    if (value.property.starts_with("conductivity")) return value.value;
    if (value.property.starts_with("resistivity")) return 1 / value.value;
  }
  return 0;
}

/// Sets the range of heights of a layer between curved surfaces over a box, and its least thickness, if it
/// exists there.
void look_at_layer(const Shape& layer, const Prism& over, Sides& sides) {
  constexpr int steps = 24;
  auto& up = sides.at[2];
  up = {INFINITY, -INFINITY};
  for (int j = 0; j <= steps; ++j)
    for (int i = 0; i <= steps; ++i) {
      const auto here = along_vertical(layer, over.west + (over.east - over.west) * i / steps,
                                       over.south + (over.north - over.south) * j / steps);
      if (here.empty()) continue;
      up = {std::min(up[0], here.bottom), std::max(up[1], here.top)};
      sides.thinnest = std::min(sides.thinnest, here.top - here.bottom);
    }
}

/// Bodies and layers that intersect the survey's box, extended by `reach` on all sides.
std::vector<Sides> sides_of(const Description& earth, const Prism& survey, double reach) {
  std::vector<Sides> all;
  const Prism wide{survey.west - reach,  survey.east + reach,   survey.south - reach,
                   survey.north + reach, survey.bottom - reach, survey.top + reach};
  for (std::size_t n = 0; n < earth.bodies.size(); ++n) {
    const auto& shape = earth.bodies[n].shape;
    const auto box = bounds(shape);
    Sides sides{n,
                {{{box.west, box.east}, {box.south, box.north}, {box.bottom, box.top}}},
                {},
                conductivity_of(earth.bodies[n].values)};
    if (const auto* layer = std::get_if<Layer>(&shape)) {
      sides.even[2] =
          std::holds_alternative<double>(layer->bottom) && std::holds_alternative<double>(layer->top);
      if (!sides.even[2]) look_at_layer(shape, wide, sides);
    } else {
      const bool is_box = std::holds_alternative<Box>(shape);
      sides.even = {is_box, is_box, is_box || std::holds_alternative<Polygon>(shape)};
    }
    const auto& at = sides.at;
    const bool near = at[0][0] < wide.east && at[0][1] > wide.west && at[1][0] < wide.north &&
                      at[1][1] > wide.south && at[2][0] < wide.top && at[2][1] > wide.bottom;
    if (near && sides.conductivity > 0) all.push_back(sides);
  }
  return all;
}

bool is_layer(const Sides& sides) { return !std::isfinite(sides.at[0][0]) && !std::isfinite(sides.at[1][0]); }

/// away(): distance from a body to the nearest point of the survey, m. across(): width of a body along an
/// axis, m.
double away(const Sides& sides, const Prism& survey) {
  const double low[3] = {survey.west, survey.south, survey.bottom},
               high[3] = {survey.east, survey.north, survey.top};
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double gap = std::max({0.0, sides.at[a][0] - high[a], low[a] - sides.at[a][1]});
    sum += gap * gap;
  }
  return std::sqrt(sum);
}
double across(const Sides& sides, std::size_t axis) {
  const double whole = sides.at[axis][1] - sides.at[axis][0];
  return axis == 2 ? std::min(whole, sides.thinnest) : whole;
}

/// How far currents spread before they cross resistive rock that divides the ground from side to side, as a
/// dyke does, m: w ρ/ρ₀, with its width w, its resistivity ρ and that of the best conductor ρ₀. 0 if there is
/// no such rock.
double spread_at_barriers(const Description& earth, const Prism& survey, double reach) {
  const auto all = sides_of(earth, survey, reach);
  const double low[3] = {survey.west, survey.south, survey.bottom},
               high[3] = {survey.east, survey.north, survey.top};
  double best = conductivity_of(earth.background), most = 0;
  for (const auto& one : all) best = std::max(best, one.conductivity);
  for (const auto& one : all)
    for (std::size_t a = 0; a < 2; ++a) {
      const double width = across(one, a);
      const auto other = 1 - a;
      const bool parts = std::isfinite(width) && width < reach && one.at[other][0] < low[other] - reach &&
                         one.at[other][1] > high[other] + reach && one.at[2][0] < low[2] - reach;
      if (parts) most = std::max(most, width * best / one.conductivity);
    }
  return most;
}

/// The faces and fine cells that are wanted along one axis.
struct Wanted {
  std::vector<double> faces;
  std::vector<FineCells> fine;
};

/// The distance of each electrode from its nearest neighbour in any direction, m; top: height of electrodes
/// for which none is given.
std::vector<double> to_next(const std::vector<Position>& electrodes, double top) {
  std::vector<std::size_t> order(electrodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto n, auto m) { return electrodes[n][0] < electrodes[m][0]; });
  std::vector<double> least(electrodes.size(), INFINITY);
  const auto height = [&](const Position& p) { return std::isnan(p[2]) ? top : p[2]; };
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const auto &p = electrodes[order[i]], &q = electrodes[order[j]];
      if (q[0] - p[0] > least[order[i]]) break;
      const double apart = std::hypot(q[0] - p[0], q[1] - p[1], height(q) - height(p));
      if (apart == 0) continue;
      least[order[i]] = std::min(least[order[i]], apart);
      least[order[j]] = std::min(least[order[j]], apart);
    }
  return least;
}

class Planner {
 public:
  /// as_asked: the job specifies the cell width, which then does not depend on the distances of electrodes
  Planner(const Description& earth, const std::vector<Position>& electrodes, const Prism& survey,
          double reach, double cell, bool as_asked)
      : earth_(earth),
        electrodes_(electrodes),
        survey_(survey),
        cell_(cell),
        sides_(sides_of(earth, survey, reach)),
        to_next_(to_next(electrodes, survey.top)) {
    for (double& apart : to_next_)
      if (as_asked || apart > 1.98 * cell)
        apart = INFINITY;  // two even cells fit between neighbouring
                           // electrodes
  }

  /// The faces and fine cells wanted along easting, northing, up.  wider: factor by which fine cells are
  /// wider than bodies and electrodes require
  std::array<Wanted, 3> wanted(double wider) const {
    std::array<Wanted, 3> all;
    for (const double level : levels_of(earth_)) all[2].faces.push_back(level);
    for (const auto& one : sides_) {
      const double gap = away(one, survey_);
      for (std::size_t a = 0; a < 3; ++a) {
        if (is_layer(one) && a < 2) continue;
        const double size = across(one, a);
        if (one.even[a])
          for (const double side : one.at[a])
            if (std::isfinite(side)) all[a].faces.push_back(side);
        if (!std::isfinite(size) || !(size > 0)) continue;
        // Two cells across a body; four if its distance is less than its size. Two suffice for layers below
        // flat ground, which are part of the primary potential.
        const bool by_primary = is_layer(one) && !earth_.topography;
        const double cells = gap < size && !by_primary ? 4 : 2;
        const double least = by_primary ? 0 : std::max(cell_ / 8, gap / 6);
        const double width = std::max(size / cells, least) * (by_primary ? 1 : wider);
        if (width < cell_ + 0.3 * gap) all[a].fine.push_back({one.at[a][0], one.at[a][1], width});
      }
    }
    at_electrodes(wider, all);
    return all;
  }

 private:
  double conductivity_at(const Position& p) const {
    const double up = std::isnan(p[2]) ? earth_.ground(p[0], p[1]) : p[2];
    const double below = (std::isfinite(up) ? up : 0) - 1e-6 * cell_;
    for (std::size_t n = earth_.bodies.size(); n-- > 0;) {
      const auto part = along_vertical(earth_.bodies[n].shape, p[0], p[1]);
      if (const double sigma = conductivity_of(earth_.bodies[n].values);
          sigma > 0 && part.bottom <= below && below < part.top)
        return sigma;
    }
    return conductivity_of(earth_.background);
  }
  /// The distance from an electrode to the nearest side of a body, m.
  double to_side(const Sides& one, const Position& p) const {
    const double at[3] = {p[0], p[1], std::isnan(p[2]) ? survey_.top : p[2]};
    double outside = 0, inside = INFINITY;
    for (std::size_t a = 0; a < 3; ++a) {
      const double gap = std::max({0.0, one.at[a][0] - at[a], at[a] - one.at[a][1]});
      outside += gap * gap;
      // The top of a body that extends to the ground is not a side.
      const double to_low = at[a] - one.at[a][0], to_high = a == 2 ? INFINITY : one.at[a][1] - at[a];
      for (const double to : {to_low, to_high})
        if (to > 0) inside = std::min(inside, to);
    }
    return outside > 0 ? std::sqrt(outside) : inside;
  }
  void at_electrodes(double wider, std::array<Wanted, 3>& all) const {
    for (std::size_t n = 0; n < electrodes_.size(); ++n) {
      const auto& p = electrodes_[n];
      const double own = conductivity_at(p),
                   between = to_next_[n] / 2;  // `between`, half the distance to the next electrode, limits
                                               // the width of cells in boreholes
      double least = INFINITY;
      for (const auto& one : sides_) {
        if (is_layer(one) && !earth_.topography) continue;
        const double t = to_side(one, p);
        if (!(t > 1e-6 * cell_) || !std::isfinite(t) || one.conductivity == own) continue;
        const double c = std::max(1.0, std::max(one.conductivity, own) / own);
        least = std::min(least, t / std::sqrt(2 * c));
      }
      const double width = std::min(std::max(least, cell_ / 4), between) * wider;
      if (!(width < cell_)) continue;
      const double at[3] = {p[0], p[1], std::isnan(p[2]) ? survey_.top : p[2]};
      for (std::size_t a = 0; a < 3; ++a)
        if (std::isfinite(at[a])) all[a].fine.push_back({at[a] - 2 * width, at[a] + 2 * width, width});
    }
  }

  const Description& earth_;
  const std::vector<Position>& electrodes_;
  const Prism& survey_;
  double cell_;
  std::vector<Sides> sides_;
  std::vector<double> to_next_;  // [electrode] distance to the next electrode, m
};

/// Adds faces at electrodes, except at those next to a side of a body. Adds none if two electrodes are closer
/// to each other on this axis than 0.45 cell widths.
void add_electrodes(const std::vector<Position>& electrodes, std::size_t axis, double cell,
                    std::vector<double>& faces) {
  if (axis < 2 && faces.empty()) return;  // evenly spaced cells already have faces at electrodes
  std::vector<double> places;
  for (const auto& p : electrodes)
    if (std::isfinite(p[axis])) places.push_back(p[axis]);
  std::sort(places.begin(), places.end());
  places.erase(
      std::unique(places.begin(), places.end(), [&](double p, double q) { return q - p < 1e-6 * cell; }),
      places.end());
  for (std::size_t n = 1; n < places.size(); ++n)
    if (places[n] - places[n - 1] < 0.45 * cell) return;
  const auto sides = faces;
  for (const double place : places)
    if (std::none_of(sides.begin(), sides.end(),
                     [&](double side) { return std::abs(side - place) < 0.2 * cell; }))
      faces.push_back(place);
}

/// The width of cells at electrodes, m: specified by the job, or half the least distance of two electrodes.
double width_of_cells(const MeshWish& wish, double apart, double reach, std::vector<std::string>& reasons) {
  const double cell = wish.cell.value_or(apart > 0 ? apart / 2 : reach / 40);
  reasons.push_back(wish.cell   ? fmt::format("cells of {:.4g} m, as mesh.cell says", cell)
                    : apart > 0 ? fmt::format("cells of {:.4g} m: half the distance between electrodes", cell)
                                : fmt::format("cells of {:.4g} m: a fortieth of the holes' depth", cell));
  return cell;
}

/// The walls around a survey on the east, west, south and north; bottom and top are set to zero.
Prism walls_around(const Prism& box, double away) {
  return {box.west - away, box.east + away, box.south - away, box.north + away, 0, 0};
}

/// The distance from an electrode to a wall, m: the usual one, or that over which currents spread, if it is
/// larger.
double distance_to_walls(const Description& earth, const Prism& box, double reach) {
  Prism seen_from = box;
  if (!std::isfinite(box.bottom)) {  // electrodes without heights are on the ground
    const auto ground = relief(earth, box, 0);
    seen_from.bottom = ground.lowest;
    seen_from.top = ground.highest;
  }
  return std::clamp(spread_at_barriers(earth, seen_from, reach), far * reach, farthest * reach);
}

/// Adds the reasons for the number of cells.  even: number of cells without bodies and layers; most: limit
/// for the number; wider: factor by which this limit widened the cells at bodies
void say_cells(MeshPlan& plan, std::size_t even, std::size_t most, double wider) {
  if (plan.mesh.size() != even)
    plan.reasons.push_back(
        fmt::format("faces at sides of layers and bodies, and cells there so small that these are "
                    "two cells across or more: {:.2g} times as many cells",
                    static_cast<double>(plan.mesh.size()) / static_cast<double>(even)));
  if (wider > 1)
    plan.reasons.push_back(
        fmt::format("cells at bodies are {:.2g} times as wide as they ask for: else there were more "
                    "than {} cells",
                    wider, most));
  plan.reasons.push_back(fmt::format("{} × {} × {} cells, growing by {} sideways and {} downwards",
                                     plan.mesh.n_east(), plan.mesh.n_north(), plan.mesh.n_up(), sideways,
                                     down));
}

}  // namespace

MeshPlan plan_mesh(const Description& earth, const MeshWish& wish, const std::vector<Position>& electrodes) {
  MeshPlan plan;
  const auto box = box_around(electrodes);
  const double apart = smallest_distance(electrodes);
  const double reach = std::max(
      {box.east - box.west, box.north - box.south, std::isfinite(box.bottom) ? box.top - box.bottom : 0.0});
  if (!(reach > 0)) throw InputError("mesh", "the electrodes are all at one place");
  const double cell = width_of_cells(wish, apart, reach, plan.reasons);
  const double to_wall = distance_to_walls(earth, box, reach);
  auto all = walls_around(box, to_wall);
  const auto land = relief(earth, all, std::isfinite(box.top) ? std::max(box.top, 0.0) : 0);
  const auto near = relief(earth, box, land.highest);
  all.top = land.highest;
  if (earth.topography)  // there may be crests between the points that relief() samples
    for (const auto& p : electrodes) all.top = std::max(all.top, earth.ground(p[0], p[1]));
  const double lowest = std::isfinite(box.bottom) ? std::min(near.lowest, box.bottom) : near.lowest;
  const double core = lowest - seen * reach;
  all.bottom = wish.depth ? all.top - *wish.depth : lowest - to_wall;
  plan.reasons.push_back(fmt::format(
      "even cells down to {:.4g} m, a quarter of the survey's {:.4g} m below it; walls "
      "{:.4g} m away, {}",
      core, reach, to_wall,
      to_wall > far * reach ? "as currents spread before they cross resistive rock" : "three times that"));
  if (wish.box) all = *wish.box;
  Prism survey = box;
  survey.bottom = lowest;
  survey.top = std::isfinite(box.top) ? std::max(near.highest, box.top) : near.highest;
  const Planner planner(earth, electrodes, survey, reach, cell, wish.cell.has_value());
  const auto faces = [&](double wider) {
    auto wanted = planner.wanted(wider);
    const auto axis = [&](std::size_t a, double low, double high, double from, double to) {
      low = std::max(low - 2 * cell, from);
      high = std::min(high + 2 * cell, to);
      add_electrodes(electrodes, a, cell, wanted[a].faces);
      return graded_faces({low, std::max(high, low + cell), cell, sideways, sideways, from, to,
                           wanted[a].faces, wanted[a].fine});
    };
    add_electrodes(electrodes, 2, cell, wanted[2].faces);
    return TensorMesh(axis(0, box.west, box.east, all.west, all.east),
                      axis(1, box.south, box.north, all.south, all.north),
                      graded_faces({core, all.top, cell, down, sideways, all.bottom, all.top, wanted[2].faces,
                                    wanted[2].fine}));
  };
  const auto even = faces(1e3).size(), most = std::max<std::size_t>(200'000, 2 * even);
  double wider = 1;
  plan.mesh = faces(wider);
  while (plan.mesh.size() > most && wider < 64) plan.mesh = faces(wider *= 1.25);
  say_cells(plan, even, most, wider);
  return plan;
}

namespace {

/// Whether electrodes lie vertically above each other, as in boreholes.
bool are_in_holes(const std::vector<Position>& electrodes, double cell) {
  for (std::size_t n = 1; n < electrodes.size(); ++n)
    if (std::hypot(electrodes[n][0] - electrodes[n - 1][0], electrodes[n][1] - electrodes[n - 1][1]) <
        0.01 * cell)
      return true;
  return false;
}

/// The ground through electrodes that lie on it; empty if they lie in a horizontal plane, at height `level`,
/// or have no heights.
Ground ground_of(const std::vector<Position>& electrodes, const Prism& box, double cell, double& level) {
  level = 0;
  if (!std::isfinite(box.top)) return {};
  if (are_in_holes(electrodes, cell)) {
    level = std::max(box.top, 0.0);
    return {};
  }
  level = box.top;
  if (box.top - box.bottom < 0.01 * cell) return {};
  std::vector<Position> on_it;
  for (const auto& p : electrodes)
    if (!std::isnan(p[2])) on_it.push_back(p);
  return ground_through(on_it);
}

constexpr double down_below = 1.15;          // growth factor of cells downwards, for inversions
constexpr std::size_t many_cells = 300'000;  // limit for the number of cells

/// Even cells at the electrodes, down to the lowest point of the ground; beyond them cells that grow out to
/// the walls `all`.
TensorMesh cells_around(const Prism& box, const Prism& all, double lowest, double cell) {
  const auto axis = [&](double low, double high, double from, double to) {
    low = std::max(low - 2 * cell, from);
    high = std::min(high + 2 * cell, to);
    return graded_faces({low, std::max(high, low + cell), cell, sideways, sideways, from, to, {}, {}});
  };
  const double core = std::max(all.bottom + cell, std::min(lowest, all.top - cell) - cell);
  return TensorMesh(axis(box.west, box.east, all.west, all.east),
                    axis(box.south, box.north, all.south, all.north),
                    graded_faces({core, all.top, cell, down_below, sideways, all.bottom, all.top, {}, {}}));
}

}  // namespace

CellsPlan plan_cells_below(const std::vector<Position>& electrodes, const Ground& ground,
                           const MeshWish& wish, Ground& own) {
  CellsPlan plan;
  const auto box = box_around(electrodes);
  const double apart = smallest_distance(electrodes);
  const bool deep = std::isfinite(box.bottom) && !(apart > 0);
  const double reach =
      std::max({box.east - box.west, box.north - box.south, deep ? box.top - box.bottom : 0.0});
  if (!(reach > 0)) throw InputError("mesh", "the electrodes are all at one place");
  double cell = width_of_cells(wish, apart, reach, plan.reasons);
  double level = 0;
  own = ground ? Ground{} : ground_of(electrodes, box, cell, level);
  const auto& surface = ground ? ground : own;
  auto all = walls_around(box, far * reach);
  const auto land = surface ? relief(surface, all) : Relief{level, level};
  const auto near = surface ? relief(surface, box) : land;
  all.top = std::max(land.highest, std::isfinite(box.top) ? box.top : land.highest);
  const double lowest = std::isfinite(box.bottom) ? std::min(near.lowest, box.bottom) : near.lowest;
  all.bottom = wish.depth ? all.top - *wish.depth : lowest - far * reach;
  if (wish.box) all = *wish.box;
  plan.reasons.push_back(
      own      ? fmt::format("the ground is that of the electrodes' heights, {:.4g} to {:.4g} m", near.lowest,
                             near.highest)
      : ground ? fmt::format("the ground is from {:.4g} to {:.4g} m", near.lowest, near.highest)
               : fmt::format("the ground is at {:.4g} m", level));
  plan.mesh = cells_around(box, all, lowest, cell);
  const double first = cell;
  while (!wish.cell && plan.mesh.size() > many_cells && cell < 4 * first) {
    cell *= 1.25;
    plan.mesh = cells_around(box, all, lowest, cell);
  }
  if (cell > first)
    plan.reasons.push_back(
        fmt::format("cells of {:.4g} m, so that there are not many more than {}; mesh.cell makes "
                    "them finer",
                    cell, many_cells));
  plan.reasons.push_back(fmt::format(
      "{} × {} × {} cells, growing by {} sideways and {} downwards to walls {:.4g} m away, three times "
      "what electrodes reach over",
      plan.mesh.n_east(), plan.mesh.n_north(), plan.mesh.n_up(), sideways, down_below, far * reach));
  plan.smooth = {4 * cell, 4 * cell, 2 * cell};
  // A survey on a line is hardly sensitive to structure beside the line: so models are smoothed across the
  // line over half of its length.
  const auto spread = spread_of(electrodes);
  if (spread.width < 0.02 * spread.length)
    for (std::size_t a = 0; a < 2; ++a)
      if (std::abs(spread.along[a]) < 0.02) plan.smooth[a] = reach / 2;
  return plan;
}

namespace {

/// The width of the widest cell that overlaps an interval.
double widest_within(const std::vector<double>& faces, double low, double high) {
  double widest = 0;
  for (std::size_t n = 0; n + 1 < faces.size(); ++n)
    if (faces[n] < high && faces[n + 1] > low) widest = std::max(widest, faces[n + 1] - faces[n]);
  return widest;
}

/// Distance of a coordinate from the nearest face, as a fraction of its cell.
double off_face(const std::vector<double>& faces, double at) {
  if (!(at > faces.front()) || !(at < faces.back())) return 0;
  const auto above = std::upper_bound(faces.begin(), faces.end(), at);
  return std::min(at - *(above - 1), *above - at) / (*above - *(above - 1));
}

}  // namespace

std::vector<std::string> what_mesh_misses(const Description& earth, const TensorMesh& mesh,
                                          const std::vector<Position>& electrodes,
                                          const std::vector<std::string>& tables) {
  constexpr const char* axes[3] = {"from west to east", "from south to north", "upwards"};
  Prism survey = box_around(electrodes);
  const double reach = std::max({survey.east - survey.west, survey.north - survey.south,
                                 std::isfinite(survey.bottom) ? survey.top - survey.bottom : 0.0});
  const double top = mesh.up().back();
  const auto ground = relief(earth, survey, top);
  survey.bottom = std::isfinite(survey.bottom) ? std::min(survey.bottom, ground.lowest) : ground.lowest;
  survey.top =
      std::min(std::isfinite(survey.top) ? std::max(survey.top, ground.highest) : ground.highest, top);
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  std::vector<std::string> all;
  for (const auto& one : sides_of(earth, survey, reach)) {
    const double gap = away(one, survey);
    const auto name = one.body < tables.size() ? tables[one.body] : fmt::format("body {}", one.body + 1);
    for (std::size_t a = 0; a < 3; ++a) {
      const double size = across(one, a);
      const double low = std::max(one.at[a][0], faces[a]->front()),
                   high = std::min(one.at[a][1], faces[a]->back());
      if (!(low < high) || size < gap / 20) continue;
      const double cell = widest_within(*faces[a], low, high);
      const bool thin = size < 1.99 * cell && std::isfinite(size) && high - low > 0.5 * size;
      double nearest = INFINITY;
      for (const double side : one.at[a])
        if (one.even[a] && off_face(*faces[a], side) > 0.01) nearest = gap;
      if (!thin && !(nearest < 2 * cell)) continue;
      all.push_back(
          thin ? fmt::format(
                     "{}: it is {:.3g} m across {}, and cells there are {:.3g} m: less than two cells do not "
                     "hold it, and data may be wrong by tens of per cent; let cells be {:.3g} m there, with "
                     "faces at its sides (kind = \"planned\" does so, with a smaller mesh.cell where it "
                     "warns, too)",
                     name, size, axes[a], cell, size / 2)
               : fmt::format(
                     "{}: a side lies within a cell of {:.3g} m ({}), near electrodes: cells mix its medium "
                     "with what is beside it, and data may be wrong by ten per cent and more; put a face "
                     "there (kind = \"planned\" does so)",
                     name, cell, axes[a]));
      break;
    }
  }
  return all;
}

}  // namespace terrane::electric
