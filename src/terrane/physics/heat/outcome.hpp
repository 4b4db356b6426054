// The results of a run, and the state in its checkpoints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace terrane::heat {

/// Results on rank 0; on other ranks empty.
struct March {
  std::vector<double> temperature;                          ///< at the end [cells], K
  std::vector<double> series;                               ///< [steps + 1, receivers], K
  std::size_t first_step = 0;                               ///< where a resumed run went on
  std::size_t iterations = 0;                               ///< of the implicit solver
  double residual = 0;                                      ///< the largest that it left
  bool converged = true;                                    ///< in every step
  double heat_before = 0, heat_put_in = 0, heat_after = 0;  ///< J above the surroundings
  std::vector<std::string> notes, warnings;
};

}  // namespace terrane::heat
