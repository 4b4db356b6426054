// Computes what one rank sums in a round: in a partition by stations, its share of the parts; in one by
// prisms, all parts over its chunks of prisms.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/run/spread.hpp"
#include "terrane/physics/gravity/sum/chunk_tree.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane::gravity {

class Worker {
 public:
  virtual ~Worker() = default;
  virtual std::size_t parts() const = 0;
  virtual Summation::Part part(std::size_t index) const = 0;
  /// The number of all chunks of prisms, which is the number of leaves of a part's tree.
  virtual std::size_t chunks() const = 0;
  /// Whether each round repeats preparatory work of the previous round. The answer is known after the first
  /// round.
  virtual bool slow_to_begin() const { return false; }
  /// See RoundWork.
  virtual void set_shares(std::span<const double> /*of_ranks*/) {}
  /// Computes the parts of the round over this rank's chunks of prisms, and adds the sums to the tree of each
  /// part.  trees: [parts of the round]
  virtual void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) = 0;
};

/// The parts of a round that a rank computes by stations, as ranges. Neighbouring parts take about the same
/// time, distant ones may not. So every rank computes some parts of each region of the round, and in every
/// second region the ranks are in reverse order. The ranges of all ranks contain each part of the round once.
/// shares: fraction of the parts for each rank, the sum of all is 1.  least: a region contains about so many
/// parts per rank
std::vector<Range> ranges_of(const Range& round, std::span<const double> shares, std::size_t rank,
                             std::size_t least);

/// parameters.device: the device of this rank
std::unique_ptr<Worker> worker_by_stations(std::shared_ptr<Summation> summation, const Parameters& parameters,
                                           const Comm& comm);
/// share, stations: must outlive the worker
std::unique_ptr<Worker> worker_by_prisms(const Share& share, const Stations& stations, const Comm& comm);

}  // namespace terrane::gravity
