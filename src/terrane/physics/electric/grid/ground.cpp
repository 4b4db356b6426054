#include "terrane/physics/electric/grid/ground.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/electric/formula/slope.hpp"

namespace terrane::electric {

namespace {

// Relative to the ground's mean conductivity; a much smaller value would only cost more iterations.
constexpr double conductivity_of_air = 1e-8;

/// The cell along an axis that contains a coordinate.
std::size_t cell_of(const std::vector<double>& faces, double place) {
  const auto above = std::upper_bound(faces.begin(), faces.end() - 1, place);
  const auto number = static_cast<std::size_t>(above - faces.begin());
  return std::min(number == 0 ? 0 : number - 1, faces.size() - 2);
}

}  // namespace

void check_ground(const TensorMesh& mesh, const std::vector<double>& ground) {
  if (ground.size() != mesh.size())
    throw ShapeError("ground", fmt::format("{} values for a mesh of {} cells", ground.size(), mesh.size()));
  for (std::size_t cell = 0; cell < ground.size(); ++cell)
    if (!(ground[cell] >= 0 && ground[cell] <= 1))
      throw InputError("ground", fmt::format("{} in cell {}", ground[cell], cell + 1),
                       "It is the share of a cell that is not air: from 0 to 1.");
}

std::vector<double> ground_below_air(const TensorMesh& mesh, const std::vector<double>& conductivity) {
  constexpr double most = 1e-7;  // S/m, largest conductivity of air
  const std::size_t columns = mesh.n_east() * mesh.n_north(), cells = mesh.size();
  std::vector<double> ground;
  std::vector<bool> open(columns, true);  // whether there is only air above
  for (std::size_t cell = cells; cell-- > 0;) {
    const std::size_t column = cell % columns;
    if (!open[column]) continue;
    open[column] = conductivity[cell] <= most;
    if (!open[column]) continue;
    if (ground.empty()) ground.assign(cells, 1.0);
    ground[cell] = 0;
  }
  return ground;
}

std::function<double(double, double)> surface_of(const TensorMesh& mesh, const std::vector<double>& ground) {
  const auto middles = [](const std::vector<double>& faces) {
    std::vector<double> all;
    for (std::size_t n = 0; n + 1 < faces.size(); ++n) all.push_back((faces[n] + faces[n + 1]) / 2);
    return all;
  };
  auto easting = middles(mesh.easting()), northing = middles(mesh.northing());
  std::vector<double> height(mesh.n_east() * mesh.n_north(), mesh.up().front());
  for (std::size_t j = 0; j < mesh.n_north(); ++j)
    for (std::size_t i = 0; i < mesh.n_east(); ++i)
      for (std::size_t k = mesh.n_up(); k-- > 0;)
        if (const double share = ground[mesh.index(i, j, k)]; share > 0) {
          height[j * mesh.n_east() + i] = mesh.up()[k] + share * (mesh.up()[k + 1] - mesh.up()[k]);
          break;
        }
  return [easting = std::move(easting), northing = std::move(northing), height = std::move(height)](
             double e, double n) {
    const auto place = [](const std::vector<double>& at, double x) {
      if (at.size() == 1) return std::pair{std::size_t{0}, 0.0};
      const auto above = std::upper_bound(at.begin() + 1, at.end() - 1, x);
      const double low = *(above - 1);
      return std::pair{static_cast<std::size_t>(above - at.begin()) - 1,
                       std::clamp((x - low) / (*above - low), 0.0, 1.0)};
    };
    const auto [i, right] = place(easting, e);
    const auto [j, upper] = place(northing, n);
    const auto at = [&](std::size_t a, std::size_t b) { return height[b * easting.size() + a]; };
    const std::size_t next_i = std::min(i + 1, easting.size() - 1),
                      next_j = std::min(j + 1, northing.size() - 1);
    return (1 - upper) * ((1 - right) * at(i, j) + right * at(next_i, j)) +
           upper * ((1 - right) * at(i, next_j) + right * at(next_i, next_j));
  };
}

std::vector<double> slopes_at(const TensorMesh& mesh, const std::vector<Point>& electrodes,
                              const std::function<double(double, double)>& height, double cells) {
  std::vector<double> all;
  for (const auto& p : electrodes) {
    const auto width = [](const std::vector<double>& faces, double x) {
      const auto cell = cell_of(faces, x);
      return faces[cell + 1] - faces[cell];
    };
    const double radius = cells * std::min(width(mesh.easting(), p.e), width(mesh.northing(), p.n));
    const double level = height(p.e, p.n);
    all.push_back(level);
    // At an electrode at or close to the surface, the slopes are those of rays that begin at the electrode
    // itself.
    const double from = std::abs(level - p.u) < 0.5 * radius ? p.u : level;
    for (std::size_t ray = 0; ray < Slope::rays; ++ray) {
      const double angle = Slope::angle(ray);
      all.push_back((height(p.e + radius * std::cos(angle), p.n + radius * std::sin(angle)) - from) / radius);
    }
  }
  return all;
}

double ground_level(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p) {
  const auto i = cell_of(mesh.easting(), p.e), j = cell_of(mesh.northing(), p.n);
  double level = mesh.up().front();
  for (std::size_t k = 0; k < mesh.n_up(); ++k)
    level += ground[mesh.index(i, j, k)] * (mesh.up()[k + 1] - mesh.up()[k]);
  return level;
}

CellsWithAir::CellsWithAir(const TensorMesh& mesh, const Conductivity& conductivity) {
  const auto& ground = *conductivity.ground;
  check_ground(mesh, ground);
  double logarithms = 0, of_ground = 0;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
    const double sigma = (*conductivity.along[0])[cell];
    if (!(ground[cell] > 0) || !(sigma > 0)) continue;
    logarithms += ground[cell] * std::log(sigma);
    of_ground += ground[cell];
  }
  if (of_ground == 0)
    throw InputError("simulation.topography", "no cell of the mesh lies below the ground",
                     "Heights of the mesh and of the topography must be of one datum.");
  air = conductivity_of_air * std::exp(logarithms / of_ground);
  const auto mixed = [&](const std::vector<double>& sigma, double least) {
    std::vector<double> values(mesh.size());
    for (std::size_t cell = 0; cell < values.size(); ++cell)
      if (!(ground[cell] > 0)) values[cell] = least;
      else if (sigma[cell] > 0) values[cell] = std::max(ground[cell] * sigma[cell], least);
      else values[cell] = sigma[cell];  // an invalid value, which check() will refuse
    return values;
  };
  const auto shares = [&](const std::vector<double>& quadrature_of_ground) {  // imaginary parts may have
                                                                              // either sign
    std::vector<double> values(mesh.size());
    for (std::size_t cell = 0; cell < values.size(); ++cell)
      values[cell] = ground[cell] > 0 ? ground[cell] * quadrature_of_ground[cell] : 0;
    return values;
  };
  for (std::size_t a = 0; a < 3; ++a) {
    if (a == 0 || conductivity.along[a] != conductivity.along[0])
      along[a] = mixed(*conductivity.along[a], air);
    if (conductivity.complex() && (a == 0 || conductivity.quadrature[a] != conductivity.quadrature[0]))
      quadrature[a] = shares(*conductivity.quadrature[a]);
  }
}

