// The times of all picks: shots shared among threads and ranks, with checkpoints between.
#pragma once

#include <string>
#include <vector>

#include "terrane/physics/traveltime/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::traveltime {

struct Times {
  std::vector<double> values;  ///< of each pick, s
  std::vector<std::string> notes, warnings;
};

/// problem: settled. Bits depend on the problem alone. Throws Cancelled, FileError, InputError (a checkpoint
/// of another problem).
Times travel_times(const Problem& problem, const Runtime& runtime);

/// Called by the other ranks, while rank 0 is in travel_times().
void serve(Comm& comm);

/// Bytes of the medium, once per run; and of a front, for each shot that is being computed.
double bytes_of_medium(const Problem& problem);
double bytes_of_front(const Problem& problem);
/// Seconds for the front of one shot on one core.
double seconds_of_front(const Problem& problem);

}  // namespace terrane::traveltime
