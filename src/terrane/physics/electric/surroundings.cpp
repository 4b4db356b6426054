// Outline: the cells around an electrode; candidates for its primary potential (a half space, and contacts
// where rock first changes to the west, east, south and north); the error that each would leave; the least.
#include "terrane/physics/electric/surroundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "terrane/base/error.hpp"

namespace terrane::electric {

namespace {

using Ranges = std::array<std::pair<std::size_t, std::size_t>, 3>;

constexpr std::size_t reach = 12;  // cells that are looked at on each side
/// What total potentials have, held against those of homogeneous ground, where other rock begins more than a
/// cell from the electrode, and nearer.
constexpr double as_total = 0.03, as_total_at_contact = 0.08;
/// What they have where nothing is held against them, three cells away: beside sides that no half space has.
constexpr double as_plain_total = 0.08, as_plain_total_at_contact = 0.25;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The cells that a point lies in or on, as ranges along easting, northing, up: one cell, or two where it is
/// on a face.
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

HalfSpace rock_of(const TensorMesh& mesh, const Conductivity& sigma, const std::array<std::size_t, 3>& at) {
  const auto cell = mesh.index(at[0], at[1], at[2]);
  HalfSpace rock;
  for (std::size_t a = 0; a < 3; ++a) {
    rock.along[a] = (*sigma.along[a])[cell];
    if (sigma.complex()) rock.quadrature[a] = (*sigma.quadrature[a])[cell];
  }
  return rock;
}

bool almost(double one, double other) { return std::abs(one - other) <= 1e-12 * std::abs(other); }

/// In closed form only where all axes lag alike.
bool lags_alike(const HalfSpace& rock) {
  for (std::size_t a = 1; a < 3; ++a)
    if (std::abs(rock.quadrature[a] * rock.along[0] - rock.quadrature[0] * rock.along[a]) >
        1e-12 * rock.along[0] * rock.along[a])
      return false;
  return true;
}

/// An image behind the contact needs both rocks in the same stretched coordinates.
bool has_closed_form(const Primary& primary) {
  if (!lags_alike(primary.own)) return false;
  if (!primary.contact) return true;
  const auto one = primary.own.stretch(), other = primary.contact->beyond.stretch();
  return lags_alike(primary.contact->beyond) && almost(one.e, other.e) && almost(one.n, other.n) &&
         almost(one.u, other.u);
}

// ---- candidates ----

/// One of the cells that it is in.
std::array<std::size_t, 3> cell_of(const TensorMesh& mesh, const Point& p) {
  const auto around = cells_around(mesh, p);
  return {around[0].first, around[1].first, around[2].first};
}

std::vector<Primary> candidates(const TensorMesh& mesh, const Conductivity& sigma, const Point& p,
                                bool contacts) {
  const auto here = cell_of(mesh, p);
  const auto own = rock_of(mesh, sigma, here);
  std::vector<Primary> all{{own, std::nullopt}};
  const std::vector<double>* faces[2] = {&mesh.easting(), &mesh.northing()};
  for (std::size_t axis = 0; axis < 2 && contacts; ++axis) {
    const std::size_t cells = faces[axis]->size() - 1;
    for (const bool above : {false, true}) {
      auto at = here;
      for (std::size_t n = 0; n < reach && (above ? at[axis] + 1 < cells : at[axis] > 0); ++n) {
        above ? ++at[axis] : --at[axis];
        const auto rock = rock_of(mesh, sigma, at);
        if (rock == own) continue;
        const double face = (*faces[axis])[above ? at[axis] : at[axis] + 1];
        all.push_back({own, Contact{axis, face, above, rock}});
        break;
      }
    }
  }
  std::erase_if(all, [](const Primary& one) { return !has_closed_form(one); });
  return all;
}

// ---- what they leave ----

/// |σ_p − σ|/|σ_p + σ|, and |σ_p/σ − 1| or |σ/σ_p − 1|: the largest of the axes.
struct Unlike {
  double reflection = 0, ratio = 0;
};
Unlike unlike(const HalfSpace& taken, const HalfSpace& rock) {
  Unlike most;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto one = taken.of(a), other = rock.of(a);
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

  /// Of potentials, relative; infinite where the rock at the electrode itself is another.
  double of(const Primary& primary) const {
    const double of_places = ratio_of_places(primary);
    double most = 0;
    for_other(primary, [&](const HalfSpace& taken, const HalfSpace& rock, double squared) {
      const auto [reflection, ratio] = unlike(taken, rock);
      most = std::max(most, (0.015 * reflection + 0.028 * std::min(ratio, of_places)) / squared);
    });
    return most;
  }
  /// Of the total potential.  held: against that of homogeneous ground
  double of_total(const HalfSpace& own, bool held) const {
    double nearest = infinite;
    for_other({own, std::nullopt}, [&](const HalfSpace&, const HalfSpace&, double squared) {
      nearest = std::min(nearest, squared);
    });
    if (nearest < 1) return held ? as_total_at_contact : as_plain_total_at_contact;
    return held ? as_total : as_plain_total;
  }

 private:
  /// Calls use(rock taken, rock, square of the distance from the electrode in cells) where these differ.
  template <class Use>
  void for_other(const Primary& primary, const Use& use) const {
    for_cells(near_, [&](std::size_t i, std::size_t j, std::size_t k) {
      const auto& taken = taken_in(primary, i, j);
      const auto rock = rock_of(mesh_, sigma_, {i, j, k});
      if (rock == taken) return;
      use(taken, rock,
          gap_squared_[0][i - near_[0].first] + gap_squared_[1][j - near_[1].first] +
              gap_squared_[2][k - near_[2].first]);
    });
  }
  const HalfSpace& taken_in(const Primary& primary, std::size_t i, std::size_t j) const {
    return primary.rock_at((mesh_.easting()[i] + mesh_.easting()[i + 1]) / 2,
                           (mesh_.northing()[j] + mesh_.northing()[j + 1]) / 2);
  }
  /// How much better or worse than the primary's rock any conducts that another electrode lies in, or that is
  /// on the way to it.
  double ratio_of_places(const Primary& primary) const {
    double most = 0;
    for (const auto& place : measured_)
      for (const double part : parts_of_way(place)) {
        const Point p{source_.e + part * (place.e - source_.e), source_.n + part * (place.n - source_.n),
                      source_.u + part * (place.u - source_.u)};
        for_cells(cells_around(mesh_, part == 1 ? place : p),
                  [&](std::size_t i, std::size_t j, std::size_t k) {
                    const auto rock = rock_of(mesh_, sigma_, {i, j, k});
                    const auto& taken = taken_in(primary, i, j);
                    if (!(rock == taken)) most = std::max(most, unlike(taken, rock).ratio);
                  });
      }
    return most;
  }
  /// Where a straight line to it is inside each of the near cells, and its end.
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
  std::array<std::vector<double>, 3> gap_squared_;  // in cells, from the electrode
};

// ---- walls ----

/// Whether a half space of infinite extent has no such wall.
bool is_own(const Boundaries& boundary, const Wall& wall) {
  const bool top = wall.axis == 0 && wall.high;
  return boundary(wall.axis, wall.high) != (top ? Boundary::insulated : Boundary::mixed);
}

/// Whether it is within so many cells of one.
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

/// measured: at which other electrodes
std::optional<Primary> primary_at(const TensorMesh& mesh, const Conductivity& sigma,
                                  const Parameters& parameters, const Point& source, const std::string& name,
                                  const std::vector<Point>& measured) {
  const bool automatic = parameters.potential == Potential::automatic;
  if (parameters.potential == Potential::total) return std::nullopt;
  // A wall that is none of a half space takes the current of a source beside it by few of its nodes.
  if (automatic && at_own_wall(mesh, parameters.boundary, source, 4)) return std::nullopt;
  // There K − K₀ is not zero at the source, where φ_p has no value.
  if (at_own_wall(mesh, parameters.boundary, source, 1))
    throw InputError(name,
                     "it lies on a grounded or insulated side or in the cell beside it, so there is no "
                     "secondary potential",
                     "Take potential = \"auto\" or \"total\", or move the side away.");
  const Errors errors(mesh, sigma, source, measured);
  std::optional<Primary> best;
  // Beside walls of other kinds than mixed there is neither an image nor a closed form over homogeneous
  // ground.
  const bool unbounded = parameters.boundary.of_half_space();
  double least =
      automatic ? errors.of_total(rock_of(mesh, sigma, cell_of(mesh, source)), unbounded) : infinite;
  for (const auto& one : candidates(mesh, sigma, source, unbounded)) {
    const double error = errors.of(one);
    if (!(error < (one.contact ? std::min(least, as_total_at_contact) : least))) continue;
    least = error;
    best = one;
    if (error == 0) break;
  }
  if (!best && !automatic)
    throw InputError(name, "the cells around it differ in conductivity, so there is no secondary potential",
                     "Make them alike, or so on either side of one vertical contact; or take "
                     "potential = \"auto\".");
  return best;
}

}  // namespace

Primaries primaries_of(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                       const Electrodes& electrodes) {
  std::map<std::size_t, std::set<int>> measured;
  for (const auto& array : electrodes.arrays)
    for (const int source : {array.a, array.b})
      if (source != Array::far_away) measured[static_cast<std::size_t>(source)].insert({array.m, array.n});
  Primaries all;
  for (auto& [source, places] : measured) {
    places.erase(Array::far_away);
    std::vector<Point> at;
    for (const int n : places) at.push_back(electrodes.place[static_cast<std::size_t>(n)]);
    all[source] = conductivity.ground ? std::nullopt
                                      : primary_at(mesh, conductivity, parameters, electrodes.place[source],
                                                   fmt::format("electrode {}", source + 1), at);
  }
  return all;
}

std::vector<std::size_t> held_against_homogeneous(const Primaries& primaries,
                                                  const Conductivity& conductivity,
                                                  const Parameters& parameters) {
  std::vector<std::size_t> all;
  if (conductivity.ground || parameters.potential != Potential::automatic ||
      !parameters.boundary.of_half_space())
    return all;
  for (const auto& [source, primary] : primaries)
    if (!primary) all.push_back(source);
  return all;
}

}  // namespace terrane::electric
