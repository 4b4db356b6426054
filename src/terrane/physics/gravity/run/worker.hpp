// What one rank sums in a round: by stations, its share of the parts; by prisms, all parts over its chunks.
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
  /// Chunks of prisms there are in all: how many leaves the trees of a part have.
  virtual std::size_t chunks() const = 0;
  /// Does a round begin with work that its parts do not share with those of the last? Known after the first.
  virtual bool slow_to_begin() const { return false; }
  /// See RoundWork.
  virtual void set_shares(std::span<const double> /*of_ranks*/) {}
  /// The sums over this rank's chunks.  trees [parts of the round]
  virtual void sum(const Range& round, std::vector<ChunkTree>& trees, Progress& progress) = 0;
};

/// The parts of a round that a rank does by stations, in ranges. Neighbouring parts take about as long as
/// each other, distant ones need not: every rank takes some of each region of the round, and in every second
/// region ranks stand in reverse order. All parts together are those of the round, once each.
/// shares: of ranks, sum 1 · least: parts of a region for each rank, about
std::vector<Range> ranges_of(const Range& round, std::span<const double> shares, std::size_t rank,
                             std::size_t least);

/// parameters.device: this rank's
std::unique_ptr<Worker> worker_by_stations(std::shared_ptr<Summation> summation, const Parameters& parameters,
                                           const Comm& comm);
/// share, stations: must outlive it
std::unique_ptr<Worker> worker_by_prisms(const Share& share, const Stations& stations, const Comm& comm);

}  // namespace terrane::gravity
