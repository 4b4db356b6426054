// Outline: the cells around an electrode; candidates for its primary potential (a half space, layers, and the
// nearest contact to the west, east, south and north); the estimated error of each; the candidate with the
// least error.
#include "terrane/physics/electric/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/physics/electric/grid/ground.hpp"

namespace terrane::electric {

namespace {

using Ranges = std::array<std::pair<std::size_t, std::size_t>, 3>;

constexpr std::size_t reach = 12;  // number of cells that are examined on each side of an electrode
/// Estimated relative errors of total potentials that are corrected by those over homogeneous ground.
/// as_total: another medium begins more than a cell from the electrode; as_total_at_contact: it begins
/// nearer.
constexpr double as_total = 0.03, as_total_at_contact = 0.08;
/// Estimated relative errors of total potentials that are not corrected, three cells from the electrode. They
/// are not corrected if there are walls that a half space does not have. as_plain_total: another medium
/// begins more than a cell from the electrode; as_plain_total_at_contact: it begins nearer.
constexpr double as_plain_total = 0.08, as_plain_total_at_contact = 0.25;
constexpr double infinite = std::numeric_limits<double>::infinity();
/// Values of Primary::candidate; 0 means the total potential.
constexpr int of_half_space = 1, first_contact = 2, first_layers = 6;

/// The choice made for an electrode on another mesh; negative if there is none.
int taken_of(const Parameters& parameters, std::size_t electrode) {
  const auto& taken = parameters.taken.primary;
  return electrode < taken.size() && parameters.potential == Potential::automatic ? taken[electrode] : -1;
}

/// The cells that contain a point, as ranges along easting, northing, up: one cell, or two if the point is on
/// a face.
Ranges cells_around(const TensorMesh& mesh, const Point& p) {
  const double place[3] = {p.e, p.n, p.u};
  const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
  Ranges ranges;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& f = *faces[a];
    const std::size_t cells = f.size() - 1;
    const auto above = static_cast<std::size_t>(std::upper_bound(f.begin(), f.end(), place[a]) - f.begin());
    const std::size_t here = std::min(above == 0 ? 0 : above - 1, cells - 1);
    const bool on_face = place[a] == f[here];
    ranges[a] = {on_face && here > 0 ? here - 1 : here, here + 1};
  }
  return ranges;
}

template <class Use>
void for_cells(const Ranges& ranges, const Use& use) {
  for (std::size_t k = ranges[2].first; k < ranges[2].second; ++k)
    for (std::size_t j = ranges[1].first; j < ranges[1].second; ++j)
      for (std::size_t i = ranges[0].first; i < ranges[0].second; ++i) use(i, j, k);
}

HalfSpace medium_of(const TensorMesh& mesh, const Conductivity& sigma, const std::array<std::size_t, 3>& at) {
  const auto cell = mesh.index(at[0], at[1], at[2]);
  HalfSpace medium;
  for (std::size_t a = 0; a < 3; ++a) {
    medium.along[a] = (*sigma.along[a])[cell];
    if (sigma.complex()) medium.quadrature[a] = (*sigma.quadrature[a])[cell];
  }
  return medium;
}

bool almost(double one, double other) { return std::abs(one - other) <= 1e-12 * std::abs(other); }

/// Whether the conductivities along all axes have the same phase, which the closed form requires.
bool lags_alike(const HalfSpace& medium) {
  for (std::size_t a = 1; a < 3; ++a)
    if (std::abs(medium.quadrature[a] * medium.along[0] - medium.quadrature[0] * medium.along[a]) >
        1e-12 * medium.along[0] * medium.along[a])
      return false;
  return true;
}

/// Whether a primary has a closed form: an image behind a contact requires that both media have the same
/// stretched coordinates.
bool has_closed_form(const Primary& primary) {
  if (primary.layered) return true;
  if (!lags_alike(primary.own)) return false;
  if (!primary.contact) return true;
  const auto one = primary.own.stretch(), other = primary.contact->beyond.stretch();
  return lags_alike(primary.contact->beyond) && almost(one.e, other.e) && almost(one.n, other.n) &&
         almost(one.u, other.u);
}

// ---- candidates ----

/// One of the cells that contain a point.
std::array<std::size_t, 3> cell_of(const TensorMesh& mesh, const Point& p) {
  const auto around = cells_around(mesh, p);
  return {around[0].first, around[1].first, around[2].first};
}

/// The layered media of columns of cells; equal media are stored once.
class Columns {
 public:
  Columns(const TensorMesh& mesh, const Conductivity& sigma) : mesh_(mesh), sigma_(sigma) {
    for (const std::size_t j : {std::size_t{0}, mesh.n_north() - 1})
      for (const std::size_t i : {std::size_t{0}, mesh.n_east() - 1}) add(corners_, of(i, j));
  }
  using Column = std::shared_ptr<const LayeredMedium>;

