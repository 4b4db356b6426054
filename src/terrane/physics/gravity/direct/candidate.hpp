// The direct sum as the planner knows it: over the prisms as they are, or over bars of equal neighbours.
#pragma once

#include "terrane/physics/gravity/direct/direct_cost.hpp"
#include "terrane/physics/gravity/sum/candidate.hpp"

namespace terrane::gravity {

extern const MethodEntry direct_method;

/// The direct sum over the prisms as they are.
Candidate direct_candidate(const Problem& problem, const DirectCost& cost);

/// The direct sum over bars. Their number is known only once they are made, but a sample says whether that
/// may be worth it.
class BarsCandidate {
 public:
  /// as_given: of the prisms as they are
  BarsCandidate(const Problem& problem, const DirectCost& as_given);

  /// Whether some prisms would merge, and making bars of them takes less than half of `best` seconds.
  bool worth_making(double best) const { return share_ > 0 && 2 * merging_ < best; }
  /// A guess at what it would take, from above: bars may join again, and are near to more stations.
  double promises() const;
  /// Seconds with a device so much faster than the CPU; known once they are made. Part of them is spent.
  double seconds(double speedup) const { return merging_ + cost_.seconds(speedup); }
  Candidate make(Progress& progress);

 private:
  const Problem& problem_;
  DirectCost as_given_, cost_;
  double share_, merging_;
};

}  // namespace terrane::gravity
