#include "terrane/physics/elastic/march/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/mesh/numbering.hpp"

namespace terrane::elastic {

namespace {

Vector place_in_cube(const Basis& basis, std::size_t n) {
  const auto p = static_cast<std::size_t>(basis.points());
  return {basis.x[n % p], basis.x[n / p % p], basis.x[n / p / p]};
}

/// Elements in the box of the snapshots, outside matched layers.
std::vector<std::uint32_t> candidates(const Problem& problem) {
  const auto& box = problem.snapshots.box;
  std::vector<std::uint32_t> all;
  for (std::uint32_t e = 0; e < problem.mesh.size(); ++e) {
    const auto x = problem.mesh.element(e).monomial[0];
    bool within = problem.mesh.fading_axes(e) == 0;
    for (std::size_t d = 0; d < 3; ++d) within = within && x[d] >= box[2 * d] && x[d] <= box[2 * d + 1];
    if (within) all.push_back(e);
  }
  return all;
}

/// Sides of these elements at the free surface whose normal points upward: less than 60° from the vertical.
std::vector<AbsorbingFace> surface_of(const Mesh& mesh, const std::vector<std::uint32_t>& elements) {
  constexpr std::size_t middles[6] = {12, 14, 10, 16, 4, 22};  // centres of the faces, among 27 points
  constexpr double up_at_least = 0.5;
  std::vector<std::uint32_t> all(mesh.size());
  std::iota(all.begin(), all.end(), 0u);
  const auto numbering = number_points(mesh, 3, all);
  std::vector<std::uint8_t> sides(numbering.count, 0);
  const auto middle = [&](std::uint32_t e, std::uint32_t side) -> std::uint8_t& {
    return sides[numbering.point[27 * e + middles[side]]];
  };
  for (const auto e : all)
    for (std::uint32_t side = 0; side < 6; ++side) ++middle(e, side);
  for (const auto& face : mesh.absorbing) ++middle(face.element, face.side);
  std::vector<AbsorbingFace> surface;
  for (const auto e : elements)
    for (std::uint32_t side = 0; side < 6; ++side) {
      if (middle(e, side) != 1) continue;
      Vector xi{};
      xi[side / 2] = side % 2 ? 1 : -1;
      const auto normal = mesh.element(e).map(xi).cofactor[side / 2];
      if (normal[2] * xi[side / 2] > up_at_least * norm(normal)) surface.push_back({e, side});
    }
  return surface;
}

/// Builds a picture: numbers its points in the order in which cells are added.
class Drawing {
 public:
  Drawing(const Problem& problem, const std::vector<std::uint32_t>& elements)
      : problem_(problem), basis_(problem.degree) {
    numbering_ = number_points(problem.mesh, basis_.points(), elements);
    number_.assign(2 * numbering_.count, UINT32_MAX);
  }
  /// Adds point n of an element as a corner of a cell.  place: index of the element among those of the
  /// drawing
  void add_corner(std::size_t place, std::uint32_t element, int n) {
    const auto point = numbering_.point[place * problem_.points_of_element() + static_cast<std::size_t>(n)];
    auto& number = number_[2 * point + (problem_.mesh.medium_of(element).is_fluid() ? 1 : 0)];
    if (number == UINT32_MAX) {
      number = static_cast<std::uint32_t>(picture.size());
      if (number > INT32_MAX - 1)
        throw InputError("elastic: snapshots", "they show more than two thousand million points",
                         "Give a smaller box.");
      picture.element.push_back(element);
      picture.n.push_back(static_cast<std::uint32_t>(n));
    }
    picture.cells.push_back(static_cast<std::int32_t>(number));
  }
  void add_element(std::size_t place, std::uint32_t element) {
    const int p = basis_.points(), last = p - 1;
    constexpr int corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int k = 0; k < last; ++k)
      for (int j = 0; j < last; ++j)
        for (int i = 0; i < last; ++i)
          for (const auto& c : corners)
            add_corner(place, element, i + c[0] + p * (j + c[1] + p * (k + c[2])));
  }
  void add_side(std::size_t place, const AbsorbingFace& face) {
    const int p = basis_.points();
    constexpr int corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int q = 0; q < p - 1; ++q)
      for (int i = 0; i < p - 1; ++i)
        for (const auto& c : corners)
          add_corner(place, face.element, point_on_side(face.side, i + c[0], q + c[1], p));
  }
  Picture picture;

 private:
  const Problem& problem_;
  Basis basis_;
  Numbering numbering_;
  std::vector<std::uint32_t> number_;  // index in the picture: [2 · point + (1 in fluids)]
};

}  // namespace

