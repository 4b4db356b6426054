// Filters of models and images on the nodes of a grid.
//
//   Gauss      m̄ = Σ w_n m_{i+n} / Σ w_n,  w_n = exp(−(n h / σ)² / 2), |n| ≤ 4σ/h, axis by axis
//   Laplacian  Σ (I_{i+1} − 2 I_i + I_{i−1}) / h²
//
// m̄: the filtered model; I: the image; h: spacing of the nodes; σ: standard deviation. Beyond its sides the
// grid is continued by its outermost values. Sums over n always run in the same order: results are bitwise
// identical on any number of threads.
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// Returns the velocities of a medium whose m = 1/v² is smoothed by a Gaussian.  length: standard deviation
/// of the Gaussian, m; velocity: [nodes] m/s; threads: as for thread_count()
std::vector<double> smoothed(const Grid& grid, std::vector<double> velocity, double length, int threads);

/// The Laplacian of an image on the mesh, by second differences: it suppresses the smooth artefacts that
/// arise where the waves of source and receivers travel in the same direction.
std::vector<double> laplacian_of(const Grid& grid, const std::vector<double>& image, int threads);

}  // namespace terrane::acoustic
