// Filters of models and images on the nodes of a grid.
//
//   Gauss      m̄ = Σ w_n m_{i+n} / Σ w_n,  w_n = exp(−(n h / σ)² / 2), |n| ≤ 4σ/h, on one axis after the
//   other Laplacian  Σ (I_{i+1} − 2 I_i + I_{i−1}) / h²
//
// At the sides the edge goes on. Sums run over n in one order: the bits do not depend on threads.
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// m = 1/v² under a Gaussian of this standard deviation, m. As velocities.  velocity: [nodes] m/s · threads:
/// as for thread_count()
std::vector<double> smoothed(const Grid& grid, std::vector<double> velocity, double length, int threads);

/// The second difference of an image on the mesh: what lies between waves that run the same way, smooth,
/// goes.
std::vector<double> laplacian_of(const Grid& grid, const std::vector<double>& image, int threads);

}  // namespace terrane::acoustic
