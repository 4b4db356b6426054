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

/// The other ranks.
void serve(Comm& comm);

/// What a run holds, bytes: of the model, and for each shot under way.
double bytes_of_medium(const Problem& problem);
double bytes_of_front(const Problem& problem);
/// Of one shot on one core.
double seconds_of_front(const Problem& problem);

}  // namespace terrane::traveltime
