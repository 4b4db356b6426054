// Plane waves over a two-dimensional section: an earth that continues along its strike, north or east, beyond
// the two ends of the mesh on that axis.
//
//   E along the strike (s)    −∇·∇E_s + iωμ₀ σ_s E_s = 0
//   H along the strike        −∇·(1/σ) ∇H_s + iωμ₀ H_s = 0,   E across = ±(1/σ) ∂H_s
//
// Both are discretised as in grid/maxwell.hpp, for fields that do not vary along the strike: E_s on the nodes
// of the section, H_s in its cells. So the secondary field over such an earth is zero. At the sides, fields
// do not vary across the strike; at the top, ∂E_s/∂u or H_s is uniform; below the mesh, the field is zero at
// the end of further cells, each 1.5 times as high as the last. The banded matrix is factored without
// pivoting, because its real part is positive definite.
#pragma once

#include "terrane/physics/electromagnetic/survey/primary.hpp"

namespace terrane::electromagnetic {

struct CrossSection {
  int strike = 1;  ///< axis along which the earth does not vary: 1 north, 2 east
  /// Conductivity along up, north, east, S/m, [n_up, cells across]: the geometric means of the two ends.
  std::array<std::vector<std::complex<double>>, 3> conductivity;
  bool alike = true;  ///< whether the section has the same conductivities at both of its ends
};

/// Bytes needed to compute a wave over a section.
double bytes_of_section(const TensorMesh& mesh, int strike);

CrossSection section_of_ends(const TensorMesh& mesh, const Sigma& sigma, int strike);

/// The primary field of a plane wave, with E along the strike, or with H along the strike and E across. E is
/// 1 at the top, at the low end of the axis across the strike.
EdgeField wave_along_strike(const TensorMesh& mesh, const CrossSection& section, double hertz);
EdgeField wave_across_strike(const TensorMesh& mesh, const CrossSection& section, double hertz);

}  // namespace terrane::electromagnetic
