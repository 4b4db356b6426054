// The direct sum: every prism at every station, each pair by the cheapest form that keeps the accuracy.
#pragma once

#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/singular.hpp"

namespace terrane::gravity {

/// How the direct sum will be cut. It depends on the numbers of prisms and stations alone, never on the
/// threads: that is what makes the result the same to the last bit on any number of them.
struct DirectPlan {
  std::size_t station_blocks, prism_chunks;  ///< tasks = station_blocks · prism_chunks
  std::size_t blocks_at_once;                ///< bounds the memory for partial sums
  std::size_t memory_bytes;                  ///< at most, beside the caller's arrays

  DirectPlan(std::size_t prisms, std::size_t stations, ChannelSet channels);
};

/// Sums for G = 1, one array [stations] a channel, and what must be known of stations inside and on bodies.
struct DirectSums {
  std::vector<std::vector<double>> values;
  std::vector<Contact> contacts;  ///< ordered by station
};

/// accuracy: of every pair. Throws Cancelled when progress asks for it.
DirectSums direct_sum(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                      int threads, Progress& progress);

}  // namespace terrane::gravity
