// The diagonal of the inverse of a sparse symmetric matrix A in layers: an unknown has entries only with
// unknowns of its own layer, of the layer above and of that below.
//
//   L_1 = A_1,  L_k = A_k − D_(k−1)ᵀ L_(k−1)⁻¹ D_(k−1)             layer by layer upward
//   G_n = L_n⁻¹,  G_k = L_k⁻¹ + L_k⁻¹ D_k G_(k+1) D_kᵀ L_k⁻¹        and down again
//
// A_k: the entries within layer k, D_k: those with the layer above, G_k: those of A⁻¹ within layer k. Block
// elimination, exact to rounding for positive definite A: no iteration and no tolerance. It takes 3 m³
// multiply-adds and 8 m² bytes for a layer of m unknowns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrane::solve {

struct LayeredMatrix {
  /// An entry of two unknowns, by their places in their layers.
  struct Link {
    std::uint32_t first, second;
    double value;
  };
  struct Layer {
    std::vector<double> diagonal;
    std::vector<Link> within;  ///< each once
    std::vector<Link> up;      ///< second: the cell in the next layer
  };
  std::vector<Layer> layers;
};

/// The diagonal of A⁻¹, [layers][unknowns]. The same bits for any number of threads. Throws InputError: A is
/// not positive definite.
std::vector<std::vector<double>> diagonal_of_inverse(const LayeredMatrix& matrix, int threads = 0);

/// Memory of diagonal_of_inverse(), bytes, for `layers` layers of at most `unknowns` unknowns; and its time
/// on one core, s.
double bytes_of_layers(double layers, double unknowns);
double seconds_of_layers(double layers, double unknowns);

}  // namespace terrane::solve
