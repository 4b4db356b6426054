#include "terrane/physics/elastic/chunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"

namespace terrane::elastic {

namespace {

constexpr double degree = std::numbers::pi / 180;

double seen_from_the_centre(double latitude) {
  constexpr double f = 1 / 298.257;
  return std::fabs(latitude) >= 90 ? latitude * degree
                                   : std::atan((1 - f) * (1 - f) * std::tan(latitude * degree));
}

/// East, north and up of a place, in axes through the poles and the meridian of Greenwich.
Placement::Frame geographic(double longitude, double latitude) {
  const double l = longitude * degree, p = seen_from_the_centre(latitude);
  return {{{-std::sin(l), std::cos(l), 0},
           {-std::sin(p) * std::cos(l), -std::sin(p) * std::sin(l), std::cos(p)},
           {std::cos(p) * std::cos(l), std::cos(p) * std::sin(l), std::sin(p)}}};
}

void check(const Chunk& chunk) {
  const auto wrong = [](const std::string& problem, const std::string& next = {}) {
    throw InputError("elastic: chunk", problem, next);
  };
  for (const double width : {chunk.width_east, chunk.width_north})
    if (!(width > 0 && width <= std::numbers::pi / 2 * (1 + 1e-12)))
      wrong(fmt::format("a width of {:.6g} degrees", width / degree), "Widths are up to 90 degrees.");
  if (chunk.columns_east == 0 || chunk.columns_north == 0 || chunk.layers.empty())
    wrong("it has no elements", "Give columns and layers.");
  double above = 0;
  for (const auto& layer : chunk.layers) {
    if (!(layer.bottom < above) || !(layer.bottom > -chunk.radius) || layer.rows == 0)
      wrong(fmt::format("a layer from {:.6g} to {:.6g} m in {} rows", above, layer.bottom, layer.rows),
            "Layers go down from the surface, at 0, and end above the centre of the earth.");
    above = layer.bottom;
  }
}

}  // namespace

Mesh chunk_of_sphere(const Chunk& chunk, const OpenSides& open, std::vector<std::uint32_t>& layer) {
  check(chunk);
  std::vector<double> height{0};  // of the faces between rows and of their middles, from the surface down
  std::vector<std::uint32_t> layer_of_row;
  for (std::uint32_t l = 0; l < chunk.layers.size(); ++l) {
    const double top = height.back(), thick = top - chunk.layers[l].bottom;
    const std::size_t halves = 2 * chunk.layers[l].rows;
    for (std::size_t h = 1; h <= halves; ++h)
      height.push_back(h == halves ? chunk.layers[l].bottom
                                   : top - thick * static_cast<double>(h) / static_cast<double>(halves));
    layer_of_row.insert(layer_of_row.end(), chunk.layers[l].rows, l);
  }
  const std::size_t nx = chunk.columns_east, ny = chunk.columns_north, nz = layer_of_row.size();
  if (static_cast<double>(nx + 1) * static_cast<double>(ny + 1) * static_cast<double>(nz + 1) > UINT32_MAX)
    throw InputError("elastic: chunk", fmt::format("{} x {} x {} elements are too many", nx, ny, nz));
  // Half steps: i of 2 nx, j of 2 ny, k of 2 nz from the surface down.
  const auto at = [&](std::size_t i, std::size_t j, std::size_t k) -> Vector {
    const auto tangent = [](double width, std::size_t n, std::size_t columns) {
      return std::tan(width * (static_cast<double>(n) / static_cast<double>(2 * columns) - 0.5));
    };
    const double x = tangent(chunk.width_east, i, nx), y = tangent(chunk.width_north, j, ny);
    const double r = chunk.radius + height[k], delta = std::sqrt(1 + x * x + y * y);
    return {r * x / delta, r * y / delta, r / delta - chunk.radius};
  };
  Mesh mesh;
  for (std::size_t k = 0; k <= nz; ++k)
    for (std::size_t j = 0; j <= ny; ++j)
      for (std::size_t i = 0; i <= nx; ++i) mesh.nodes.push_back(at(2 * i, 2 * j, 2 * k));
  layer.clear();
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i) {
        const auto element = static_cast<std::uint32_t>(mesh.elements.size());
        std::array<std::uint32_t, 8> corners;
        for (std::size_t a = 0; a < 8; ++a)
          corners[a] = static_cast<std::uint32_t>(
              i + (a & 1) + (nx + 1) * (j + (a >> 1 & 1) + (ny + 1) * (k + 1 - (a >> 2))));
        std::array<Vector, 27> all;
        for (std::size_t n = 0; n < 27; ++n) all[n] = at(2 * i + n % 3, 2 * j + n / 3 % 3, 2 * k + 2 - n / 9);
        mesh.elements.push_back(corners);
        mesh.curve.push_back(element);
        mesh.curves.push_back(all);
        mesh.medium.push_back(0);
        layer.push_back(layer_of_row[k]);
        const bool out[6] = {open.west && i == 0,       open.east && i + 1 == nx,   open.south && j == 0,
                             open.north && j + 1 == ny, open.bottom && k + 1 == nz, open.top && k == 0};
        for (std::uint32_t side = 0; side < 6; ++side)
          if (out[side]) mesh.absorbing.push_back({element, side});
      }
  return mesh;
}

