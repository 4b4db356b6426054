// Between what an engine records and gathers: p with the time dispersion of the steps, and the accelerations
// of particles; and pressures and velocities without.
//
//   of an engine      F: take_out, then integrate over time what velocities are of
//   transposed        Fᵀ, for the adjoint
//   of recorded data  integrate_transposed, then put_in: migrated waves have the dispersion of the grid's
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// traces [steps, traces of a shot], changed in place.  threads: as for thread_count()
void to_gather(const Problem& problem, std::vector<double>& traces, int threads);
/// The transpose of to_gather().
void to_gather_transposed(const Problem& problem, std::vector<double>& traces, int threads);
/// Of recorded data what receivers send back in a migration.
void to_senders(const Problem& problem, std::vector<double>& traces, int threads);
/// The same of traces that an engine made of another medium: their dispersion stays.
void to_senders_of_engine(const Problem& problem, std::vector<double>& traces);

}  // namespace terrane::acoustic
