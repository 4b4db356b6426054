// Plans the cells of an inversion of data at stations, if the job has no mesh:
//
//   width      the station spacing s, from (length + s)(width + s) = stations s², with the survey's sides
//   thickness  s/2 at the ground, growing downwards by a factor of 1.1 from cell to cell, to a depth of half
//              the survey's length: deeper bodies cause a regional field
//   margin     outside the survey, over the same distance, cells that grow by a factor of 1.3, for bodies
//              there
//   ground     as the job says; else just below the lowest station or, if the heights of stations differ,
//              through the stations
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::gravity::inverse {

/// ground: named by the job, or empty; steep: data are unbounded at the edges of a cell, so no cell is
/// closer to a station than half its thickness; own: set to the ground through the stations, if that is
/// uneven. Throws InputError.
CellsPlan plan_cells(const std::vector<Position>& stations, const Ground& ground, bool steep,
                     const MeshWish& wish, Ground& own);

}  // namespace terrane::gravity::inverse
