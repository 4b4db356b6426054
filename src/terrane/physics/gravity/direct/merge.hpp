// Joins prisms of equal density that share a whole face into one: fewer sources with the same field.
//
// Only faces whose coordinates are bitwise the same are joined, so nothing is rounded. A merged prism (a bar)
// may be long; near stations, where its length would cost accuracy, field_of_prism() halves it
// (near_field.hpp).
#pragma once

#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// Prisms after merging, with arrays of their own, in the order of the first prism of each bar.
struct MergedPrisms {
  std::vector<double> west, east, south, north, bottom, top, density;
  std::size_t original = 0;  ///< number of prisms before merging

  std::size_t size() const noexcept { return west.size(); }
  Prisms view() const noexcept { return {west, east, south, north, bottom, top, density}; }
  /// "251729 prisms merged into 5335 bars"
  std::string text() const;
};

/// Joins neighbours along the axis that leaves the fewest prisms, then the bars along the other axes as long
/// as that helps. Prisms that overlap stay as they are. The result is the same for any number of threads.
/// Work and memory are proportional to the number of prisms.  Throws UnsupportedError: more than 4294967294
/// prisms; Cancelled.
MergedPrisms merge(const Prisms& prisms, int threads = 0, Progress* progress = nullptr);

/// Estimates from a sample, in about a millisecond, which fraction of prisms would merge: those that would
/// merge with the next prism of the list. If none would, returns 0.5 if the sample has at most half as many
/// densities as prisms, so that some neighbours must be alike, or has fewer than 64 prisms; else 0.
double share_that_merges(const Prisms& prisms);

/// Bytes that merge() allocates, without its result.
double bytes_to_merge(std::size_t prisms, int threads);

}  // namespace terrane::gravity
