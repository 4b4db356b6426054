// Inversions over one mesh - densities, susceptibilities, resistivities - whose models are to share their
// structure:
//
//   Σ_i φ_m,i/n_i + λ Σ_{i<j} φ_c,ij/n_ij  as small as can be, with φ_d,i = χ_i N_i for each
//
// φ_c: the cross-gradient (coupling.hpp). n_i, n_ij: what the terms are of the models found apart, so that λ
// is a number without units. One model after the other is found anew, with the others in their places, until
// they stay: with multipliers held none of these steps can raise the sum. A model of data that are no linear
// function of it starts from what it was.
#pragma once

#include <vector>

#include "terrane/inversion/invert.hpp"

namespace terrane::inversion {

struct JointSettings {
  double coupling = 1;  ///< λ
  int most_rounds = 12;
  double tolerance = 0.02;  ///< of the models' change in a round, relative to their largest value
};

/// One line for each round.
struct JointRound {
  double cross_gradient = 0;   ///< φ_c / n_c, mean of all pairs
  std::vector<double> change;  ///< of the models, relative to their largest value
};

struct JointOutcome {
  std::vector<Outcome> apart, together;
  std::vector<JointRound> rounds;
  double cross_gradient = 0;  ///< φ_c / n_c at the end
  bool converged = false;
  std::vector<std::string> warnings;
};

/// Throws InputError: the meshes or active cells are not the same.
void expect_same_cells(const Problem& a, const Problem& b);

/// Throws InputError, as expect_same_cells() does, and what invert() throws.
JointOutcome invert_jointly(const std::vector<const Problem*>& problems,
                            const std::vector<const Settings*>& settings, const JointSettings& joint,
                            Progress* progress = nullptr);

}  // namespace terrane::inversion
