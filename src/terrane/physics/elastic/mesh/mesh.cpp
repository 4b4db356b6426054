#include "terrane/physics/elastic/mesh/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane::elastic {

Hexahedron Mesh::element(std::size_t n) const {
  if (n < curve.size() && curve[n] != straight)  // `curve` may be shorter while a mesh is being made
    return Hexahedron(&curves[curve[n]]);
  std::array<Vector, 8> corners;
  for (std::size_t a = 0; a < 8; ++a) corners[a] = nodes[elements[n][a]];
  return Hexahedron(corners);
}

namespace {

/// Whether the nodes of element n exist and the element is neither inverted nor folded.
bool is_whole(const Mesh& mesh, std::size_t n) {
  for (const auto node : mesh.elements[n])
    if (node >= mesh.nodes.size()) return false;
  const auto element = mesh.element(n);
  for (int a = 0; a < 27; ++a)
    if (!(element.map(of_27_points(a)).det > 0)) return false;
  return true;
}

/// Throws the error of an element for which is_whole() is false.
void check_shape(const Mesh& mesh, std::size_t n) {
  for (const auto node : mesh.elements[n])
    if (node >= mesh.nodes.size())
      throw InputError("elastic: mesh",
                       fmt::format("element {} names node {} of {}", n, node, mesh.nodes.size()));
  const auto element = mesh.element(n);
  for (int a = 0; a < 27; ++a) {
    const auto xi = of_27_points(a);
    if (const double det = element.map(xi).det; !(det > 0)) {
      const auto x = element.at(xi);
      throw InputError(
          "elastic: mesh",
          fmt::format("element {} is turned or folded: its Jacobian is {:.3g} m3 at easting {:.6g}, "
                      "northing {:.6g}, up {:.6g} m",
                      n, det, x[0], x[1], x[2]),
          "Its corners must go around the bottom and then the top; where a surface stretches "
          "columns, the surface must stay above the bottom.");
    }
  }
}

}  // namespace

void sort_each_once(std::vector<AbsorbingFace>& faces) {
  std::sort(faces.begin(), faces.end(), [](const AbsorbingFace& a, const AbsorbingFace& b) {
    return a.element != b.element ? a.element < b.element : a.side < b.side;
  });
  faces.erase(std::unique(faces.begin(), faces.end()), faces.end());
}

void Mesh::check() const {
  if (elements.empty()) throw InputError("elastic: mesh", "it has no elements");
  if (medium.size() != elements.size())
    throw ShapeError("elastic: mesh",
                     fmt::format("{} media for {} elements", medium.size(), elements.size()));
  if (!vertex.empty() && vertex.size() != nodes.size())
    throw ShapeError("elastic: mesh", fmt::format("{} vertices for {} nodes", vertex.size(), nodes.size()));
  for (std::size_t n = 0; n < media.size(); ++n)
    media[n].check(media[n].name.empty() ? fmt::format("elastic: medium {}", n) : media[n].name);
  for (const auto& node : nodes)
    for (const double x : node)
      if (!std::isfinite(x)) throw InputError("elastic: mesh", "a node is nowhere: NaN or infinite");
  if (!curve.empty() && curve.size() != elements.size())
    throw ShapeError("elastic: mesh",
                     fmt::format("{} curves for {} elements", curve.size(), elements.size()));
  for (const auto at : curve)
    if (at != straight && at >= curves.size())
      throw InputError("elastic: mesh", fmt::format("there is no curve {} of {}", at, curves.size()));
  const auto wrong = first_where(
      elements.size(), 0, [&](std::size_t n) { return medium[n] >= media.size() || !is_whole(*this, n); });
  if (wrong < elements.size()) {
    if (medium[wrong] >= media.size())
      throw InputError("elastic: mesh",
                       fmt::format("element {} names medium {} of {}", wrong, medium[wrong], media.size()));
    check_shape(*this, wrong);
  }
  for (const auto& face : absorbing)
    if (face.element >= elements.size() || face.side > 5)
      throw InputError("elastic: mesh",
                       fmt::format("there is no side {} of element {}", face.side, face.element));
}

std::size_t Mesh::varying() const {
  return static_cast<std::size_t>(
      std::count_if(variation.begin(), variation.end(), [](std::uint32_t at) { return at != even; }));
}

