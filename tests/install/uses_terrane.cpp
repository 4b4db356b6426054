// The gravity of a cube, from a program that uses an installed Terrane.
#include <cmath>
#include <cstdio>
#include <terrane/base/version.hpp>
#include <terrane/physics/gravity/forward.hpp>
#include <vector>

int main() {
  // A cube of 100 m and 3000 kg/m³ about the origin; stations 200 m and 10 km above its centre.
  const std::vector<double> low{-50}, high{50}, density{3000};
  const std::vector<double> easting{0, 0}, northing{0, 0}, up{200, 10e3};
  std::vector<double> g_u(up.size());

  terrane::gravity::Parameters parameters;
  parameters.channels = {terrane::gravity::Channel::g_u};
  const auto report =
      terrane::gravity::forward({low, high, low, high, low, high, density}, {easting, northing, up},
                                parameters, {parameters.channels, {g_u}, {}});

  std::printf("%s\n%s\n", terrane::version_line().c_str(), report.device.c_str());
  for (std::size_t i = 0; i < up.size(); ++i) std::printf("g_u at %.0f m: %.12e m/s2\n", up[i], g_u[i]);

  // From 10 km a cube is a point mass to (L/d)⁴: G M / d², downwards.
  const double point = -parameters.gravitational_constant * 3000 * 1e6 / (10e3 * 10e3);
  const double difference = std::abs(g_u[1] / point - 1);
  std::printf("relative difference from a point mass: %.1e\n", difference);
  return difference < 1e-8 ? 0 : 1;
}
