// Cells and stations for sensitivities by clusters, and how far two results are apart.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "support/worse.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane::test {

inline std::vector<double> random_between(double low, double high, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

/// Cells of an uneven mesh, and stations scattered over hills above it; some above corners of cells.
inline std::shared_ptr<const gravity::SensitivityColumns> tree_problem(
    const std::vector<gravity::Channel>& channels, std::size_t stations, double accuracy = 1e-9) {
  std::vector<double> east{0}, up{-600, -450, -340, -250, -180, -120, -75, -40, -15, 0};
  for (int i = 0; i < 40; ++i) east.push_back(east.back() + 25 + (i % 3) * 10);
  const TensorMesh mesh(east, east, up);
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 11 != 3) cells.push_back(mesh.prism(c));
  gravity::KeptStations at{random_between(-200, east.back() + 200, stations, 1),
                           random_between(-200, east.back() + 200, stations, 2),
                           random_between(5, 80, stations, 3)};
  at.easting[0] = east[7];
  at.northing[0] = east[9];
  at.up[0] = 1;
  std::vector<gravity::Observable> observables;
  for (const auto c : channels)
    observables.push_back(gravity::Observable::of(c, default_gravitational_constant));
  return std::make_shared<gravity::SensitivityColumns>(cells, at, observables, accuracy);
}

inline double scaled_norm(std::span<const double> a) {
  double sum = 0;
  for (const double v : a) sum += v * v * 1e20;
  return std::sqrt(sum) * 1e-10;
}

/// ‖a − b‖ / ‖b‖
inline double relative_difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return worse(0, scaled_norm(difference) / scaled_norm(b));
}

inline const std::vector<std::vector<gravity::Channel>> tree_kinds{
    {gravity::Channel::g_u},
    {gravity::Channel::g_e},
    {gravity::Channel::g_uu},
    {gravity::Channel::g_u, gravity::Channel::g_uu, gravity::Channel::g_en}};

}  // namespace terrane::test
