// Cells for what is found from stations, where the job has no mesh:
//
//   width      as stations are apart, s with (length + s)(width + s) = stations s²
//   thickness  half of that at the ground, growing by 1.1 downwards to half the survey's length: what lies
//              deeper shows as a regional field
//   beside     the survey cells that grow by 1.3 for as far, for bodies that it sees from aside
//   ground     the job's, or below the stations: where their heights differ, through them
#pragma once

#include "terrane/job/mesh_plan.hpp"

namespace terrane::gravity::inverse {

/// ground: that the job names, or empty.  steep: data grow beyond all bounds beside a cell, so none comes
/// nearer to a station than half its thickness.  own: gets the ground of the stations, where that is uneven.
/// Throws InputError.
CellsPlan plan_cells(const std::vector<Position>& stations, const Ground& ground, bool steep,
                     const MeshWish& wish, Ground& own);

}  // namespace terrane::gravity::inverse
