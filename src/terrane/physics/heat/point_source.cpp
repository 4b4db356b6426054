// Outline: distribute the source to cells; choose the points that the closed form applies to; find the images
// in the sides of the box; sum them over time.
#include "terrane/physics/heat/point_source.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "terrane/physics/heat/places.hpp"

namespace terrane::heat {

namespace {

constexpr double beside_source = 10;  // cells; farther away the error of the mesh is a few per mille
constexpr double seen = 3.6;          // r/√(4Dt) beyond which erfc is below 4e-7
constexpr double most_terms = 1e8;    // limit for the number of terms in all sums: takes a few seconds

using Faces = std::array<const std::vector<double>*, 3>;
Faces faces_of(const TensorMesh& mesh) { return {&mesh.easting(), &mesh.northing(), &mesh.up()}; }

std::size_t cell_along(const std::vector<double>& faces, double at) {
  return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, at) - faces.begin()) -
         1;
}

std::array<std::size_t, 3> cell_of(const TensorMesh& mesh, const Place& p) {
  const auto faces = faces_of(mesh);
  return {cell_along(*faces[0], p[0]), cell_along(*faces[1], p[1]), cell_along(*faces[2], p[2])};
}

double distance(const Place& a, const Place& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// Whether the cells of two points, the cells between them and those next to all of these are of one rock.
bool is_one_rock(const Problem& p, const Place& a, const Place& b) {
  const auto from = cell_of(p.mesh, a), to = cell_of(p.mesh, b);
  const auto faces = faces_of(p.mesh);
  std::array<std::size_t, 3> low{}, high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t least = std::min(from[axis], to[axis]), most = std::max(from[axis], to[axis]);
    low[axis] = least > 0 ? least - 1 : 0;
    high[axis] = std::min(most + 1, faces[axis]->size() - 2);
  }
  const auto own = p.mesh.index(from[0], from[1], from[2]);
  for (std::size_t k = low[2]; k <= high[2]; ++k)
    for (std::size_t j = low[1]; j <= high[1]; ++j)
      for (std::size_t i = low[0]; i <= high[0]; ++i) {
        const auto n = p.mesh.index(i, j, k);
        if (p.conductivity[n] != p.conductivity[own] || p.capacity[n] != p.capacity[own]) return false;
      }
  return true;
}

struct Rock {
  double conductivity, capacity;
  double diffusivity() const { return conductivity / capacity; }
};
Rock rock_at(const Problem& p, const Place& at) {
  const auto cell = cell_of(p.mesh, at);
  const auto n = p.mesh.index(cell[0], cell[1], cell[2]);
  return {p.conductivity[n], p.capacity[n]};
}

/// The distance that heat of the source diffuses until the end, m.
double reach(const Problem& p, const PointSource& source) {
  return seen * std::sqrt(4 * rock_at(p, source.at).diffusivity() * p.end);
}

/// Coordinates of the images of a point along one axis of the box, with their signs; only images closer than
/// `far` to the box.
std::vector<std::pair<double, double>> images_along(const std::vector<double>& faces, double at, double far,
                                                    Boundary boundary) {
  const double low = faces.front(), length = faces.back() - low;
  const double mirrored = boundary == Boundary::fixed ? -1 : 1;
  const double most = std::ceil(far / (2 * length)) + 1;
  std::vector<std::pair<double, double>> all;
  for (double m = -most; m <= most; ++m)
    for (const auto& [place, sign] :
         {std::pair{at + 2 * m * length, 1.0}, std::pair{2 * low - at + 2 * m * length, mirrored}})
      if (place > low - far && place < faces.back() + far) all.emplace_back(place, sign);
  return all;
}

/// An upper limit of the number of images.
double count_of_images(const Problem& p, const PointSource& source) {
  double count = 1;
  for (const auto* faces : faces_of(p.mesh))
    count *= 2 * reach(p, source) / (faces->back() - faces->front()) + 3;
  return count;
}

struct Image {
  double distance, sign;
};

/// The images of the source and their distances from a point, the nearest first.
std::vector<Image> images_of(const Problem& p, const PointSource& source, const Place& point) {
  const double far = reach(p, source);
  const auto faces = faces_of(p.mesh);
  std::array<std::vector<std::pair<double, double>>, 3> along;
  for (std::size_t a = 0; a < 3; ++a) along[a] = images_along(*faces[a], source.at[a], far, p.boundary);
  std::vector<Image> all;
  for (const auto& up : along[2])
    for (const auto& north : along[1])
      for (const auto& east : along[0]) {
        const double r = distance(point, {east.first, north.first, up.first});
        if (r < far) all.push_back({r, east.second * north.second * up.second});
      }
  std::sort(all.begin(), all.end(), [](const Image& a, const Image& b) { return a.distance < b.distance; });
  return all;
}

