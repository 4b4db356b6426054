// Rock that tests of travel times start from, and its closed forms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include "terrane/physics/traveltime/problem.hpp"

namespace terrane::test {

using traveltime::Point;

/// velocity(centre of the cell), m/s
inline std::vector<double> velocities(const TensorMesh& mesh,
                                      const std::function<double(const Point&)>& velocity) {
  std::vector<double> all;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto p = mesh.prism(n);
    all.push_back(velocity({(p.west + p.east) / 2, (p.south + p.north) / 2, (p.bottom + p.top) / 2}));
  }
  return all;
}

/// v = v₀ − k·up: T = acosh(1 + k² |x − x'|² / (2 v v')) / k (Slotnick 1959, Lessons in Seismic Computing).
inline double time_in_gradient(double v0, double k, const Point& a, const Point& b) {
  double square = 0;
  for (std::size_t n = 0; n < 3; ++n) square += (a[n] - b[n]) * (a[n] - b[n]);
  return std::acosh(1 + k * k * square / (2 * (v0 - k * a[2]) * (v0 - k * b[2]))) / k;
}

/// Along the ground over a fast layer at a depth h: the direct or the head wave.
inline double time_over_layer(double v1, double v2, double h, double offset) {
  return std::min(offset / v1, offset / v2 + 2 * h * std::sqrt(1 / (v1 * v1) - 1 / (v2 * v2)));
}

/// Uneven cells of rough rock with a hole of air in it; shots and receivers anywhere.
inline traveltime::Problem rough_rock(std::size_t shots, std::size_t receivers, unsigned seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto faces = [](std::size_t cells, double from, double width) {
    std::vector<double> all{from};
    for (std::size_t n = 0; n < cells; ++n)
      all.push_back(all.back() + width * (1 + 0.3 * static_cast<double>(n % 3)));
    return all;
  };
  traveltime::Problem p;
  p.mesh = TensorMesh(faces(9, 0, 8), faces(7, 0, 9), faces(8, -80, 7));
  p.velocity = velocities(p.mesh, [&](const Point&) { return 2000 * std::exp(0.15 * normal(random)); });
  p.velocity[p.mesh.index(3, 3, 6)] = 0;
  const auto bounds = p.mesh.bounds();
  std::uniform_real_distribution<double> part(0, 1);
  const auto somewhere = [&]() -> Point {
    return {bounds.west + part(random) * (bounds.east - bounds.west),
            bounds.south + part(random) * (bounds.north - bounds.south),
            bounds.bottom + 0.5 * part(random) * (bounds.top - bounds.bottom)};
  };
  for (std::size_t n = 0; n < shots; ++n) p.shots.push_back(somewhere());
  for (std::size_t n = 0; n < receivers; ++n) p.receivers.push_back(somewhere());
  p.picks = traveltime::all_picks(shots, receivers);
  return p;
}

}  // namespace terrane::test
