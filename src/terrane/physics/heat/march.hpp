// Computes the temperature from time 0 to the end, step by step, on all ranks.
#pragma once

#include "terrane/physics/heat/outcome.hpp"
#include "terrane/physics/heat/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::heat {

/// Called by rank 0, while the other ranks are in serve(). problem: settle() has been called. Results are
/// bitwise identical for any number of threads and ranks, and on the CPU and the debug device. Throws
/// InputError, MemoryError, Cancelled, UnsupportedError.
March march(const Problem& problem, const Runtime& runtime);

/// The fraction of this step during which the source heats.
double heated_share(const Problem& problem, std::size_t step);

/// Called by the other ranks, while rank 0 is in march().
void serve(Comm& comm);

}  // namespace terrane::heat
