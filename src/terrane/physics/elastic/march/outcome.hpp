// The result of a run; a checkpoint stores the result of the steps done so far.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/simulation/pictures.hpp"

namespace terrane::elastic {

/// The result on rank 0; the other ranks have nothing.
struct Outcome {
  std::vector<double>
      changes;  ///< changes of displacement over each step, not resampled: [steps taken][receivers][3] m
  /// u and w = Δt v when the run stopped, if requested (Keep): [elements][points of an element][3] m
  std::vector<double> displacement, change;
  std::vector<double>
      memory;  ///< memory variables: [elements][points of an element][memory_of()]; empty if there are none
  Pictures pictures;           ///< snapshots, each [points][3]
  std::size_t first_step = 0;  ///< first step of a resumed run
  double seconds = 0;          ///< seconds that the steps took
  std::vector<std::string> notes, warnings;
};

}  // namespace terrane::elastic
