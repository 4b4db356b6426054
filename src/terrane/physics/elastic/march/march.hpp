// All steps of a run, on all ranks.
#pragma once

#include <cstddef>

#include "terrane/physics/elastic/march/outcome.hpp"
#include "terrane/physics/elastic/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::elastic {

/// Number of steps after which records are collected, and the clock and the user's wish to stop are checked.
inline constexpr std::size_t rows_at_once = 20;

/// Whether the result contains only the recorded series, or also displacement and change of all elements, 6
/// kB per element of degree 4.
enum class Keep { series, state };

/// Computes all steps; called on rank 0 of runtime's ranks, while the others are in serve(). problem:
/// after Problem::settle(). With fixed sums, results are bitwise identical for any number of threads and
/// ranks on one kind of device, and after a restart. Throws InputError, MemoryError, Cancelled,
/// UnsupportedError.
Outcome march(const Problem& problem, const Runtime& runtime, Keep what = Keep::series);

/// Called on the other ranks while rank 0 is in march().
void serve(Comm& comm);

/// What receivers record.
enum class Quantity { displacement, velocity, pressure };

/// Seismograms [receivers][east, north, up][steps], m or m/s: displacement at the end of each step, velocity
/// in its middle; or, if the problem records pressure, [receivers][steps], Pa, at the beginning of each step.
/// Corrected for time dispersion if problem.remove_dispersion is set.
std::vector<double> seismograms(const Problem& problem, const Outcome& outcome, Quantity quantity,
                                int threads = 0);
/// The times of seismograms, s.
std::vector<double> times(const Problem& problem, Quantity quantity);

}  // namespace terrane::elastic
