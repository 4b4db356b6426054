// Joins prisms of equal density that share a whole face into one: fewer sources with the same field.
//
// Only faces with the same coordinates bit for bit are joined, so nothing is rounded. Bars grow long; the
// near form halves them where that matters (near_field.hpp).
#pragma once

#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Prisms after merging, with arrays of their own, in the order of the first prism of each bar.
struct MergedPrisms {
  std::vector<double> west, east, south, north, bottom, top, density;
  std::size_t original = 0;  ///< prisms before merging

  std::size_t size() const noexcept { return west.size(); }
  Prisms view() const noexcept { return {west, east, south, north, bottom, top, density}; }
  /// "251729 prisms merged into 5335 bars"
  std::string text() const;
};

/// Joins neighbours along the axis that leaves the fewest prisms, then the bars along the other axes as long
/// as that helps. Prisms that overlap stay as they are. Same result for any number of threads. Work and
/// memory: proportional to the number of prisms.  Throws UnsupportedError: more than 4294967294 prisms;
/// Cancelled.
MergedPrisms merge(const Prisms& prisms, int threads = 0, Progress* progress = nullptr);

/// The share of a sample of prisms that would join the next in the list; 0.5 when none does, but there are
/// so few different densities that there must be neighbours; 0 when hardly any two prisms are alike. It
/// takes a millisecond.
double share_that_merges(const Prisms& prisms);

/// Memory that merge() takes, without its result.
double bytes_to_merge(std::size_t prisms, int threads);

}  // namespace terrane::gravity