void Mesh::check_variation(std::size_t each) const {
  if (variation.size() > size())
    throw ShapeError("elastic: mesh", fmt::format("rock within {} elements of {}", variation.size(), size()));
  for (std::size_t n = 0; n < variation.size(); ++n) {
    if (!varies(n)) continue;
    const auto& own = medium_of(n);
    const auto wrong = [&](const std::string& problem, const std::string& next) {
      return InputError("elastic: mesh", fmt::format("rock within element {}: {}", n, problem), next);
    };
    if ((variation[n] + std::size_t{1}) * each > at_points.size())
      throw wrong("it has no place among the points", fmt::format("There are {} points an element.", each));
    if (!own.isotropic || fading_axes(n))
      throw wrong("it is anisotropic, or in a matched layer", "Such elements have one medium each.");
    for (const auto* rock = rock_of(n, each); rock != rock_of(n, each) + each; ++rock) {
      const auto [density, lambda, mu] = *rock;
      if (!(density > 0) || !(lambda + 2.0 / 3 * mu > 0) || !(own.is_fluid() ? mu == 0 : mu > 0) ||
          !std::isfinite(density + lambda + mu))
        throw wrong(
            fmt::format("density {:g} kg/m3, lambda {:g} and mu {:g} Pa", density, lambda, mu),
            "All points of an element are rock, or all are fluid, with a density and moduli above 0.");
    }
  }
}

Mesh bricks(const TensorMesh& cells, std::vector<Medium> media, std::vector<std::uint32_t> medium,
            const OpenSides& open, const std::function<double(double, double)>& surface) {
  Mesh mesh;
  const auto nx = cells.n_east(), ny = cells.n_north(), nz = cells.n_up();
  if ((nx + 1) * (ny + 1) * (nz + 1) > UINT32_MAX)
    throw InputError("elastic: mesh", fmt::format("{} x {} x {} cells are too many", nx, ny, nz));
  const auto node = [&](std::size_t i, std::size_t j, std::size_t k) {
    return static_cast<std::uint32_t>(i + (nx + 1) * (j + (ny + 1) * k));
  };
  mesh.nodes.resize((nx + 1) * (ny + 1) * (nz + 1));
  const double bottom = cells.up().front(), top = cells.up().back();
  for (std::size_t j = 0; j <= ny; ++j)
    for (std::size_t i = 0; i <= nx; ++i) {
      const double e = cells.easting()[i], n = cells.northing()[j], here = surface ? surface(e, n) : top;
      if (!(here > bottom))
        throw InputError(
            "elastic: mesh",
            fmt::format("the surface is at {:.6g} m at easting {:.6g}, northing {:.6g} m", here, e, n),
            fmt::format("It must be known everywhere over the mesh and lie above its bottom, {:.6g} m.",
                        bottom));
      for (std::size_t k = 0; k <= nz; ++k) {
        const double up = cells.up()[k];
        mesh.nodes[node(i, j, k)] = {
            e, n, here == top ? up : bottom + (up - bottom) * (here - bottom) / (top - bottom)};
      }
    }
  mesh.elements.resize(cells.size());
  for_each(nz, 0, [&](std::size_t k) {
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i)
        for (std::size_t a = 0; a < 8; ++a)
          mesh.elements[i + nx * (j + ny * k)][a] = node(i + (a & 1), j + (a >> 1 & 1), k + (a >> 2));
  });
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i) {
        if (i > 0 && i + 1 < nx && j > 0 && j + 1 < ny && k > 0 && k + 1 < nz) continue;
        const auto element = static_cast<std::uint32_t>(i + nx * (j + ny * k));
        const bool out[6] = {open.west && i == 0,       open.east && i + 1 == nx, open.south && j == 0,
                             open.north && j + 1 == ny, open.bottom && k == 0,    open.top && k + 1 == nz};
        for (std::uint32_t side = 0; side < 6; ++side)
          if (out[side]) mesh.absorbing.push_back({element, side});
      }
  mesh.media = std::move(media);
  mesh.medium = std::move(medium);
  return mesh;
}

Shape shape_of(const Hexahedron& element) {
  if (element.nodes) return Shape::curved;
  double size = 0, bent = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t m = 1; m < 4; ++m) size = std::max(size, std::fabs(element.monomial[m][d]));
    for (std::size_t m = 4; m < 8; ++m) bent = std::max(bent, std::fabs(element.monomial[m][d]));
  }
  return bent <= 1e-6 * size ? Shape::parallel : Shape::trilinear;
}

}  // namespace terrane::elastic
