// The results of a run.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "terrane/physics/electromagnetic/solves.hpp"

namespace terrane::electromagnetic {

struct Outcome {
  std::vector<std::complex<double>> data;  ///< [source, frequency, component, receiver], V/m and A/m
  std::vector<Solve> solves;               ///< [source, frequency]
  /// [source, frequency, E then H, e n u, up, north, east], where the problem asks for it.
  std::vector<std::complex<double>> volume;
  std::vector<std::string> notes, warnings;  ///< about checkpoints
};

}  // namespace terrane::electromagnetic
