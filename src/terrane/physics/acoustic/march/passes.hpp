// Several time steps in one pass over memory, on the CPU: fields larger than the caches are read and written
// once for some steps, not once for each (a wavefront of skewed tiles; Wonnacott 2000).
//
// A pass takes tiles of some rows one after the other, and walks each through all planes from the lowest up.
// At every plane it takes its steps one after the other, each `lag` planes below and `lag` rows south of the
// one before:
//
//   step 0   plane w            rows  t R …        (t + 1) R
//   step l   plane w − l lag₀   rows  t R − l lag₁ … (t + 1) R − l lag₁
//
// What a step reads has then been written by the step before, and what it overwrites (p⁺ takes the place of
// p⁻) has been read. lag is M, the reach of the differences; 2M on an axis with a cpml, whose ψ is made M
// nodes ahead and reads M more, where density varies, whose fluxes reach M nodes and read M more, and around
// a tilted axis, whose G p is made M nodes ahead on both axes. A tile
// may take a plane when the tile to the south has taken it; so threads have a tile each.
//
// Beside the parts of other ranks there is a halo for p of the first step only, so step l of a pass takes the
// part less l times `reach` nodes there. What a step has left is taken by itself, after the tiles, between
// the exchanges of halos. What the later steps of a pass have read and overwritten lies further inside, so
// all is still there. Layers on an axis that is cut lie inside of what all steps take.
//
// Receivers read, and sources, ψ and images beyond free surfaces are made, row by row as the steps come by,
// with the same functions and in the same order at each node: the bits are those of one step after the other.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "terrane/physics/acoustic/march/steps.hpp"

namespace terrane::acoustic {

struct Passes {
  Index steps = 1;             ///< in one pass; 1: one after the other
  Index rows = 0;              ///< of a tile
  std::array<Index, 2> lag{};  ///< planes, rows
  std::string_view why{};      ///< steps go one by one, for the user
};

/// Those that serve a grid: more steps than one on a CPU, where there are three dimensions, fields that a
/// core's cache does not hold, two tiles for each thread, and parts of ranks that are thick; around a tilted
/// axis on one rank alone, with free surfaces on one axis. Of one rank: others may have more threads.
Passes passes_for(const Problem& problem, const Device& device, int threads, const Cartesian<3>& cut);
/// Collective: with the fewest steps of all ranks, for they meet between passes, where they ask each other
/// whether to go on.
Passes agreed(Passes mine, Comm& comm);
/// Why steps go one by one where this rank alone would take more at once.
inline constexpr std::string_view another_rank = "another rank has too many threads for passes, or none";
/// What a step of a pass takes of a part without more halo than the one that is there before the pass.
IndexBox<3> taken_in_pass(const Problem& problem, const IndexBox<3>& part, Index step);
/// The most steps that passes_for() gives on any machine: what memory is counted for.
Index most_steps_at_once(const Problem& problem);

/// Planes and rows of a step, all nodes along easting. `ahead`: the same M nodes further up (north), for ψ of
/// these axes; the first tile and the first plane have all that lies below, too.
struct Stretch {
  IndexBox<3> nodes;  ///< in the part; may be empty
  std::array<IndexBox<3>, 2> ahead;
};

/// Calls take(step of the pass, stretch), on up to `threads` threads, in an order that gives the bits of one
/// step after the other.  boxes: nodes of each step, of the first those of all others, too
void walk(std::span<const IndexBox<3>> boxes, const Passes& passes, Index points, int threads,
          const std::function<void(Index, const Stretch&)>& take);

}  // namespace terrane::acoustic
