// What a run has in the end, and a checkpoint on the way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/simulation/pictures.hpp"

namespace terrane::elastic {

/// What rank 0 has; the other ranks have nothing.
struct Outcome {
  std::vector<double>
      changes;  ///< of displacement at receivers over each step, as stepped [steps][receivers][3] m
  /// u and w = Δt v where the run stopped, if they were asked for [elements][points of an element][3] m
  std::vector<double> displacement, change;
  std::vector<double>
      memory;  ///< of attenuating media and margins [elements][points of an element][memory_of()]; or empty
  Pictures pictures;           ///< snapshots, each [points][3]
  std::size_t first_step = 0;  ///< where a resumed run went on
  double seconds = 0;          ///< of the steps
  std::vector<std::string> notes, warnings;
};

}  // namespace terrane::elastic
