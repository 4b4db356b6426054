// Sparse norms 0 ≤ p ≤ 2 by reweighting.
//
//   φ_m = Σ_terms α_t Σ_i v_i ε_t² s_t Ψ_p(x_i/ε_t)
//   Ψ_p(x) = (2/p)[(1+x²)^{p/2} − 1],  Ψ_0 = ln(1+x²),  Ψ_2 = x²
//   factor of a summand in the reweighted least-squares problem:  r_i = s_t (1 + x_i²/ε²)^{p/2−1}
//
// t: term of φ_m (smallness, or flatness along an axis); u, w, V, A, δ: regulariser.hpp; ε_t: for |x| far
// below it, the norm is a square. x: u for the smallness, the difference of u divided by δ for flatness; v:
// w² V for the smallness, w² A δ for flatness. The weights w are outside the norm: ln(1 + (w u/ε)²) would
// hardly depend on them, and bodies would move to the surface. (With weights_in_gradients x of flatness is
// the difference of w u divided by δ, and v is A δ.) r x² + const is nowhere below ε²Ψ and touches it at the
// present x: so a step with constant β, ε and s cannot increase φ_d + β φ_m. s_t makes the largest derivative
// of a term equal to that of the square norm; without it, sparse terms lose influence as ε decreases.
#pragma once

#include <array>
#include <cmath>

#include "terrane/inversion/model/regulariser.hpp"

namespace terrane::inversion {

struct SparseNorms {
  std::array<double, 4> p{2, 2, 2, 2};  ///< exponents of smallness, of flatness along e, n and up
  bool square() const { return p[0] == 2 && p[1] == 2 && p[2] == 2 && p[3] == 2; }
  friend bool operator==(const SparseNorms&, const SparseNorms&) = default;
};

/// One stage of reweighting, in which ε and s are constant; [smallness, e, n, up].
struct SparseStage {
  std::array<double, 4> epsilon{1, 1, 1, 1};
  std::array<double, 4> scale{1, 1, 1, 1};

  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("epsilon", s.epsilon);
    field("scale", s.scale);
  }
};

/// The stages of reweighting so far. ε falls from the largest magnitude of the smooth model by a factor
/// of 1.5 from stage to stage.
struct SparseState {
  SparseStage stage;
  std::array<double, 4> largest{};  ///< largest magnitude of each term in the smooth model
  double first_epsilon = 1;         ///< ε of terms whose largest magnitude is 0
  double part = 1;                  ///< ε divided by the largest magnitude
  double phi = INFINITY;            ///< φ_d + β φ_m after the last step of the stage
  int step = 0, in_stage = 0;       ///< steps so far, in all stages and in the present stage

  /// Sets the largest magnitudes, from those of the smooth model.
  void begin(const Factors& magnitudes);
  /// Makes ε smaller, but not below the part `last` of the largest magnitudes, and sets the scales.
  void next_stage(const SparseNorms& norms, double last, const Factors& magnitudes);

  template <class Self, class Field>
  static void fields(Self& w, const Field& field) {
    field("stage", w.stage);
    field("largest", w.largest);
    field("first_epsilon", w.first_epsilon);
    field("part", w.part);
    field("phi", w.phi);
    field("step", w.step);
    field("in_stage", w.in_stage);
  }
};

/// The factor by which β is changed before the next stage, if φ_d is `ratio` times its target.  tolerance:
/// relative deviation that is left as it is
double beta_of_next_stage(double ratio, double tolerance);

/// The scales s_t for these magnitudes.
std::array<double, 4> sparse_scales(const SparseNorms& norms, const std::array<double, 4>& epsilon,
                                    const Factors& magnitudes);

/// The maximum of |x| in each term.
std::array<double, 4> largest_magnitudes(const Factors& magnitudes);

/// The factors r at a model with these magnitudes x.
Factors sparse_factors(const SparseNorms& norms, const SparseStage& stage, const Factors& magnitudes);

/// φ_m with the sparse norms themselves, not their quadratic approximation.
Terms sparse_terms(const SparseNorms& norms, const SparseStage& stage, const Alphas& alphas,
                   const Factors& magnitudes, const Factors& measures);

}  // namespace terrane::inversion