  /// Media of the columns at the corners of the mesh: probably the layers around bodies.
  const std::vector<Column>& corners() const { return corners_; }
  /// The medium of the column (i, j); null if a cell has different conductivities along easting and northing.
  Column of(std::size_t i, std::size_t j) {
    std::vector<double> between;
    std::vector<HalfSpace> medium;
    for (std::size_t k = 0; k < mesh_.n_up(); ++k) {
      const auto here = medium_of(mesh_, sigma_, {i, j, k});
      if (here.of(0) != here.of(1)) return nullptr;
      if (!medium.empty() && medium.back() == here) continue;
      if (k > 0) between.push_back(mesh_.up()[k]);
      medium.push_back(here);
    }
    for (const auto& one : known_)
      if (one->medium == medium && one->layers.between == between) return one;
    return known_.emplace_back(std::make_shared<LayeredMedium>(std::move(between), std::move(medium)));
  }
  static void add(std::vector<Column>& all, const Column& one) {
    if (one && std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }

 private:
  const TensorMesh& mesh_;
  const Conductivity& sigma_;
  std::vector<Column> known_, corners_;
};

std::vector<Primary> candidates(const TensorMesh& mesh, const Conductivity& sigma, const Point& p,
                                bool unbounded, Columns& columns) {
  const auto here = cell_of(mesh, p);
  const auto own = medium_of(mesh, sigma, here);
  std::vector<Primary> all;
  auto layered = unbounded ? columns.corners() : std::vector<Columns::Column>{};
  if (unbounded) Columns::add(layered, columns.of(here[0], here[1]));
  for (std::size_t n = 0; n < layered.size(); ++n)
    if (const auto& column = layered[n]; column->medium.size() > 1)
      all.push_back({own, std::nullopt, column, nullptr, first_layers + static_cast<int>(n)});
    else if (column->medium[0] == own) all.push_back({own, std::nullopt, nullptr, nullptr, of_half_space});
  all.push_back({own, std::nullopt, nullptr, nullptr, of_half_space});
  const std::vector<double>* faces[2] = {&mesh.easting(), &mesh.northing()};
  for (std::size_t axis = 0; axis < 2 && unbounded; ++axis) {
    const std::size_t cells = faces[axis]->size() - 1;
    for (const bool above : {false, true}) {
      auto at = here;
      for (std::size_t n = 0; n < reach && (above ? at[axis] + 1 < cells : at[axis] > 0); ++n) {
        above ? ++at[axis] : --at[axis];
        const auto medium = medium_of(mesh, sigma, at);
        if (medium == own) continue;
        const double face = (*faces[axis])[above ? at[axis] : at[axis] + 1];
        const int label = first_contact + static_cast<int>(2 * axis) + (above ? 1 : 0);
        all.push_back({own, Contact{axis, face, above, medium}, nullptr, nullptr, label});
        break;
      }
    }
  }
  std::erase_if(all, [](const Primary& one) { return !has_closed_form(one); });
  return all;
}

// ---- the errors that media other than that of the primary cause ----

/// Contrasts of two media: reflection |σ_p − σ|/|σ_p + σ|, and ratio, the larger of |σ_p/σ − 1| and
/// |σ/σ_p − 1|; each is the largest over the axes.
struct Unlike {
  double reflection = 0, ratio = 0;
};
Unlike unlike(const HalfSpace& taken, const HalfSpace& medium) {
  Unlike most;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto one = taken.of(a), other = medium.of(a);
    most.reflection = std::max(most.reflection, std::abs(one - other) / std::abs(one + other));
    most.ratio = std::max({most.ratio, std::abs(one / other - 1.0), std::abs(other / one - 1.0)});
  }
  return most;
}

class Errors {
 public:
  Errors(const TensorMesh& mesh, const Conductivity& sigma, const Point& source,
         const std::vector<Point>& measured)
      : mesh_(mesh), sigma_(sigma), source_(source), measured_(measured) {
    const std::vector<double>* faces[3] = {&mesh.easting(), &mesh.northing(), &mesh.up()};
    const double at[3] = {source.e, source.n, source.u};
    near_ = cells_around(mesh, source);
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& f = *faces[a];
      const std::size_t cells = f.size() - 1;
      near_[a] = {near_[a].first - std::min(reach, near_[a].first), std::min(near_[a].second + reach, cells)};
      for (std::size_t n = near_[a].first; n < near_[a].second; ++n) {
        const double gap = std::max({0.0, f[n] - at[a], at[a] - f[n + 1]}) / (f[n + 1] - f[n]);
        gap_squared_[a].push_back(gap * gap);
      }
    }
  }

