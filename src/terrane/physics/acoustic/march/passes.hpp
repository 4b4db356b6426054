// Several time steps in one pass over memory, on the CPU: fields larger than the caches are read and written
// once for some steps, not once for each (a wavefront of skewed tiles; Wonnacott 2000).
//
// A pass takes tiles of some rows one after the other, and walks each through all planes from the lowest up.
// At every plane it takes the steps of the pass one after the other, each `lag` planes below and `lag` rows
// south of the one before:
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
// Beside other ranks the halo is deep enough for the first step of a pass only, so the tiles of step l leave
// out l · `reach` nodes of the part there. These nodes are computed after the tiles, step by step, with an
// exchange of halos between. Their old values are still there, because later steps of the tiles read and
// overwrite only nodes further inside. Layers on an axis that is cut lie where tiles take all steps.
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
  Index steps = 1;             ///< steps in one pass; 1: one step after the other
  Index rows = 0;              ///< rows of a tile
  std::array<Index, 2> lag{};  ///< planes, rows between steps
  std::string_view why{};      ///< the reason, for the user, why steps is 1
};

/// Chooses the passes of one rank; others may choose fewer steps, as they have more threads. Takes more than
/// one step on a CPU only, if the grid has three dimensions, fields exceed a core's cache, each thread has
/// two tiles, and the ranks' parts are thick. With a tilted axis also: one rank, and free surfaces on one
/// axis at most.
Passes passes_for(const Problem& problem, const Device& device, int threads, const Cartesian<3>& cut);
/// Collective: the passes with the fewest steps of all ranks. All must take equal passes, as they decide
/// together after each one whether to go on.
Passes agreed(Passes mine, Comm& comm);
/// Passes::why of a rank that would take more steps if it were alone.
inline constexpr std::string_view another_rank = "another rank has too many threads for passes, or none";
/// The nodes of a part that the tiles of a pass compute in this step with the halo from before the pass.
IndexBox<3> taken_in_pass(const Problem& problem, const IndexBox<3>& part, Index step);
/// The most steps that passes_for() gives on any machine; estimates of memory assume it.
Index most_steps_at_once(const Problem& problem);

/// The planes and rows of a step that are due, with all nodes along easting. `ahead`: the same, M nodes
/// further up (north), where ψ of these axes is due; that of the first plane (tile) includes all nodes below
/// (south).
struct Stretch {
  IndexBox<3> nodes;  ///< nodes of this rank's part; may be empty
  std::array<IndexBox<3>, 2> ahead;
};

/// Calls take(step of the pass, stretch), on up to `threads` threads, in an order that gives the bits of one
/// step after the other.  boxes: the nodes of each step; those of the first step include all others
void walk(std::span<const IndexBox<3>> boxes, const Passes& passes, Index points, int threads,
          const std::function<void(Index, const Stretch&)>& take);

}  // namespace terrane::acoustic
