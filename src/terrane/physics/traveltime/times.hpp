// Computes the times of all picks: threads and ranks share the shots, and checkpoints are saved in between.
#pragma once

#include <string>
#include <vector>

#include "terrane/physics/traveltime/problem.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::traveltime {

struct Times {
  std::vector<double> values;  ///< [pick] times of first arrivals, s
  std::vector<std::string> notes, warnings;
};

/// problem: after settle(). Results are bitwise identical on any number of threads and ranks. Throws
/// Cancelled, FileError, InputError (the checkpoint belongs to another problem).
Times travel_times(const Problem& problem, const Runtime& runtime);

/// Called by the other ranks, while rank 0 is in travel_times().
void serve(Comm& comm);

/// bytes_of_medium(): bytes needed once per run. bytes_of_front(): bytes for each shot that is being
/// computed.
double bytes_of_medium(const Problem& problem);
double bytes_of_front(const Problem& problem);
/// Seconds for the front of one shot on one core.
double seconds_of_front(const Problem& problem);

}  // namespace terrane::traveltime
