// Joint inversion of several models on one mesh - densities, susceptibilities, resistivities - that are to
// have similar structure, or to be mixtures of the same two rocks:
//
//   Σ_i φ_m,i/n_i + Σ_{i<j} (λ φ_c,ij/n_ij + μ φ_r,ij/n'_ij)  minimal, with φ_d,i = χ_i N_i
//
// i, j: indices of models; φ_m, φ_d, target χ N of the misfit: objective.hpp. φ_c: the cross-gradient, φ_r:
// the difference of the fractions of rocks (coupling.hpp). Each n is the value of its term for the models of
// separate inversions; divided by it, terms have no units, and neither have the weights λ and μ. The models
// are computed one after the other, each with the others constant, until none changes: with constant Lagrange
// multipliers of the conditions on φ_d none of these steps can increase the sum. A non-linear inversion
// starts from its model of the previous round.
#pragma once

#include <vector>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

struct JointSettings {
  double coupling = 1;  ///< λ, the weight of the cross-gradient
  double rocks = 0;     ///< μ, the weight of common rocks
  int most_rounds = 12;
  /// The rounds end when no model changes in a round by more than this fraction of its largest value.
  double tolerance = 0.02;
  std::vector<TwoRocks> of = {};  ///< the two rocks of each model; empty if μ = 0
};

/// The result of one round, in which each model is computed once.
struct JointRound {
  double cross_gradient = 0;   ///< φ_c / n_c, mean of all pairs
  double unlike_shares = 0;    ///< φ_r / n_r, mean of all pairs
  std::vector<double> change;  ///< change of each model in the round, relative to its largest value

  template <class Self, class Field>
  static void fields(Self& r, const Field& field) {
    field("cross_gradient", r.cross_gradient);
    field("unlike_shares", r.unlike_shares);
    field("change", r.change);
  }
};

struct JointOutcome {
  std::vector<Outcome> apart, together;
  std::vector<JointRound> rounds;
  double cross_gradient = 0;  ///< φ_c / n_c at the end
  double unlike_shares = 0;   ///< φ_r / n_r at the end
  bool converged = false;
  std::vector<std::string> warnings;
};

/// Throws InputError if the meshes, grounds or active cells are not the same.
void expect_same_cells(const Problem& a, const Problem& b);
/// Throws InputError if settings ask for something that only inversions of a single model have: deviations,
/// sparse norms. invert_jointly() calls this and expect_same_cells().
void expect_joinable(const Settings& settings);

/// Runs the joint inversion. Throws what expect_same_cells(), expect_joinable() and invert() throw. keeper:
/// writes a checkpoint after each model, and resumes with the bits of an uninterrupted run
JointOutcome invert_jointly(const std::vector<const Problem*>& problems,
                            const std::vector<const Settings*>& settings, const JointSettings& joint,
                            Progress* progress = nullptr, Keeper* keeper = nullptr);

}  // namespace terrane::inversion