  /// The estimated relative error of secondary potentials with this primary; infinite if its medium differs
  /// from that at the electrode itself.
  double of(const Primary& primary) const {
    const double of_places = ratio_of_places(primary);
    double most = 0;
    for_other(primary, [&](const HalfSpace& taken, const HalfSpace& medium, double squared) {
      const auto [reflection, ratio] = unlike(taken, medium);
      most = std::max(most, (0.015 * reflection + 0.028 * std::min(ratio, of_places)) / squared);
    });
    return most;
  }
  /// The estimated relative error of the total potential. held: whether corrected by that over homogeneous
  /// ground
  double of_total(const HalfSpace& own, bool held) const {
    double nearest = infinite;
    for_other({own}, [&](const HalfSpace&, const HalfSpace&, double squared) {
      nearest = std::min(nearest, squared);
    });
    if (nearest < 1) return held ? as_total_at_contact : as_plain_total_at_contact;
    return held ? as_total : as_plain_total;
  }

 private:
  /// Calls use(medium of the primary, medium of the cell, squared distance from the electrode in cells) for
  /// the cells in which the two media differ.
  template <class Use>
  void for_other(const Primary& primary, const Use& use) const {
    for_cells(near_, [&](std::size_t i, std::size_t j, std::size_t k) {
      if (is_air(i, j, k)) return;
      const auto& taken = taken_in(primary, i, j, k);
      const auto medium = medium_of(mesh_, sigma_, {i, j, k});
      if (medium == taken) return;
      use(taken, medium,
          gap_squared_[0][i - near_[0].first] + gap_squared_[1][j - near_[1].first] +
              gap_squared_[2][k - near_[2].first]);
    });
  }
  const HalfSpace& taken_in(const Primary& primary, std::size_t i, std::size_t j, std::size_t k) const {
    return primary.medium_at((mesh_.easting()[i] + mesh_.easting()[i + 1]) / 2,
                             (mesh_.northing()[j] + mesh_.northing()[j + 1]) / 2,
                             (mesh_.up()[k] + mesh_.up()[k + 1]) / 2);
  }
  bool is_air(std::size_t i, std::size_t j, std::size_t k) const {
    return sigma_.ground != nullptr && !((*sigma_.ground)[mesh_.index(i, j, k)] > 0);
  }
  /// The largest contrast between the medium and that of the primary, at the potential electrodes and between
  /// them and the source.
  double ratio_of_places(const Primary& primary) const {
    double most = 0;
    for (const auto& place : measured_)
      for (const double part : parts_of_way(place)) {
        const Point p{source_.e + part * (place.e - source_.e), source_.n + part * (place.n - source_.n),
                      source_.u + part * (place.u - source_.u)};
        for_cells(cells_around(mesh_, part == 1 ? place : p),
                  [&](std::size_t i, std::size_t j, std::size_t k) {
                    if (is_air(i, j, k)) return;
                    const auto medium = medium_of(mesh_, sigma_, {i, j, k});
                    const auto& taken = taken_in(primary, i, j, k);
                    if (!(medium == taken)) most = std::max(most, unlike(taken, medium).ratio);
                  });
      }
    return most;
  }
  /// Points on the straight line to `place`, as fractions of its length: one in each of the near cells that
  /// the line crosses, and its end.
  std::vector<double> parts_of_way(const Point& place) const {
    const std::vector<double>* faces[3] = {&mesh_.easting(), &mesh_.northing(), &mesh_.up()};
    const double from[3] = {source_.e, source_.n, source_.u}, to[3] = {place.e, place.n, place.u};
    std::vector<double> crossed{0};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t n = near_[a].first; n <= near_[a].second; ++n)
        if (const double part = ((*faces[a])[n] - from[a]) / (to[a] - from[a]); part > 0 && part < 1)
          crossed.push_back(part);
    std::sort(crossed.begin(), crossed.end());
    std::vector<double> all{1};
    for (std::size_t n = 0; n + 1 < crossed.size(); ++n)
      if (crossed[n + 1] - crossed[n] > 1e-9) all.push_back((crossed[n] + crossed[n + 1]) / 2);
    return all;
  }

  const TensorMesh& mesh_;
  const Conductivity& sigma_;
  const Point& source_;
  const std::vector<Point>& measured_;
  Ranges near_;
  // Squared distances of cells from the electrode along each axis, in cells.
  std::array<std::vector<double>, 3> gap_squared_;
};

