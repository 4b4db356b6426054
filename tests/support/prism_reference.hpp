// The fields of prisms in quadruple precision: from files, and computed while a test runs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "terrane/math/quad.hpp"
#include "terrane/mesh/prism.hpp"

namespace terrane::test {

/// V, g, Γ in the order of Channel, SI; NaN where the component is singular.
struct ReferenceRow {
  std::string kind;  ///< "prism_near", "edgeline", ...
  Prism prism;
  double station[3];
  std::array<Quad, 10> value;
  bool inside() const { return kind.starts_with("inside") || kind == "centre"; }
  /// Longest side over shortest.
  double aspect() const;
};

/// tests/support/data/prism_quad_precision.csv: G = 6.67430e-11, 1 kg/m³; the normal derivative on a face is
/// the mean.
std::vector<ReferenceRow> reference_rows();

/// Relative errors of V, |g| and ‖Γ‖ taken as wholes: components cross zero. Singular components are left
/// out; inside a prism |g| is measured against at least G ρ times the shortest side.
struct NormwiseError {
  double v, g, gradient;
  double largest() const;
};
NormwiseError normwise_error(const ReferenceRow& row, const std::array<double, 10>& value);

}  // namespace terrane::test
