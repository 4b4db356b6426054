#include "terrane/physics/elastic/mesh/chunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/medium/ak135.hpp"
#include "terrane/physics/elastic/mesh/layers.hpp"

namespace terrane::elastic {

namespace {

constexpr double degree = std::numbers::pi / 180;

double seen_from_the_centre(double latitude) {
  constexpr double f = 1 / 298.257;
  return std::fabs(latitude) >= 90 ? latitude * degree
                                   : std::atan((1 - f) * (1 - f) * std::tan(latitude * degree));
}

/// Unit vectors east, north and up at a position, in axes through the Greenwich meridian and the north pole.
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
  // Makes a box in ξ, η and r − R, then moves each point by the formula.
  LayeredBox box{-chunk.width_east / 2,
                 chunk.width_east / 2,
                 -chunk.width_north / 2,
                 chunk.width_north / 2,
                 chunk.columns_east,
                 chunk.columns_north,
                 [](double, double) { return 0.0; },
                 {}};
  for (const auto& one : chunk.layers)
    box.layers.push_back(
        {[bottom = one.bottom](double, double) { return bottom; }, one.rows, one.doubling, {}});
  layer.clear();
  auto mesh = layered(box, open, layer);
  const auto bent = [&](const Vector& at) -> Vector {
    const double x = std::tan(at[0]), y = std::tan(at[1]), r = chunk.radius + at[2],
                 delta = std::sqrt(1 + x * x + y * y);
    return {r * x / delta, r * y / delta, r / delta - chunk.radius};
  };
  std::vector<std::array<Vector, 27>> curves(mesh.size());
  for (std::size_t n = 0; n < mesh.size(); ++n)
    for (int k = 0; k < 27; ++k)
      curves[n][static_cast<std::size_t>(k)] = bent(mesh.element(n).at(of_27_points(k)));
  mesh.curves = std::move(curves);
  mesh.curve.resize(mesh.size());
  std::iota(mesh.curve.begin(), mesh.curve.end(), 0u);
  for (auto& node : mesh.nodes) node = bent(node);
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

void Placement::require_inside(double its_longitude, double its_latitude, double below,
                               const std::string& where) const {
  constexpr double rounding = 1e-9;
  const auto x = at(its_longitude, its_latitude, 0);
  const double east = std::atan2(x[0], x[2] + radius), north = std::atan2(x[1], x[2] + radius);
  if (std::fabs(east) > width_east / 2 + rounding || std::fabs(north) > width_north / 2 + rounding)
    throw InputError(where,
                     fmt::format("longitude {:g}, latitude {:g} degrees lies outside the chunk",
                                 its_longitude, its_latitude),
                     fmt::format("It lies {:.4g} degrees along the chunk's east axis and {:.4g} along its "
                                 "north axis from the middle, "
                                 "longitude {:g}, latitude {:g}; the chunk reaches {:g} and {:g} degrees.",
                                 east / degree, north / degree, longitude, latitude, width_east / 2 / degree,
                                 width_north / 2 / degree));
  if (below < -rounding * radius || below > depth + rounding * radius)
    throw InputError(where, fmt::format("{:g} m below the surface lies outside the chunk", below),
                     fmt::format("It reaches {:g} m down.", depth));
}

Vector Placement::at(double its_longitude, double its_latitude, double below) const {
  const auto axes = middle();
  const auto up = geographic(its_longitude, its_latitude)[2];
  const double r = radius - below;
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
  if (norm(east) < 1e-12) east = {1, 0, 0};  // at a pole every horizontal direction may serve as east
  const double size = norm(east);
  for (double& x : east) x /= size;
  return {east, cross(up, east), up};
}

namespace {

/// Coefficients of polynomials of x = r / 6371 km, up to the radius `top`, km: density in g/cm³, speeds in
/// km/s; and Q of the shear modulus.
struct PremLayer {
  double top;
  double density[4], velocity_p[4], velocity_s[4], quality_mu;
};
constexpr PremLayer prem_layers[] = {
    {1221.5, {13.0885, 0, -8.8381, 0}, {11.2622, 0, -6.3640, 0}, {3.6678, 0, -4.4475, 0}, 84.6},
    {3480,
     {12.5815, -1.2638, -3.6426, -5.5281},
     {11.0487, -4.0362, 4.8023, -13.5732},
     {0, 0, 0, 0},
     INFINITY},
    {3630,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {15.3891, -5.3181, 5.5242, -2.5514},
     {6.9254, 1.4672, -2.0834, 0.9783},
     312},
    {5600,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {24.9520, -40.4673, 51.4832, -26.6419},
     {11.1671, -13.7818, 17.4575, -9.2777},
     312},
    {5701,
     {7.9565, -6.4761, 5.5283, -3.0807},
     {29.2766, -23.6027, 5.5242, -2.5514},
     {22.3459, -17.2473, -2.0834, 0.9783},
     312},
    {5771, {5.3197, -1.4836, 0, 0}, {19.0957, -9.8672, 0, 0}, {9.9839, -4.9324, 0, 0}, 143},
    {5971, {11.2494, -8.0298, 0, 0}, {39.7027, -32.6166, 0, 0}, {22.3512, -18.5856, 0, 0}, 143},
    {6151, {7.1089, -3.8045, 0, 0}, {20.3926, -12.2569, 0, 0}, {8.9496, -4.4597, 0, 0}, 143},
    {6291, {2.6910, 0.6924, 0, 0}, {4.1875, 3.9382, 0, 0}, {2.1519, 2.3481, 0, 0}, 80},
    {6346.6, {2.6910, 0.6924, 0, 0}, {4.1875, 3.9382, 0, 0}, {2.1519, 2.3481, 0, 0}, 600},
    {6356, {2.9, 0, 0, 0}, {6.8, 0, 0, 0}, {3.9, 0, 0, 0}, 600},
    {6371, {2.6, 0, 0, 0}, {5.8, 0, 0, 0}, {3.2, 0, 0, 0}, 600},
};

Medium of_prem(double radius, double inside, bool attenuating) {
  constexpr double core = 1221.5, quality_kappa_of_core = 1327.7, quality_kappa = 57823;
  const double km = radius / 1000, x = km / 6371;
  const auto* layer = std::begin(prem_layers);
  while (layer + 1 != std::end(prem_layers) && inside / 1000 > layer->top) ++layer;
  const auto value = [x](const double(&c)[4]) { return 1000 * (c[0] + x * (c[1] + x * (c[2] + x * c[3]))); };
  auto medium =
      Medium::from_speeds(value(layer->velocity_p), value(layer->velocity_s), value(layer->density));
  if (attenuating && !medium.is_fluid()) {
    medium.quality_kappa = layer->top == core ? quality_kappa_of_core : quality_kappa;
    medium.quality_mu = layer->quality_mu;
  }
  return medium;
}

}  // namespace

RadialEarth RadialEarth::prem(bool attenuating) {
  RadialEarth earth;
  earth.attenuating_ = attenuating;
  return earth;
}

RadialEarth RadialEarth::ak135(bool attenuating) {
  std::vector<Row> rows;
  for (const auto& r : ak135_rows) {
    rows.push_back({1000 * r.depth, 1000 * r.density, 1000 * r.velocity_p, 1000 * r.velocity_s});
    if (attenuating && r.velocity_s > 0) rows.back().quality_mu = r.quality_mu;
  }
  return {std::move(rows), "ak135"};
}

RadialEarth::RadialEarth(std::vector<Row> rows, const std::string& where) : rows_(std::move(rows)) {
  if (rows_.size() < 2) throw InputError(where, "an earth by depth has two rows at least");
  for (std::size_t n = 1; n < rows_.size(); ++n)
    if (!(rows_[n].depth >= rows_[n - 1].depth))
      throw InputError(where, fmt::format("row {} is not below the one before it", n + 1));
}

Medium RadialEarth::at(double radius, double inside) const {
  if (rows_.empty()) return of_prem(radius, inside, attenuating_);
  const double depth = earth_radius - radius;
  std::size_t n = 1;
  while (n + 1 < rows_.size() && earth_radius - inside > rows_[n].depth) ++n;
  const auto &a = rows_[n - 1], &b = rows_[n];
  const double t = b.depth > a.depth ? std::clamp((depth - a.depth) / (b.depth - a.depth), 0.0, 1.0) : 0;
  const auto between = [t](double from, double to) { return from + t * (to - from); };
  // Interpolates 1/Q, the loss per cycle, linearly, which also works for infinite Q.
  const auto quality = [&](double from, double to) { return 1 / between(1 / from, 1 / to); };
  auto medium = Medium::from_speeds(between(a.velocity_p, b.velocity_p), between(a.velocity_s, b.velocity_s),
                                    between(a.density, b.density));
  if (!medium.is_fluid()) {
    medium.quality_kappa = quality(a.quality_kappa, b.quality_kappa);
    medium.quality_mu = quality(a.quality_mu, b.quality_mu);
  }
  return medium;
}

}  // namespace terrane::elastic