/// The medium of a cell that contains the point and has ground.
HalfSpace ground_at(const TensorMesh& mesh, const Conductivity& sigma, const Point& p) {
  std::optional<HalfSpace> found;
  for_cells(cells_around(mesh, p), [&](std::size_t i, std::size_t j, std::size_t k) {
    if (!found && (*sigma.ground)[mesh.index(i, j, k)] > 0) found = medium_of(mesh, sigma, {i, j, k});
  });
  return found.value_or(HalfSpace{});
}
/// The smaller horizontal width of the cell at a point.
double cell_at(const TensorMesh& mesh, const Point& p) {
  const auto at = cell_of(mesh, p);
  return std::min(mesh.easting()[at[0] + 1] - mesh.easting()[at[0]],
                  mesh.northing()[at[1] + 1] - mesh.northing()[at[1]]);
}

// ---- walls ----

/// Whether a wall has a condition that is not that of an infinite half space.
bool is_own(const Boundaries& boundary, const Wall& wall) {
  const bool top = wall.axis == 0 && wall.high;
  return boundary(wall.axis, wall.high) != (top ? Boundary::insulated : Boundary::mixed);
}

/// Whether a point is within `most` cells of a wall that a half space does not have.
bool at_own_wall(const TensorMesh& mesh, const Boundaries& boundary, const Point& p, std::size_t most) {
  const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
  const double at[3] = {p.u, p.n, p.e};
  return std::any_of(walls.begin(), walls.end(), [&](const Wall& wall) {
    const auto& f = *faces[wall.axis];
    const std::size_t last = f.size() - 1, cells = std::min(most, last);
    const bool near = wall.high ? at[wall.axis] >= f[last - cells] : at[wall.axis] <= f[cells];
    return near && is_own(boundary, wall);
  });
}

/// measured: positions of the potential electrodes; left: receives the estimated error
std::optional<Primary> primary_at(const TensorMesh& mesh, const Conductivity& sigma,
                                  const Parameters& parameters, const Point& source, const std::string& name,
                                  const std::vector<Point>& measured, Columns& columns, int taken,
                                  double& left) {
  const bool automatic = parameters.potential == Potential::automatic;
  if (parameters.potential == Potential::total || taken == 0) return std::nullopt;
  // The current of a source close to a wall that a half space does not have leaves through few nodes of the
  // wall, where the secondary potential would be inaccurate.
  if (automatic && at_own_wall(mesh, parameters.boundary, source, 4)) return std::nullopt;
  // At a wall that a half space does not have, K − K₀ (grid/difference.hpp) is not zero at the source, where
  // the primary potential is infinite.
  if (at_own_wall(mesh, parameters.boundary, source, 1))
    throw InputError(name,
                     "it lies on a grounded or insulated side or in the cell beside it, so there is no "
                     "secondary potential",
                     "Take potential = \"auto\" or \"total\", or move the side away.");
  const Errors errors(mesh, sigma, source, measured);
  std::optional<Primary> best;
  // With walls that a half space does not have, there are no closed forms for contacts and layers, nor for
  // homogeneous ground, which corrects total potentials.
  const bool unbounded = parameters.boundary.of_half_space();
  double least =
      automatic ? errors.of_total(medium_of(mesh, sigma, cell_of(mesh, source)), unbounded) : infinite;
  for (const auto& one : candidates(mesh, sigma, source, unbounded, columns)) {
    const double error = errors.of(one);
    if (one.candidate == taken && std::isfinite(error)) return one;
    if (!(error < (one.contact ? std::min(least, as_total_at_contact) : least))) continue;
    least = error;
    best = one;
    if (error == 0) break;
  }
  left = least;
  if (!best && !automatic)
    throw InputError(name, "the cells around it differ in conductivity, so there is no secondary potential",
                     "Make them alike, or so on either side of one vertical contact; or take "
                     "potential = \"auto\".");
  return best;
}

