// How data change with the logarithm of conductivity, m = ln σ of each cell, along all axes alike.
//
//   A δE = −iωμ₀ δ(sV) E,   δ(sV) of an edge = Σ over its four cells of σ V/4 δm
//   J v = Q δE + δQ E            Q: what receivers take; it holds σ where H follows Ampère's law
//   Jᵀ w:  A λ = Qᵀ w  (A = Aᵀ: the same solver),  (Jᵀ w)_c = −iωμ₀ Σ of its twelve edges σV/4 λ E, and δQᵀ
//
// Jᵀ is transposed, not conjugated: the gradient of ½ Σ |W (d − d_obs)|² is Re Jᵀ w with w = W² conj(d −
// d_obs). Known fields (of plane waves over the layers at the sides, of a source over layers) are kept: cells
// at the sides of the mesh change nothing of them.
#pragma once

#include <span>

#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

class Sensitivity {
 public:
  /// Solves for the fields of all sources and frequencies, and keeps them on the host: 48 bytes a cell and
  /// solve.  Throws as forward().
  Sensitivity(const Problem& problem, Stream& stream);

  const Outcome& outcome() const { return outcome_; }
  std::size_t data() const { return outcome_.data.size(); }
  std::size_t cells() const { return problem_.mesh.size(); }

  /// J v, [source, frequency, component, receiver], of v [cells]. Throws ShapeError.
  std::vector<std::complex<double>> times(std::span<const double> v);
  /// Jᵀ w, [cells], of w as outcome().data. Throws ShapeError.
  std::vector<std::complex<double>> transposed_times(std::span<const std::complex<double>> w);

 private:
  std::complex<double> taken(const EdgeSum& sum, const EdgeValues& field) const;

  const Problem problem_;
  Solves solves_;
  Outcome outcome_;
  std::vector<EdgeValues> fields_;  // of each solve
};

}  // namespace terrane::electromagnetic
