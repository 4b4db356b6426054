// Finds the prisms of a set that overlap.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "terrane/mesh/prism.hpp"

namespace terrane {

struct Overlaps {
  std::size_t count = 0;  ///< pairs that share volume; a lower bound when complete is false
  bool complete = true;   ///< false: the search stopped at its limit
  std::vector<std::array<std::size_t, 2>>
      pairs;  ///< a few pairs of prisms that overlap, {smaller index, larger index}, ascending

  /// "3 pairs of prisms overlap (first: prisms 4 and 17)", counted from 1; "at least 3 ..."; empty for none.
  std::string message() const;
};

struct OverlapLimits {
  std::size_t count = 1'000'000;  ///< largest number of overlapping pairs that are counted
  std::size_t listed = 8;         ///< largest number of pairs that are listed
};

/// Pairs of prisms that share volume. Prisms that only touch do not count, nor do overlaps thinner than 1e-9
/// of either prism's thickness or than the rounding error of the coordinates; prisms without thickness, or
/// with NaN, overlap nothing. A bounding-box tree is searched against itself, in O(n log n) time for prisms
/// of similar shape and O(n) memory. The work is bounded for any input: `complete` says whether the count is
/// exact or a lower bound. Throws ShapeError (face arrays of unequal length).
Overlaps overlaps(const PrismSet& prisms, const OverlapLimits& limits = {});

}  // namespace terrane