Placement::Frame Placement::middle() const {
  const auto g = geographic(longitude, latitude);
  const double c = std::cos(azimuth * degree), s = std::sin(azimuth * degree);
  Frame turned = g;
  for (std::size_t d = 0; d < 3; ++d) {
    turned[0][d] = c * g[0][d] - s * g[1][d];
    turned[1][d] = s * g[0][d] + c * g[1][d];
  }
  return turned;
}

Vector Placement::at(double its_longitude, double its_latitude, double depth) const {
  const auto axes = middle();
  const auto up = geographic(its_longitude, its_latitude)[2];
  const double r = radius - depth;
  return {r * dot(axes[0], up), r * dot(axes[1], up), r * dot(axes[2], up) - radius};
}

Placement::Frame Placement::frame(double its_longitude, double its_latitude) const {
  const auto axes = middle();
  const auto there = geographic(its_longitude, its_latitude);
  Frame out;
  for (std::size_t a = 0; a < 3; ++a)
    out[a] = {dot(axes[0], there[a]), dot(axes[1], there[a]), dot(axes[2], there[a])};
  return out;
}

Placement::Frame Placement::frame(const Vector& place) const {
  const auto axes = middle();
  const Vector out{place[0], place[1], place[2] + radius};
  const double r = norm(out);
  Vector up, pole;
  for (std::size_t d = 0; d < 3; ++d) up[d] = out[d] / r, pole[d] = axes[d][2];
  auto east = cross(pole, up);
  if (norm(east) < 1e-12) east = {1, 0, 0};  // at a pole east is anywhere
  const double size = norm(east);
  for (double& x : east) x /= size;
  return {east, cross(up, east), up};
}

namespace {

/// A polynomial of x = r / 6371 km below a radius, km: density in g/cm³, speeds in km/s.
struct PremLayer {
  double top;
  double density[4], velocity_p[4], velocity_s[4];
};
constexpr PremLayer prem[] = {
    {1221.5, {13.0885, 0, -8.8381, 0}, {11.2622, 0, -6.3640, 0}, {3.6678, 0, -4.4475, 0}},
    {3480, {12.5815, -1.2638, -3.6426, -5.5281}, {11.0487, -4.0362, 4.8023, -13.5732}, {0, 0, 0, 0}},
    {3630,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {15.3891, -5.3181, 5.5242, -2.5514},
     {6.9254, 1.4672, -2.0834, 0.9783}},
    {5600,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {24.9520, -40.4673, 51.4832, -26.6419},
     {11.1671, -13.7818, 17.4575, -9.2777}},
    {5701,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {29.2766, -23.6027, 5.5242, -2.5514},
     {22.3459, -17.2473, -2.0834, 0.9783}},
    {5771, {5.3197, -1.4836, 0, 0}, {19.0957, -9.8672, 0, 0}, {9.9839, -4.9324, 0, 0}},
    {5971, {11.2494, -8.0298, 0, 0}, {39.7027, -32.6166, 0, 0}, {22.3512, -18.5856, 0, 0}},
    {6151, {7.1089, -3.8045, 0, 0}, {20.3926, -12.2569, 0, 0}, {8.9496, -4.4597, 0, 0}},
    {6346.6, {2.6910, 0.6924, 0, 0}, {4.1875, 3.9382, 0, 0}, {2.1519, 2.3481, 0, 0}},
    {6356, {2.9, 0, 0, 0}, {6.8, 0, 0, 0}, {3.9, 0, 0, 0}},
    {6371, {2.6, 0, 0, 0}, {5.8, 0, 0, 0}, {3.2, 0, 0, 0}},
};

Medium of_prem(double radius) {
  const double km = radius / 1000, x = km / 6371;
  const auto* layer = std::begin(prem);
  while (layer + 1 != std::end(prem) && km > layer->top) ++layer;
  const auto value = [x](const double(&c)[4]) { return 1000 * (c[0] + x * (c[1] + x * (c[2] + x * c[3]))); };
  return Medium::from_speeds(value(layer->velocity_p), value(layer->velocity_s), value(layer->density));
}

}  // namespace

RadialEarth::RadialEarth(std::vector<Row> rows, const std::string& where) : rows_(std::move(rows)) {
  if (rows_.size() < 2) throw InputError(where, "an earth by depth has two rows at least");
  for (std::size_t n = 1; n < rows_.size(); ++n)
    if (!(rows_[n].depth >= rows_[n - 1].depth))
      throw InputError(where, fmt::format("row {} is not below the one before it", n + 1));
}

Medium RadialEarth::at(double radius) const {
  if (rows_.empty()) return of_prem(radius);
  const double depth = 6'371'000 - radius;
  std::size_t n = 1;
  while (n + 1 < rows_.size() && depth > rows_[n].depth) ++n;
  const auto &a = rows_[n - 1], &b = rows_[n];
  const double t = b.depth > a.depth ? std::clamp((depth - a.depth) / (b.depth - a.depth), 0.0, 1.0) : 0;
  const auto between = [t](double from, double to) { return from + t * (to - from); };
  return Medium::from_speeds(between(a.velocity_p, b.velocity_p), between(a.velocity_s, b.velocity_s),
                             between(a.density, b.density));
}

}  // namespace terrane::elastic
