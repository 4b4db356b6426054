// Temperature from time 0 to the end, on all ranks, step by step.
#pragma once

#include "terrane/physics/heat/outcome.hpp"
#include "terrane/physics/heat/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::heat {

/// On rank 0 of runtime's ranks; the others serve(). problem: settled. The same bits for any number of
/// threads and ranks, and on the CPU and the debug device. Throws InputError, MemoryError, Cancelled,
/// UnsupportedError.
March march(const Problem& problem, const Runtime& runtime);

/// The fraction of this step during which heat is put in.
double heated_share(const Problem& problem, std::size_t step);

/// Called by the other ranks, while rank 0 is in march().
void serve(Comm& comm);

}  // namespace terrane::heat
