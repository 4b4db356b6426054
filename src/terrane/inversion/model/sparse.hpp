// Sparse norms 0 ≤ p ≤ 2 by reweighting.
//
//   φ_m = Σ_terms α_t Σ_i v_i ε_t² s_t Ψ_p(x_i/ε_t),  Ψ_p(x) = (2/p)[(1+x²)^{p/2} − 1],  Ψ_0 = ln(1+x²),  Ψ_2
//   = x² factor of a summand:  r_i = s_t (1 + x_i²/ε²)^{p/2−1}
//
// x: u for the smallness, its difference over δ for a gradient; v: w² V, or w² A δ. The weights of the cells
// stand outside the norm: ln(1 + (w u/ε)²) would hardly feel them, and bodies would rise. (With
// weights_in_gradients gradients are the differences of w u, and v is A δ.) r x² + const lies above ε²Ψ and
// touches it at the present x: so each step at one β, ε and s cannot raise φ_d + β φ_m. s_t keeps the largest
// gradient of a term that of its square norm; without it sparse terms fade as ε falls.
#pragma once

#include <array>

#include "terrane/inversion/model/regulariser.hpp"

namespace terrane::inversion {

struct SparseNorms {
  std::array<double, 4> p{2, 2, 2, 2};  ///< exponents of smallness, of flatness along e, n and up
  bool square() const { return p[0] == 2 && p[1] == 2 && p[2] == 2 && p[3] == 2; }
  friend bool operator==(const SparseNorms&, const SparseNorms&) = default;
};

/// One stage of reweighting: ε and s are held until the steps at this β and ε are done.
struct SparseStage {
  std::array<double, 4> epsilon{1, 1, 1, 1};
  std::array<double, 4> scale{1, 1, 1, 1};

  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("epsilon", s.epsilon);
    field("scale", s.scale);
  }
};

/// s_t for these magnitudes.
std::array<double, 4> sparse_scales(const SparseNorms& norms, const std::array<double, 4>& epsilon,
                                    const Factors& magnitudes);

/// The largest |x| of each term.
std::array<double, 4> largest_magnitudes(const Factors& magnitudes);

/// The factors at a model.
Factors sparse_factors(const SparseNorms& norms, const SparseStage& stage, const Factors& magnitudes);

/// φ_m of the sparse norms themselves.
Terms sparse_terms(const SparseNorms& norms, const SparseStage& stage, const Alphas& alphas,
                   const Factors& magnitudes, const Factors& measures);

}  // namespace terrane::inversion
