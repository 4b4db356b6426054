// The diagonal of the inverse of a sparse symmetric, block-tridiagonal matrix A: a block is a layer of cells,
// and each unknown is coupled only to unknowns of its own layer and of the layers above and below.
//
//   L_1 = A_1,  L_k = A_k − D_(k−1)ᵀ L_(k−1)⁻¹ D_(k−1)             layer by layer upward
//   G_n = L_n⁻¹,  G_k = L_k⁻¹ + L_k⁻¹ D_k G_(k+1) D_kᵀ L_k⁻¹        and down again
//
// A_k: entries within layer k; D_k: entries between layer k and the layer above; G_k: entries of A⁻¹ within
// layer k. Block elimination, exact to rounding for positive definite A: no iteration and no tolerance. A
// layer of m unknowns takes 3 m³ multiply-adds and 8 m² bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrane::solve {

struct LayeredMatrix {
  /// An off-diagonal entry, with the indices of its two unknowns within their layers.
  struct Link {
    std::uint32_t first, second;
    double value;
  };
  struct Layer {
    std::vector<double> diagonal;
    std::vector<Link> within;  ///< entries within the layer, of which (i, j) and (j, i) are listed once
    std::vector<Link> up;      ///< entries between this layer (first) and the next one up (second)
  };
  std::vector<Layer> layers;
};

/// The diagonal of A⁻¹, [layers][unknowns]. The bits do not depend on the number of threads. Throws
/// InputError: if A is not positive definite.
std::vector<std::vector<double>> diagonal_of_inverse(const LayeredMatrix& matrix, int threads = 0);

/// Memory that diagonal_of_inverse() needs, bytes, for `layers` layers of at most `unknowns` unknowns each;
/// and its time on one core, s.
double bytes_of_layers(double layers, double unknowns);
double seconds_of_layers(double layers, double unknowns);

}  // namespace terrane::solve
