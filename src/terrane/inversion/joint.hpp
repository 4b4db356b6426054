// Two inversions over one mesh - densities and susceptibilities - whose models are to share their structure:
//
//   φ_m₁/n₁ + φ_m₂/n₂ + λ φ_c/n_c  as small as can be, with φ_d₁ = χ₁N₁ and φ_d₂ = χ₂N₂
//
// φ_c: the cross-gradient (coupling.hpp). n₁, n₂, n_c: what the terms are of the two models found apart, so
// that λ is a number without units. One model after the other is found anew, with the other in its place,
// until they stay: with multipliers held none of these steps can raise the sum.
#pragma once

#include <array>

#include "terrane/inversion/invert.hpp"

namespace terrane::inversion {

struct JointSettings {
  double coupling = 1;  ///< λ
  int most_rounds = 12;
  double tolerance = 0.02;  ///< of the models' change in a round, relative to their largest value
};

/// One line for each round.
struct JointRound {
  double cross_gradient = 0;       ///< φ_c / n_c
  std::array<double, 2> change{};  ///< of the models, relative to their largest value
};

struct JointOutcome {
  std::array<Outcome, 2> apart, together;
  std::vector<JointRound> rounds;
  double cross_gradient = 0;  ///< φ_c / n_c at the end
  bool converged = false;
  std::vector<std::string> warnings;
};

/// Throws InputError: the meshes or active cells are not the same.
void expect_same_cells(const Problem& a, const Problem& b);

/// Throws InputError, as expect_same_cells() does, and what invert() throws.
JointOutcome invert_jointly(const std::array<const Problem*, 2>& problems,
                            const std::array<const Settings*, 2>& settings, const JointSettings& joint,
                            Progress* progress = nullptr);

}  // namespace terrane::inversion