/// Temperature at time t > 0 due to 1 W from time 0 on, K.
double of_power(const std::vector<Image>& images, const Rock& rock, double t) {
  const double root = std::sqrt(4 * rock.diffusivity() * t);
  double sum = 0;
  for (const auto& [r, sign] : images) {
    if (r > seen * root) break;
    sum += sign * std::erfc(r / root) / r;
  }
  return sum / (4 * std::numbers::pi * rock.conductivity);
}

/// Temperature at time t > 0 due to 1 J released at time 0, K.
double of_heat(const std::vector<Image>& images, const Rock& rock, double t) {
  const double root = std::sqrt(4 * rock.diffusivity() * t);
  double sum = 0;
  for (const auto& [r, sign] : images) {
    if (r > 1.5 * seen * root) break;
    sum += sign * std::exp(-(r / root) * (r / root));
  }
  return sum / (rock.capacity * std::pow(std::sqrt(std::numbers::pi) * root, 3));
}

}  // namespace

void put_in(const PointSource& source, Problem& problem, const std::string& where) {
  for (const auto& [cell, weight] : weights_at(problem, source.at, where)) {
    problem.power[cell] += weight * source.power;
    problem.initial[cell] += weight * source.heat / (problem.capacity[cell] * problem.volume(cell));
  }
  if (source.until) problem.power_end = *source.until;
}

double cells_between(const TensorMesh& mesh, const Place& a, const Place& b) {
  const auto faces = faces_of(mesh);
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& f = *faces[axis];
    if (f.size() == 2) continue;
    const auto along = [&](double s) {  // number of cells from the first face to s
      const auto n = cell_along(f, s);
      return static_cast<double>(n) + (s - f[n]) / (f[n + 1] - f[n]);
    };
    square += std::pow(along(a[axis]) - along(b[axis]), 2);
  }
  return std::sqrt(square);
}

std::vector<std::size_t> in_one_rock(const Problem& problem, const PointSource& source,
                                     std::span<const Place> points, std::span<const std::size_t> among) {
  std::vector<std::size_t> all;
  for (const std::size_t n : among)
    if (is_one_rock(problem, source.at, points[n])) all.push_back(n);
  const double terms = count_of_images(problem, source) * static_cast<double>(all.size()) *
                       static_cast<double>(problem.steps() + 1);
  if (terms > most_terms) all.clear();
  return all;
}

std::vector<std::size_t> beside(const Problem& problem, const PointSource& source,
                                std::span<const Place> points) {
  std::vector<std::size_t> near;
  for (const auto* faces : faces_of(problem.mesh))
    // An axis with one cell: nothing varies along it, so the source is a line or a plane.
    if (faces->size() == 2) return near;
  for (std::size_t n = 0; n < points.size(); ++n) {
    const double cells = cells_between(problem.mesh, source.at, points[n]);
    if (cells < beside_source && distance(source.at, points[n]) > 0) near.push_back(n);
  }
  if (source.power == 0 && source.heat == 0) near.clear();
  return in_one_rock(problem, source, points, near);
}

Problem in_own_rock(const Problem& problem, const PointSource& source) {
  const auto rock = rock_at(problem, source.at);
  Problem own;
  own.mesh = problem.mesh;
  const std::size_t cells = own.mesh.size();
  own.conductivity.assign(cells, rock.conductivity);
  own.capacity.assign(cells, rock.capacity);
  own.initial.assign(cells, 0.0);
  own.power.assign(cells, 0.0);
  own.power_end = problem.power_end;
  own.end = problem.end;
  own.step = problem.step;
  own.method = problem.method;
  own.boundary = problem.boundary;
  own.tolerance = problem.tolerance;
  put_in(source, own, "source.at");
  // If the smallest cells contain rock of lower diffusivity than that at the source, explicit steps may
  // become unstable.
  if (own.method == Method::explicit_steps && own.step > own.stable_step())
    own.method = Method::implicit_steps;
  return own;
}

std::vector<double> closed_form(const Problem& problem, const PointSource& source,
                                std::span<const Place> points) {
  const auto rock = rock_at(problem, source.at);
  std::vector<double> all((problem.steps() + 1) * points.size(), 0.0);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const auto images = images_of(problem, source, points[n]);
    for (std::size_t step = 1; step <= problem.steps(); ++step) {
      const double t = static_cast<double>(step) * problem.step;
      double sum = source.power == 0 ? 0 : source.power * of_power(images, rock, t);
      if (source.power != 0 && t > problem.power_end)
        sum -= source.power * of_power(images, rock, t - problem.power_end);
      if (source.heat != 0) sum += source.heat * of_heat(images, rock, t);
      all[step * points.size() + n] = sum;
    }
  }
  return all;
}

}  // namespace terrane::heat
