// Known primary fields, and the right-hand side for the secondary field, from the contrast between bodies and
// the layers around them.
//
// E = E_p + E_s, E_p the field over layers with conductivity σ_p:  A E_s = −iωμ₀ (s − s_p)V E_p, E_s = 0 on
// the walls (A, s V: grid/maxwell.hpp; s_p V: the same for σ_p).
//
// The field of a plane wave from above is horizontal and depends on height only. On the nodes of a mesh it
// solves the difference equation of the mesh,
//
//   −(E_{k+1} − E_k)/h_k + (E_k − E_{k−1})/h_{k−1} + iωμ₀ ½(σ_{k−1} h_{k−1} + σ_k h_k) E_k = 0
//
// with the height h_k and conductivity σ_k of the cell from node k to k + 1, E = 1 at the top, and E = 0 at
// the lower end of 60 further cells below the mesh, each 1.25 times as high as the one above it. So over a
// layered earth E_s is zero to rounding error on any mesh.
#pragma once

#include <functional>

#include "terrane/physics/electromagnetic/survey/sampling.hpp"
#include "terrane/physics/electromagnetic/survey/sigma.hpp"

namespace terrane::electromagnetic {

/// A layered earth; one layer for each level of cells of a mesh.
struct Layers {
  /// [levels of cells] conductivities along up, north, east, S/m.
  std::array<std::vector<std::complex<double>>, 3> conductivity;
  bool alike = true;  ///< whether in each layer all cells at the sides have one conductivity
};

/// The layers at the sides of a mesh; if the cells of a layer differ there, their geometric mean.
Layers layers_of_sides(const TensorMesh& mesh, const Sigma& sigma);

/// E of a plane wave along north or east at the levels of nodes, [n_up + 1] from the lowest.
std::vector<std::complex<double>> plane_wave(const TensorMesh& mesh, const Layers& layers, int axis,
                                             double hertz);

/// A field as a function of the edge; place: the indices of the edge, which count cells along the axis and
/// interior nodes across.
using EdgeField = std::function<std::complex<double>(int axis, const std::array<Index, 3>& place)>;

/// The conductivity σ_p of a cell along an axis.
using Background = std::function<std::complex<double>(std::size_t axis, const std::array<Index, 3>& cell)>;

/// b = −i omega_mu (s − s_p)V E_p on the edges of b. E_p is computed only where conductivities differ.
void fill_contrast(Stream& stream, const Metric& metric, const Sigma& sigma, const Background& background,
                   const EdgeField& primary, double omega_mu, EdgeVector& b);

/// The sum of weight times E_p over the edges of `sum`.
std::complex<double> value(const EdgeSum& sum, const Metric& metric, const EdgeField& primary);

}  // namespace terrane::electromagnetic
