// Step 3: one physics' solver with your own medium: direct current in an earth whose conductivity is a
// function. In a half space the answer is known: a Wenner array reads the resistivity itself.
#include <cmath>
#include <cstdio>
#include <terrane/physics/electric/forward.hpp>
#include <vector>

using namespace terrane;

namespace {

/// Faces of cells of this width in the middle, then of cells that grow by a third.
std::vector<double> graded(double half, double width, int growing, bool both) {
  std::vector<double> faces;
  for (double x = both ? -half : 0; x <= half + 0.5 * width; x += width) faces.push_back(x);
  for (double w = width; growing > 0; --growing) {
    w *= 1.33;
    faces.push_back(faces.back() + w);
    if (both) faces.insert(faces.begin(), faces.front() - w);
  }
  return faces;
}

}  // namespace

int main() {
  auto depth = graded(40, 2.5, 12, false);
  std::vector<double> up(depth.rbegin(), depth.rend());
  for (auto& u : up) u = -u;  // from the bottom to the surface at 0
  const TensorMesh mesh(graded(60, 2.5, 12, true), graded(20, 2.5, 12, true), up);

  // The earth: 100 ohm m, and below 15 m 10 ohm m.
  const auto earth = [](double, double, double u) { return u < -15 ? 1 / 10.0 : 1 / 100.0; };
  electric::Medium layers, half_space;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
    const auto p = mesh.prism(cell);
    layers.conductivity.push_back(
        earth(0.5 * (p.west + p.east), 0.5 * (p.south + p.north), 0.5 * (p.bottom + p.top)));
    half_space.conductivity.push_back(1 / 100.0);
  }

  // Wenner arrays of 10, 20 and 30 m about the origin; the current flows from a to b, the voltage is m above
  // n.
  electric::Electrodes electrodes;
  for (const double a : {10.0, 20.0, 30.0}) {
    const int first = static_cast<int>(electrodes.place.size());
    for (const double x : {-1.5, -0.5, 0.5, 1.5}) electrodes.place.push_back({a * x, 0, 0});
    electrodes.arrays.push_back({first, first + 3, first + 1, first + 2});
  }

  Stream stream(Device{});
  const auto over_layers = electric::direct_current(mesh, layers, electrodes, {}, stream);
  electric::Parameters total;
  total.potential =
      electric::Potential::total;  // the automatic choice would use the closed form that is tested
  const auto over_half_space = electric::direct_current(mesh, half_space, electrodes, total, stream);

  double worst = 0;
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    std::printf("array %zu: %.2f ohm m over layers, %.2f over 100 ohm m\n", n,
                over_layers.apparent_resistivity[n], over_half_space.apparent_resistivity[n]);
    worst = std::max(worst, std::abs(over_half_space.apparent_resistivity[n] / 100 - 1));
  }
  std::printf("largest difference in a half space: %.1f %%\n", 100 * worst);
  const auto& rho = over_layers.apparent_resistivity;  // a conductor below pulls wide arrays down
  return worst < 0.05 && rho[0] > rho[1] && rho[1] > rho[2] && rho[2] > 10 ? 0 : 1;
}
