#include "terrane/physics/traveltime/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "terrane/base/error.hpp"

namespace terrane::traveltime {

namespace {

constexpr std::array axis_names{"easting", "northing", "up"};
constexpr double off_plane = 0.1;  // distance that counts as off the plane, in widths of the narrowest cell

/// The index of the connected body of rock that each cell belongs to; 0: air. Cells that share a corner are
/// connected.
std::vector<std::size_t> bodies_of(const Problem& p) {
  std::vector<std::size_t> body(p.mesh.size(), 0), todo;
  std::size_t count = 0;
  for (std::size_t first = 0; first < body.size(); ++first) {
    if (body[first] != 0 || !(p.velocity[first] > 0)) continue;
    body[first] = ++count;
    for (todo = {first}; !todo.empty();) {
      const auto [i, j, k] = p.mesh.cell(todo.back());
      todo.pop_back();
      for (std::size_t n = 0; n < 27; ++n) {
        // Indices of a neighbour, plus one.
        const std::size_t a = i + n % 3, b = j + n / 3 % 3, c = k + n / 9;
        if (a == 0 || b == 0 || c == 0 || a > p.mesh.n_east() || b > p.mesh.n_north() || c > p.mesh.n_up())
          continue;
        const auto cell = p.mesh.index(a - 1, b - 1, c - 1);
        if (body[cell] != 0 || !(p.velocity[cell] > 0)) continue;
        body[cell] = count;
        todo.push_back(cell);
      }
    }
  }
  return body;
}

class Places {
 public:
  explicit Places(const Problem& p) : p_(p), body_(bodies_of(p)) {
    const std::array faces{&p.mesh.easting(), &p.mesh.northing(), &p.mesh.up()};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t n = 1; n < faces[a]->size() && faces[a]->size() > 2; ++n)
        narrowest_ = std::min(narrowest_, (*faces[a])[n] - (*faces[a])[n - 1]);
  }

  /// The connected body of rock that contains a point. Throws InputError.
  std::size_t body_at(const Point& at, const std::string& where) {
    const std::array faces{&p_.mesh.easting(), &p_.mesh.northing(), &p_.mesh.up()};
    for (std::size_t a = 0; a < 3; ++a) {
      if (!std::isfinite(at[a])) throw InputError(where, fmt::format("its {} is no number", axis_names[a]));
      if (faces[a]->size() == 2) {
        expect_in_plane(at, a, where);
        continue;
      }
      if (!(at[a] >= faces[a]->front() && at[a] <= faces[a]->back()))
        throw InputError(where, fmt::format("{} {} m lies outside the mesh", axis_names[a], at[a]),
                         fmt::format("It reaches from {} to {} m.", faces[a]->front(), faces[a]->back()));
    }
    std::array<std::array<std::size_t, 2>, 3> cells{};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& f = *faces[a];
      const auto upper = static_cast<std::size_t>(std::upper_bound(f.begin(), f.end(), at[a]) - f.begin()),
                 lower = static_cast<std::size_t>(std::lower_bound(f.begin(), f.end(), at[a]) - f.begin());
      const std::size_t last = f.size() - 2;
      cells[a] = {last == 0 || lower == 0 ? 0 : std::min(lower - 1, last),
                  last == 0 || upper == 0 ? 0 : std::min(upper - 1, last)};
    }
    for (std::size_t n = 0; n < 8; ++n) {
      const auto cell = p_.mesh.index(cells[0][n & 1], cells[1][n >> 1 & 1], cells[2][n >> 2 & 1]);
      if (body_[cell] != 0) return body_[cell];
    }
    throw InputError(where, fmt::format("up {} m lies in air", at[2]),
                     "Shots and receivers stand in cells of rock, which have a velocity_p.");
  }

 private:
  void expect_in_plane(const Point& at, std::size_t axis, const std::string& where) {
    if (!first_) first_ = at;
    if (std::abs(at[axis] - (*first_)[axis]) <= off_plane * narrowest_) return;
    throw InputError(
        where,
        fmt::format("{} {} m lies off the plane of the first shot, at {} m, in a mesh with one cell "
                    "along it",
                    axis_names[axis], at[axis], (*first_)[axis]),
        "Times are those in the plane: put all on it, or give the mesh more cells along this axis.");
  }

  const Problem& p_;
  std::vector<std::size_t> body_;
  double narrowest_ = INFINITY;
  std::optional<Point> first_;
};

}  // namespace

std::vector<Pick> all_picks(std::size_t shots, std::size_t receivers) {
  std::vector<Pick> all;
  for (std::size_t s = 0; s < shots; ++s)
    for (std::size_t r = 0; r < receivers; ++r)
      all.push_back({static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(r)});
  return all;
}

std::vector<std::vector<std::size_t>> Problem::picks_of_shots() const {
  std::vector<std::vector<std::size_t>> all(shots.size());
  for (std::size_t n = 0; n < picks.size(); ++n) all[picks[n].shot].push_back(n);
  return all;
}

void Problem::settle() const {
  if (velocity.size() != mesh.size())
    throw ShapeError("traveltime: velocity",
                     fmt::format("{} values for {} cells", velocity.size(), mesh.size()));
  check_fields("traveltime", *this);
  for (std::size_t n = 0; n < velocity.size(); ++n)
    if (!(velocity[n] >= 0) || !std::isfinite(velocity[n]) || (velocity[n] > 0 && velocity[n] < 1e-3) ||
        velocity[n] > 1e9)
      throw InputError("traveltime: velocity", fmt::format("{} m/s in cell {}", velocity[n], n),
                       "It must lie between 1e-3 and 1e9 m/s, or be 0 in air.");
  if (shots.empty()) throw InputError("source", "there is no shot", "Give at = [[0, 0, 0]].");
  if (picks.empty()) throw InputError("survey", "no receiver records a shot", "Give receivers.");
  Places places(*this);
  std::vector<std::size_t> of_shots, of_receivers;
  for (std::size_t n = 0; n < shots.size(); ++n)
    of_shots.push_back(places.body_at(shots[n], fmt::format("source: shot {}", n + 1)));
  for (std::size_t n = 0; n < receivers.size(); ++n)
    of_receivers.push_back(places.body_at(receivers[n], fmt::format("survey: station {}", n + 1)));
  for (const auto& pick : picks) {
    if (pick.shot >= shots.size() || pick.receiver >= receivers.size())
      throw InputError("traveltime: picks",
                       fmt::format("there is no shot {} or receiver {}", pick.shot + 1, pick.receiver + 1));
    if (of_shots[pick.shot] != of_receivers[pick.receiver])
      throw InputError(
          fmt::format("survey: station {}", pick.receiver + 1),
          fmt::format("air lies all around between it and shot {}: no wave gets there", pick.shot + 1),
          "Give the cells between them a velocity_p.");
  }
}

}  // namespace terrane::traveltime
