// Earths of the iteration tables of the electromagnetic numerics: N cells a side of 100 m, a quarter of them
// at each end, but no more than 64, growing by `stretch`.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::test {

enum class Earth { land, random };

struct Land {
  TensorMesh mesh;
  std::vector<double> sigma;  ///< S/m, [up, north, east]
  int cells;
};

inline std::vector<double> stretched_faces(int cells, double stretch) {
  // 64 cells that grow by 1.3 are 2e7 times as long in the end; with 80 single precision has no digits left.
  const int padding = stretch == 1 ? 0 : std::min(cells / 4, 64);
  std::vector<double> faces{0};
  for (int n = 0; n < cells; ++n) {
    const int out = n < padding ? padding - n : n >= cells - padding ? n - (cells - padding) + 1 : 0;
    faces.push_back(faces.back() + 100 * std::pow(stretch, out));
  }
  const double middle = faces[static_cast<std::size_t>(cells / 2)];
  for (double& f : faces) f -= middle;
  return faces;
}

/// land: 0.01 S/m under an overburden of 0.05, blocks of 1 and 1e-3. random: five decades from cell to cell.
/// Air above 0.
inline Land land(int cells, double stretch, Earth earth = Earth::land, double air = 1e-8) {
  const auto faces = stretched_faces(cells, stretch);
  Land made{TensorMesh(faces, faces, faces), {}, cells};
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> decade(-4, 1);
  for (int k = 0; k < cells; ++k)
    for (int j = 0; j < cells; ++j)
      for (int i = 0; i < cells; ++i) {
        const int x = i - cells / 2, y = j - cells / 2, z = k - cells / 2;
        double sigma = earth == Earth::random ? std::pow(10, decade(generator)) : 0.01;
        if (earth == Earth::land) {
          if (z >= -2) sigma = 0.05;
          if (x >= -3 && x < 3 && y >= -3 && y < 3 && z >= -8 && z < -3) sigma = 1;
          if (x >= 4 && x < 9 && y >= -6 && y < 6 && z >= -9 && z < -4) sigma = 1e-3;
        }
        made.sigma.push_back(z >= 0 ? air : sigma);
      }
  return made;
}

}  // namespace terrane::test
