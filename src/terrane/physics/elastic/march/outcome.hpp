// The result of a run, which a checkpoint holds on the way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/simulation/pictures.hpp"

namespace terrane::elastic {

/// The result on rank 0; the other ranks have nothing.
struct Outcome {
  std::vector<double>
      changes;  ///< of displacement at receivers over each step, as stepped [steps taken][receivers][3] m
  /// u and w = Δt v where the run stopped, if they were asked for [elements][points of an element][3] m
  std::vector<double> displacement, change;
  std::vector<double>
      memory;  ///< of attenuating media and margins [elements][points of an element][memory_of()]; or empty
  Pictures pictures;           ///< snapshots, each [points][3]
  std::size_t first_step = 0;  ///< first step of a resumed run
  double seconds = 0;          ///< seconds that the steps took
  std::vector<std::string> notes, warnings;
};

}  // namespace terrane::elastic