Picture picture_of(const Problem& problem) {
  auto elements = candidates(problem);
  if (problem.snapshots.of == Snapshots::Of::volume) {
    if (elements.empty())
      throw InputError("elastic: snapshots", "no element has its middle in the box",
                       "Take a larger box; without one all are shown.");
    Drawing drawing(problem, elements);
    drawing.picture.corners = 8;
    for (std::size_t n = 0; n < elements.size(); ++n) drawing.add_element(n, elements[n]);
    return std::move(drawing.picture);
  }
  const auto sides = surface_of(problem.mesh, elements);
  if (sides.empty())
    throw InputError("elastic: snapshots", "there is no free surface to show",
                     "Take of = \"volume\", or leave top out of simulation.absorbing.");
  elements.clear();
  for (const auto& side : sides)
    if (elements.empty() || elements.back() != side.element) elements.push_back(side.element);
  Drawing drawing(problem, elements);
  std::size_t place = 0;
  for (const auto& side : sides) {
    while (elements[place] != side.element) ++place;
    drawing.add_side(place, side);
  }
  return std::move(drawing.picture);
}

std::vector<Vector> places_of(const Problem& problem, const Picture& picture) {
  const Basis basis(problem.degree);
  std::vector<Vector> all;
  for (std::size_t n = 0; n < picture.size(); ++n)
    all.push_back(problem.mesh.element(picture.element[n]).at(place_in_cube(basis, picture.n[n])));
  return all;
}

std::vector<double> times_of_pictures(const Problem& problem) {
  std::vector<double> all;
  for (std::size_t n = 1; n <= problem.pictures(); ++n)
    all.push_back(problem.begin + (static_cast<double>(n * problem.snapshots.every) -
                                   (problem.snapshots.velocity ? 0.5 : 0)) *
                                      problem.step);
  return all;
}

Sight::Sight(const Problem& problem, const Picture& picture, Field& field)
    : field_(field),
      factor_(problem.snapshots.velocity ? 1 / problem.step : 1),
      what_(problem.snapshots.velocity ? Field::Of::change : Field::Of::displacement),
      first_{0} {
  const Basis basis(problem.degree);
  const auto& part = field.part();
  const auto each = problem.points_of_element(), p = static_cast<std::size_t>(basis.points());
  std::vector<std::uint32_t> own(problem.mesh.size(), UINT32_MAX), watch, place(part.points, UINT32_MAX);
  for (std::size_t e = 0; e < part.elements.size(); ++e)
    own[part.elements[e]] = static_cast<std::uint32_t>(e);
  const auto see = [&](std::size_t e, std::size_t n) {
    const auto point = part.point[e * each + n];
    if (place[point] == UINT32_MAX) {
      place[point] = static_cast<std::uint32_t>(watch.size());
      watch.push_back(point);
    }
    return place[point];
  };
  for (std::uint32_t at = 0; at < picture.size(); ++at) {
    const std::size_t e = own[picture.element[at]], n = picture.n[at];
    if (e == UINT32_MAX) continue;
    points_.push_back(at);
    const auto& medium = problem.mesh.medium_of(picture.element[at]);
    watched_.push_back(see(e, n));
    if (medium.is_fluid()) {
      const auto* const rock = problem.mesh.rock_of(picture.element[at], each);
      const double density = rock ? rock[n][0] : medium.density;
      const auto map = problem.mesh.element(picture.element[at]).map(place_in_cube(basis, n));
      const std::size_t stride[3] = {1, p, p * p};
      for (std::size_t r = 0; r < 3; ++r) {
        const std::size_t i = n / stride[r] % p;
        for (std::size_t l = 0; l < p; ++l) {
          Gradient one{see(e, n + l * stride[r] - i * stride[r]), {}};
          for (std::size_t d = 0; d < 3; ++d)
            one.weight[d] = basis.derivative[i][l] * map.cofactor[r][d] / (map.det * density);
          gradients_.push_back(one);
        }
      }
    }
    first_.push_back(gradients_.size());
  }
  field.watch(watch);
}

std::vector<float> Sight::values() {
  const auto seen = field_.watched(what_);
  std::vector<float> all(3 * points_.size());
  for (std::size_t n = 0; n < points_.size(); ++n) {
    Vector here{seen[3 * watched_[n]], seen[3 * watched_[n] + 1], seen[3 * watched_[n] + 2]};
    if (first_[n] < first_[n + 1]) here = {};
    for (auto g = first_[n]; g < first_[n + 1]; ++g)
      for (std::size_t d = 0; d < 3; ++d)
        here[d] += gradients_[g].weight[d] * seen[3 * gradients_[g].watched];
    for (std::size_t d = 0; d < 3; ++d) all[3 * n + d] = static_cast<float>(here[d] * factor_);
  }
  return all;
}

}  // namespace terrane::elastic
