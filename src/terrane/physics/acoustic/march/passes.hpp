// Several time steps in one pass over memory, on the CPU: fields larger than the caches are read and written
// once for some steps, not once for each (a wavefront of skewed tiles; Wonnacott 2000).
//
// A pass processes tiles of some rows one after the other, and each tile plane by plane from the lowest up.
// At every plane it computes the steps of the pass one after the other, each `lag` planes below and `lag`
// rows south of the preceding step (w: plane, t: tile, R: rows of a tile; lag₀, lag₁: `lag` along the
// axes up and north):
//
//   step 0   plane w            rows  t R …        (t + 1) R
//   step l   plane w − l lag₀   rows  t R − l lag₁ … (t + 1) R − l lag₁
//
// Then all values that a step reads have been written by the preceding step, and the values that it
// overwrites (p⁺ replaces p⁻) are no longer needed. lag is M, the radius of the differences. It is 2M on an
// axis with a cpml, whose ψ is computed M nodes ahead and reads M nodes more; with variable density, where a
// step needs fluxes M nodes away, which read M nodes more; and with a tilted axis, whose G p (problem.hpp) is
// computed M nodes ahead on both axes. A tile may process a plane once the tile to the south has done so:
// each thread works on its own tile.
//
// At borders with other ranks the halo suffices only for the first step of a pass, so the tiles of step l
// omit l · `reach` nodes of the part there. These nodes are computed after the tiles, step by step, with an
// exchange of halos after each. Their old values still exist, because later steps of the tiles read and
// overwrite only nodes further inside. On an axis that is cut, tiles compute all steps of all nodes in
// absorbing layers.
//
// Recording at receivers, sources, ψ and images beyond free surfaces are computed row by row within the
// steps, with the same functions and in the same order at each node: results are bitwise those of separate
// steps.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "terrane/physics/acoustic/march/steps.hpp"

namespace terrane::acoustic {

struct Passes {
  Index steps = 1;             ///< steps in one pass; 1: separate steps, no passes
  Index rows = 0;              ///< rows of a tile
  std::array<Index, 2> lag{};  ///< number of planes and of rows between consecutive steps
  std::string_view why{};      ///< the reason, for the user, why steps is 1
};

/// Chooses the passes of one rank; ranks with more threads may choose fewer steps. Chooses more than one step
/// only on a CPU, if the grid has three dimensions, fields exceed a core's cache, each thread has at least
/// two tiles, and the ranks' parts are thick. With a tilted axis there must also be only one rank, and free
/// surfaces on at most one axis.
Passes passes_for(const Problem& problem, const Device& device, int threads, const Cartesian<3>& cut);
/// Collective: the passes of the rank with the fewest steps. All ranks must use equal passes, because they
/// decide together after each pass whether to continue.
Passes agreed(Passes mine, Comm& comm);
/// The reason (Passes::why) on a rank that would compute more steps per pass if it were alone.
inline constexpr std::string_view another_rank = "another rank has too many threads for passes, or none";
/// The nodes of a part that the tiles of a pass compute in this step, using only the halo from before the
/// pass.
IndexBox<3> taken_in_pass(const Problem& problem, const IndexBox<3>& part, Index step);
/// The most steps per pass that passes_for() returns on any machine; estimates of memory assume this number.
Index most_steps_at_once(const Problem& problem);

/// The nodes that a step of a tile computes next: one plane, some rows, all nodes along easting. `ahead`,
/// [up, north]: the nodes at which ψ of that axis is computed next. They lie M nodes further up (north); at
/// the first plane (tile) all nodes below (south of) these are included.
struct Stretch {
  IndexBox<3> nodes;  ///< nodes of this rank's part; may be empty
  std::array<IndexBox<3>, 2> ahead;
};

/// Calls take(step of the pass, stretch), on up to `threads` threads, in an order whose results are bitwise
/// those of separate steps.  boxes: the nodes of each step; the box of the first step contains all others
void walk(std::span<const IndexBox<3>> boxes, const Passes& passes, Index points, int threads,
          const std::function<void(Index, const Stretch&)>& take);

}  // namespace terrane::acoustic
