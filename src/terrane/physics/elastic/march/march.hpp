// All steps of a run, on all ranks.
#pragma once

#include <cstddef>

#include "terrane/physics/elastic/march/outcome.hpp"
#include "terrane/physics/elastic/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::elastic {

/// Steps between two looks at the clock, at what is recorded and at the user's wish to stop.
inline constexpr std::size_t rows_at_once = 20;

/// Whether rank 0 has the displacement of all elements in the end, 6 kB per element of degree 4.
enum class Keep { series, state };

/// Computes all steps; called on rank 0 of runtime's ranks, while the others are in serve(). problem:
/// settled. With fixed sums the same bits for any number of threads and ranks on one kind of device, and
/// after a restart. Throws InputError, MemoryError, Cancelled, UnsupportedError.
Outcome march(const Problem& problem, const Runtime& runtime, Keep what = Keep::series);

/// The part of the other ranks in march().
void serve(Comm& comm);

/// What receivers record.
enum class Quantity { displacement, velocity, pressure };

/// Seismograms [receivers][east, north, up][steps], m or m/s: displacement at the end of each step, velocity
/// in its middle; or [receivers][steps], Pa, at the beginning of each step, where the problem records
/// pressure. The error of time steps is taken out where the problem says so.
std::vector<double> seismograms(const Problem& problem, const Outcome& outcome, Quantity quantity,
                                int threads = 0);
/// The times of seismograms, s.
std::vector<double> times(const Problem& problem, Quantity quantity);

}  // namespace terrane::elastic
