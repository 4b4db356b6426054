// What a run has in the end, and a checkpoint on the way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace terrane::heat {

/// What rank 0 has in the end; the other ranks have nothing.
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
