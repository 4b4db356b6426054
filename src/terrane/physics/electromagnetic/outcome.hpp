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
  /// Fields in all cells, [source, frequency, E then H, e n u, up, north, east]; empty unless the problem
  /// asks for them.
  std::vector<std::complex<double>> volume;
  std::vector<std::string> notes, warnings;  ///< notes and warnings about checkpoints
};

}  // namespace terrane::electromagnetic
