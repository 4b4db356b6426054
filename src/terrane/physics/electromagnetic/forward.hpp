// Fields of sources at receivers: one solve for each source and frequency; the networks of the model serve
// all.
#pragma once

#include <complex>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/electromagnetic/solves.hpp"

namespace terrane::electromagnetic {

struct Outcome {
  std::vector<std::complex<double>> data;  ///< [source, frequency, component, receiver], V/m and A/m
  std::vector<Solve> solves;               ///< [source, frequency]
  /// [source, frequency, E then H, e n u, up, north, east], where the problem asks for it.
  std::vector<std::complex<double>> volume;
};

/// Collective: all ranks pass the same problem and `at_once`, into how many groups they are divided; each
/// group does the solves that are its turn, and its ranks share their fields. Rank 0 returns all of them. The
/// same bits for any number of threads, ranks and groups. A solve that does not converge is in the outcome,
/// its data as they are.
/// at_once: 1 … ranks; 0: one group for each rank, or each solve where these are fewer.  Throws InputError,
/// MemoryError, Cancelled: on all ranks; OutOfStep: one of several that share a field failed.
Outcome forward(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr,
                int at_once = 0);

}  // namespace terrane::electromagnetic
