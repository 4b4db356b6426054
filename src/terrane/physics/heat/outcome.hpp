// The results of a run, which are also the state stored in its checkpoints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace terrane::heat {

/// Results on rank 0; on other ranks empty.
struct March {
  std::vector<double> temperature;  ///< temperature at the end [cells], K
  std::vector<double> series;       ///< temperatures of recorded cells [steps + 1, cell], K
  std::size_t first_step = 0;       ///< index of the first step after resuming; 0: not resumed
  std::size_t iterations = 0;       ///< iterations of the implicit solver, in all steps together
  double residual = 0;              ///< the solver's largest residual, ‖r‖/‖b‖
  bool converged = true;            ///< whether the solver converged in every step
  /// J: heat of the box above that at T = 0, before and after the run, and heat that was added in between.
  double heat_before = 0, heat_put_in = 0, heat_after = 0;
  std::vector<std::string> notes, warnings;
};

}  // namespace terrane::heat
