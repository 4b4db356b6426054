// Temperature from time 0 to the end, on all ranks, step by step.
#pragma once

#include <string>
#include <vector>

#include "terrane/physics/heat/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::heat {

/// What rank 0 has in the end; the other ranks have nothing.
struct March {
  std::vector<double> temperature;                          ///< at the end [cells], K
  std::vector<double> series;                               ///< [steps + 1, receivers], K
  std::size_t first_step = 0;                               ///< where a resumed run went on
  std::size_t iterations = 0;                               ///< of the implicit solver
  double heat_before = 0, heat_put_in = 0, heat_after = 0;  ///< J above the surroundings
  std::vector<std::string> notes, warnings;
};

/// On rank 0 of runtime's ranks; the others serve(). problem: settled. The same bits for any number of
/// threads and ranks, and on the CPU and the debug device. Throws InputError, MemoryError, Cancelled,
/// UnsupportedError.
March march(const Problem& problem, const Runtime& runtime);

/// Whether heat is put in during this step.
bool heats(const Problem& problem, std::size_t step);

/// What the other ranks do meanwhile.
void serve(Comm& comm);

}  // namespace terrane::heat
