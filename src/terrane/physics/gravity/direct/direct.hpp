// The direct sum: every prism at every station, each pair by the cheapest formula that reaches the accuracy.
#pragma once

#include <memory>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// How the direct sum is divided into tasks. Blocks and chunks depend only on the numbers of stations and
/// prisms, never on the threads: so any number of threads gives the same bits.
struct DirectPlan {
  std::size_t station_blocks, prism_chunks;  ///< tasks = station_blocks · prism_chunks
  std::size_t blocks_at_once;                ///< station blocks whose partial sums are in memory together
  std::size_t memory_bytes;                  ///< upper limit of the memory, without the caller's arrays

  DirectPlan(std::size_t prisms, std::size_t stations, ChannelSet channels, int threads);
};

/// The direct sum on the CPU. A part is 1024 stations that lie close together.
class DirectSummation final : public Summation {
 public:
  /// accuracy: relative, of every pair. The views must outlive this object.
  DirectSummation(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                  int threads);
  /// A sum over other prisms at the stations of `same_stations`, which are not sorted again.
  DirectSummation(const Prisms& prisms, const DirectSummation& same_stations);

  std::size_t parts() const override;
  Part part(std::size_t index) const override;
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override;

 private:
  ChannelSet channels_;
  Turn turn_;
  std::size_t set_;  ///< index in kernel_sets
  Switching switching_;
  int threads_;
  std::size_t prisms_, stations_;
  std::shared_ptr<const Receivers> receivers_;
  Sources sources_;
};

/// The whole direct sum: values [channels][stations]. Throws Cancelled.
PartSums direct_sum(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                    int threads, Progress& progress);

}  // namespace terrane::gravity