/// The primary below an uneven surface: the potential below a slope, if the medium around the electrode is
/// homogeneous and isotropic.
std::optional<Primary> primary_under(const TensorMesh& mesh, const Conductivity& sigma,
                                     const Parameters& parameters, std::shared_ptr<const Slope> slope,
                                     const std::string& name, const std::vector<Point>& measured, int taken,
                                     double& left) {
  const auto& source = slope->electrode;
  if (parameters.potential == Potential::total || taken == 0) return std::nullopt;
  const bool automatic = parameters.potential == Potential::automatic;
  Primary primary{ground_at(mesh, sigma, source)};
  primary.slope = std::move(slope);
  primary.candidate = of_half_space;
  const auto& along = primary.own.along;
  const bool alike = along[0] == along[1] && along[0] == along[2] && along[0] > 0 && lags_alike(primary.own);
  const Errors errors(mesh, sigma, source, measured);
  const double error = alike ? errors.of(primary) : infinite;
  left = std::min(error, errors.of_total(primary.own, true));
  const bool better = automatic && taken < 0 ? left == error : std::isfinite(error);
  if (parameters.boundary.of_half_space() && better) return primary;
  if (!automatic)
    throw InputError(
        name,
        "the cells around it differ in conductivity, or a side is grounded or insulated, so there "
        "is no secondary potential",
        "Take potential = \"auto\".");
  return std::nullopt;
}

}  // namespace

Primaries primaries_of(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                       const Electrodes& electrodes, std::map<std::size_t, double>* errors) {
  std::map<std::size_t, std::set<int>> measured;
  for (const auto& array : electrodes.arrays)
    for (const int source : {array.a, array.b})
      if (source != Array::far_away) measured[static_cast<std::size_t>(source)].insert({array.m, array.n});
  Primaries all;
  std::optional<Columns> columns;
  const auto* slopes = conductivity.slopes;
  std::vector<double> as_cells_show;
  if (!conductivity.ground) columns.emplace(mesh, conductivity);
  else if (slopes == nullptr || slopes->size() != electrodes.place.size() * (1 + Slope::rays)) {
    as_cells_show = slopes_at(mesh, electrodes.place, surface_of(mesh, *conductivity.ground), 2);
    // Electrodes close to the surface derived from the cells are treated as on that surface.
    for (std::size_t n = 0; n < electrodes.place.size(); ++n) {
      auto& level = as_cells_show[n * (1 + Slope::rays)];
      const auto& p = electrodes.place[n];
      if (std::abs(level - p.u) < 0.5 * cell_at(mesh, p)) level = p.u;
    }
    slopes = &as_cells_show;
  }
  for (auto& [source, places] : measured) {
    places.erase(Array::far_away);
    std::vector<Point> at;
    for (const int n : places) at.push_back(electrodes.place[static_cast<std::size_t>(n)]);
    double left = 0;
    const auto keep = [&, number = source](std::optional<Primary> primary) {
      all[number] = std::move(primary);
      if (errors != nullptr) (*errors)[number] = left;
    };
    if (conductivity.ground) {
      const auto* row = slopes->data() + source * (1 + Slope::rays);
      const auto& place = electrodes.place[source];
      const auto slope = std::make_shared<Slope>(place, row[0], row + 1, 0.02 * cell_at(mesh, place));
      keep(primary_under(mesh, conductivity, parameters, slope, fmt::format("electrode {}", source + 1), at,
                         taken_of(parameters, source), left));
      continue;
    }
    keep(primary_at(mesh, conductivity, parameters, electrodes.place[source],
                    fmt::format("electrode {}", source + 1), at, *columns, taken_of(parameters, source),
                    left));
  }
  return all;
}

