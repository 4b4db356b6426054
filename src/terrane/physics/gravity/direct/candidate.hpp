// What the planner asks about the direct sum: over the prisms as given, or over bars merged from neighbours
// of equal density.
#pragma once

#include "terrane/physics/gravity/direct/direct_cost.hpp"
#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry direct_method;

/// The direct sum over the prisms as given.
Candidate direct_candidate(const Problem& problem, const DirectCost& cost);

/// The direct sum over bars. Their number is known only after merging; a sample of prisms tells beforehand
/// whether merging may pay off.
class BarsCandidate {
 public:
  /// as_given: cost of the direct sum without merging
  BarsCandidate(const Problem& problem, const DirectCost& as_given);

  /// Whether some prisms would merge, and merging them takes less than half of `best`, in seconds.
  bool worth_making(double best) const { return share_ > 0 && 2 * merging_ < best; }
  /// Rough estimate of the seconds, including those of merging. Each bar is close to more stations than a
  /// prism, and near pairs take longer, so the estimate is four times the cost of the prisms that remain.
  double promises() const;
  /// Seconds if a device is `speedup` times as fast as the CPU, including the time already spent on merging;
  /// valid after make().
  double seconds(double speedup) const { return merging_ + cost_.seconds(speedup); }
  Candidate make(Progress& progress);

 private:
  const Problem& problem_;
  DirectCost as_given_, cost_;
  double share_, merging_;
};

}  // namespace terrane::gravity
