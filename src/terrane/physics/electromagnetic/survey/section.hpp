// Plane waves over a section: an earth that goes on along its strike, north or east, as it is at the two ends
// of the mesh there.
//
//   E along the strike (s)    −∇·∇E_s + iωμ₀ σ_s E_s = 0
//   H along the strike        −∇·(1/σ) ∇H_s + iωμ₀ H_s = 0,   E across = ±(1/σ) ∂H_s
//
// Both are the equations of grid/maxwell.hpp for fields that do not change along the strike: E_s on the nodes
// of the section, H_s in its cells, so that over such an earth nothing is left for the secondary field. At
// the sides nothing changes across; at the top ∂E_s/∂u, or H_s, is the same everywhere; below the mesh
// further cells, each 1.5 times the last, end in nothing. Factors of the banded matrix without pivoting: its
// real part is positive.
#pragma once

#include "terrane/physics/electromagnetic/survey/primary.hpp"

namespace terrane::electromagnetic {

struct CrossSection {
  int strike = 1;  ///< axis along which nothing changes: 1 north, 2 east
  /// Conductivity along up, north, east, S/m, [n_up, cells across]: the geometric means of the two ends.
  std::array<std::vector<std::complex<double>>, 3> conductivity;
  bool alike = true;  ///< the section has the same conductivities at both of its ends
};

/// Bytes that the solution for a wave over a section takes.
double bytes_of_section(const TensorMesh& mesh, int strike);

CrossSection section_of_ends(const TensorMesh& mesh, const Sigma& sigma, int strike);

/// The primary field of a plane wave with E along the strike, or (across) with H along it. 1 at the low end
/// of the top.
EdgeField wave_along_strike(const TensorMesh& mesh, const CrossSection& section, double hertz);
EdgeField wave_across_strike(const TensorMesh& mesh, const CrossSection& section, double hertz);

}  // namespace terrane::electromagnetic
