// Conversions between an engine's traces and gathers. An engine's traces are pressures and the accelerations
// of particles, with the time dispersion of the steps; gathers are pressures and velocities, without
// dispersion.
//
//   traces to gathers      take_out (time_dispersion.hpp), then integrate accelerations over time
//   the transpose          of this conversion, for the adjoint
//   recorded data to what receivers send in a migration   integrate_transposed, then put_in: migrated waves
//                          have the grid's time dispersion
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// traces [steps, traces of a shot], changed in place.  threads: as for thread_count()
void to_gather(const Problem& problem, std::vector<double>& traces, int threads);
/// The transpose of to_gather().
void to_gather_transposed(const Problem& problem, std::vector<double>& traces, int threads);
/// Converts recorded data to the series that receivers send back in a migration.
void to_senders(const Problem& problem, std::vector<double>& traces, int threads);
/// to_senders() for traces that an engine computed in another medium: they already have the time dispersion.
void to_senders_of_engine(const Problem& problem, std::vector<double>& traces);

}  // namespace terrane::acoustic
