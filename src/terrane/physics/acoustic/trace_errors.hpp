// Estimated errors of gathers, one for each trace.
//
//   e² = |D|² + (|R| / s)²,   R = p_c − p − (D_c − D)
//
// p, p_c: traces of the run and of its companion (companion.hpp). D, D_c: their numerical dispersion, in
// closed form from p (dispersion.hpp), in the rock at the source and in the direction of the receiver. R:
// what else differs: interfaces inside cells, sides, sources and receivers between nodes. Over random layers
// (benchmarks/accuracy/stated_errors.py) R is 1.2 to 14 times the error of the run, and 0.5 to 0.8 times if
// densities vary: reflections at cells of mixed density decrease slowly with the width of cells. s is near
// the least of these.
#pragma once

#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

inline constexpr double of_other_cells = 1.2, of_densities = 0.5;  ///< s; of_densities: variable_density

/// Errors of the traces of one component, in their order [shot, receiver]; all are rms over the time steps,
/// in the unit of the traces.
struct TraceErrors {
  std::vector<double> size;        ///< rms of the trace itself
  std::vector<double> dispersion;  ///< |D|
  std::vector<double> rest;        ///< |R| / s

  double error(std::size_t trace) const;
};

/// mine, other: gathers of the run and of the companion, [shots][steps, traces of a shot]. component: index
/// in problem.record
TraceErrors errors_of_traces(const Problem& problem, const Problem& companion,
                             const std::vector<std::vector<float>>& mine,
                             const std::vector<std::vector<float>>& other, std::size_t component,
                             int threads);

}  // namespace terrane::acoustic
