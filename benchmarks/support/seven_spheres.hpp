// The ensemble of the benchmarks: seven balls in 22 km × 22 km × 8 km, and 150 × 100 stations above it.
#pragma once

#include "support/prism_field.hpp"

namespace terrane::benchmarks {

/// Seven balls of radius 1103 m in an ensemble of 704 × 704 × 50 cells of 31.25 × 31.25 × 160 m.
inline test::PrismList seven_spheres() {
  constexpr double ball[7][4] = {{3500, 3500, -1500, 300},    {18500, 3600, -2600, -250},
                                 {3700, 18300, -2000, 400},   {18200, 18400, -1400, 200},
                                 {11000, 11000, -4000, -500}, {7000, 12500, -6400, 600},
                                 {15000, 8000, -5200, 350}};
  return test::mesh_block({0, 22000, 0, 22000, -8000, 0}, {704, 704, 50}, [&](int i, int j, int k) {
    const double x = (i + 0.5) * 31.25, y = (j + 0.5) * 31.25, z = (k - 49.5) * 160;
    for (const auto& b : ball) {
      const double dx = x - b[0], dy = y - b[1], dz = z - b[2];
      if (dx * dx + dy * dy + dz * dz < 1103.0 * 1103.0) return b[3];
    }
    return 0.0;
  });
}

/// ni × nj stations over a square at one height.
inline test::StationList grid(int ni, int nj, double width, double up) {
  test::StationList list;
  for (int j = 0; j < nj; ++j)
    for (int i = 0; i < ni; ++i) list.add(i * width / (ni - 1), j * width / (nj - 1), up);
  return list;
}

}  // namespace terrane::benchmarks
