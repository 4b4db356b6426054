// Known primary fields, and the right-hand side of the secondary field, from the difference of a body to the
// layers around it.
//
// E = E_p + E_s, E_p that of an earth of layers σ_p:  A E_s = −iωμ₀ (s − s_p)V E_p, with walls that are zero.
//
// The field of a plane wave from above is horizontal and depends on height only. On the nodes of a mesh it
// solves the difference equation of the mesh,
//
//   −(E_{k+1} − E_k)/h_k + (E_k − E_{k−1})/h_{k−1} + iωμ₀ ½(σ_{k−1} h_{k−1} + σ_k h_k) E_k = 0
//
// with 1 at the top, and 0 at the end of 60 further cells below, each 1.25 times as high as the last. So over
// an earth of layers E_s is zero to rounding, whatever the cells.
#pragma once

#include <functional>

#include "terrane/physics/electromagnetic/survey/sampling.hpp"
#include "terrane/physics/electromagnetic/survey/sigma.hpp"

namespace terrane::electromagnetic {

/// An earth of layers, as thick as the cells of a mesh.
struct Layers {
  std::array<std::vector<std::complex<double>>, 3> conductivity;  ///< [n_up] along up, north, east, S/m
  bool alike = true;  ///< the cells that a layer was taken from all have its conductivity
};

/// The layers at the sides of a mesh; where cells of a layer differ, their geometric mean.
Layers layers_of_sides(const TensorMesh& mesh, const Sigma& sigma);

/// E along north or east at the nodes, [n_up + 1] from below.
std::vector<std::complex<double>> plane_wave(const TensorMesh& mesh, const Layers& layers, int axis,
                                             double hertz);

/// A field by its value on each edge; place: number of the cell along the axis, and of interior nodes across.
using EdgeField = std::function<std::complex<double>(int axis, const std::array<Index, 3>& place)>;

/// The conductivity σ_p of a cell along an axis.
using Background = std::function<std::complex<double>(std::size_t axis, const std::array<Index, 3>& cell)>;

/// b = −i omega_mu (s − s_p)V E_p on the edges of b. E_p is computed only where conductivities differ.
void fill_contrast(Stream& stream, const Metric& metric, const Sigma& sigma, const Background& background,
                   const EdgeField& primary, double omega_mu, EdgeVector& b);

/// Σ weight · E_p over the edges of a sum.
std::complex<double> value(const EdgeSum& sum, const Metric& metric, const EdgeField& primary);

}  // namespace terrane::electromagnetic