namespace {

Array turned(const Array& array) { return {array.m, array.n, array.a, array.b}; }

/// For each array, 1 if exchanging current and potential electrodes is better.
std::vector<int> best_turns(const TensorMesh& mesh, const Conductivity& conductivity,
                            const Parameters& parameters, const Electrodes& electrodes) {
  const auto place = [&](int n) {
    const auto& p = electrodes.place[static_cast<std::size_t>(n)];
    return std::array{p.e, p.n, p.u};
  };
  using Pair = std::pair<std::array<double, 3>, std::array<double, 3>>;
  const auto pair_of = [&](int one, int other) {
    if (one == Array::far_away || other == Array::far_away) return Pair(place(std::max(one, other)), {});
    return Pair(std::minmax(place(one), place(other)));
  };
  std::map<Pair, double>
      arrays_of;  // number of arrays in which two electrodes are the current or the potential electrodes
  Electrodes either = electrodes;
  for (const auto& array : electrodes.arrays) {
    ++arrays_of[pair_of(array.a, array.b)];
    ++arrays_of[pair_of(array.m, array.n)];
    either.arrays.push_back(turned(array));
  }
  std::map<std::size_t, double> errors;
  primaries_of(mesh, conductivity, parameters, either, &errors);
  const auto error_of = [&](int one, int other) {
    double sum = 1e-3;  // start of the sum, because smaller errors are negligible
    for (const int n : {one, other})
      if (n != Array::far_away) sum += errors.at(static_cast<std::size_t>(n));
    return sum;
  };
  const auto length = [&](int one, int other) {
    if (one == Array::far_away || other == Array::far_away) return infinite;
    return distance(electrodes.place[static_cast<std::size_t>(one)],
                    electrodes.place[static_cast<std::size_t>(other)]);
  };
  const auto better_turned = [&](const Array& array) {
    constexpr double many = 5;
    const auto current = pair_of(array.a, array.b), potential = pair_of(array.m, array.n);
    const double own = arrays_of.at(current), others = arrays_of.at(potential);
    if (own >= many * others || others >= many * own) return others > own;
    const double leaves = error_of(array.a, array.b), other_way = error_of(array.m, array.n);
    if (std::abs(leaves - other_way) > 0.2 * std::max(leaves, other_way)) return other_way < leaves;
    const double long_one = length(array.a, array.b), other = length(array.m, array.n);
    if (long_one != other) return other > long_one;
    return own != others ? others > own : potential < current;
  };
  std::vector<int> all;
  for (const auto& array : electrodes.arrays) all.push_back(better_turned(array) ? 1 : 0);
  return all;
}

}  // namespace

Electrodes as_solved(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                     const Electrodes& electrodes) {
  Electrodes all = electrodes;
  if (parameters.potential != Potential::automatic) return all;
  const auto& taken = parameters.taken.turned;
  const auto turns =
      taken.size() == all.arrays.size() ? taken : best_turns(mesh, conductivity, parameters, electrodes);
  for (std::size_t n = 0; n < turns.size(); ++n)
    if (turns[n] == 1) all.arrays[n] = turned(all.arrays[n]);
  if (conductivity.ground == nullptr) return all;
  std::set<int> sources, named;
  for (const auto& array : all.arrays) {
    sources.insert({array.a, array.b});
    named.insert({array.a, array.b, array.m, array.n});
  }
  if (named.size() > 2 * sources.size() + 8) return all;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) all.arrays.push_back(turned(all.arrays[n]));
  return all;
}

TakenElsewhere taken_on(const TensorMesh& mesh, const Conductivity& conductivity,
                        const Parameters& parameters, const Electrodes& electrodes) {
  TakenElsewhere taken;
  if (parameters.potential != Potential::automatic) return taken;
  const auto solved = as_solved(mesh, conductivity, parameters, electrodes);
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    const auto &now = solved.arrays[n], &was = electrodes.arrays[n];
    taken.turned.push_back(now.a == was.a && now.b == was.b ? 0 : 1);
  }
  taken.primary.assign(electrodes.place.size(), -1);
  for (const auto& [source, primary] : primaries_of(mesh, conductivity, parameters, solved))
    taken.primary[source] = primary ? primary->candidate : 0;
  return taken;
}

std::vector<std::size_t> held_against_homogeneous(const Primaries& primaries,
                                                  const Conductivity& /*conductivity*/,
                                                  const Parameters& parameters) {
  std::vector<std::size_t> all;
  if (parameters.potential != Potential::automatic || !parameters.boundary.of_half_space()) return all;
  for (const auto& [source, primary] : primaries)
    if (!primary) all.push_back(source);
  return all;
}

}  // namespace terrane::electric
