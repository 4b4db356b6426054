// The correction of total fields by those of a layered earth.
//
//   d + d_closed − d_layers
//
// d: data of a problem on its mesh.  d_layers: data, on the same mesh, of the layers at the sides of the mesh
// alone (survey/primary.hpp).  d_closed: data of these layers by Hankel transforms (formula/layered.hpp). The
// errors due to cells near source and receivers, to walls and to air are nearly equal in both earths, and
// cancel. What remains are errors of the field that the bodies scatter. Over layers alone data are those of
// the closed form.
#pragma once

#include "terrane/physics/electromagnetic/outcome.hpp"

namespace terrane::electromagnetic {

/// The problem over the layers at the sides of its mesh, for the total field, without fields in cells. Where
/// properties differ along the sides, layers have their means: geometric ones of conductivities.
Problem over_its_layers(const Problem& problem);

/// Adds d_closed − d_layers to the data of `outcome`. Fields in cells are not changed. If the solve over the
/// layers did not converge, its report replaces that of the solve over the earth with the same number.
/// layered: over_its_layers() of the problem; its_outcome: its results
void correct_by_layers(const Problem& layered, const Outcome& its_outcome, int threads, Outcome& outcome);

}  // namespace terrane::electromagnetic