Conductivity CellsWithAir::view() const {
  const auto axes = [](const std::array<std::vector<double>, 3>& of) {
    const auto axis = [&](std::size_t a) { return of[a].empty() ? &of[0] : &of[a]; };
    return std::array{axis(0), axis(1), axis(2)};
  };
  Conductivity all{axes(along)};
  if (!quadrature[0].empty()) all.quadrature = axes(quadrature);
  return all;
}

namespace {

/// The cell along an axis that contains a coordinate; or, on a face, the two cells beside it.
std::array<std::size_t, 2> around(const std::vector<double>& faces, double place) {
  const std::size_t cell = cell_of(faces, place);
  return {place == faces[cell] && cell > 0 ? cell - 1 : cell, cell};
}

/// Whether a cell that contains p horizontally has ground on one of the two levels.
bool has_ground(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p,
                const std::array<std::size_t, 2>& levels) {
  for (const std::size_t k : levels)
    for (const std::size_t j : around(mesh.northing(), p.n))
      for (const std::size_t i : around(mesh.easting(), p.e))
        if (ground[mesh.index(i, j, k)] > 0) return true;
  return false;
}

}  // namespace

std::string lower_to_ground(const TensorMesh& mesh, const std::vector<double>& ground,
                            const std::function<double(double, double)>& height, double most,
                            std::vector<Point>& electrodes) {
  std::size_t count = 0;
  double furthest = 0;
  const auto box = mesh.bounds();
  for (auto& p : electrodes) {
    if (!(p.e >= box.west && p.e <= box.east && p.n >= box.south && p.n <= box.north)) continue;
    if (!(p.u >= box.bottom && p.u <= box.top) || p.u > height(p.e, p.n) + most) continue;
    if (has_ground(mesh, ground, p, around(mesh.up(), p.u))) continue;
    auto k = cell_of(mesh.up(), p.u);
    while (k > 0 && !has_ground(mesh, ground, p, {k, k})) --k;
    const double top = mesh.up()[k + 1];
    furthest = std::max(furthest, p.u - top);
    p.u = top;
    ++count;
  }
  return count == 0 ? ""
                    : fmt::format(
                          "{} electrodes on the ground are lowered by {:.3g} m or less, to the cells "
                          "that have ground",
                          count, furthest);
}

void refuse_air(const TensorMesh& mesh, const std::vector<double>& ground, const Point& p,
                const std::string& what) {
  if (has_ground(mesh, ground, p, around(mesh.up(), p.u))) return;
  const double level = ground_level(mesh, ground, p);
  throw InputError(
      what,
      fmt::format("it hangs in the air: up {:g} m at ({:g}, {:g}), where the ground is at {:g} m", p.u, p.e,
                  p.n, level),
      "Lower it to the ground; heights of electrodes and topography must be of one datum.");
}

}  // namespace terrane::electric
