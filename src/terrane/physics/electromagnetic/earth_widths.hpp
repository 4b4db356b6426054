// Widths of cells that an earth needs on the meshes of plane waves and sources, and bodies for which a mesh
// is too coarse.
//
//   upright  below each of some places cells of δ/n e^{a/2}, n for the accuracy (0.4/n² of the impedance, at
//            worst, over layers), δ the skin depth of the medium they lie in and a = ∫ dz/δ down to there, so
//            that cells grow as fields fall; of all frequencies and places the least. Two or more in a layer
//   across   half of the distance between a site and its neighbour
//   bodies   faces at the sides of boxes near sites, there cells of a third of the body's smallest side,
//            or of its distance from the sites where that is less, and three or more from side to side; of
//            sources six or more
#pragma once

#include <string>
#include <vector>

#include "terrane/job/earth.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {

/// Horizontal conductivity at a point, as most current flows along the ground, S/m; NaN where the earth has
/// none.
double conductivity_at(const Description& earth, double easting, double northing, double up);

/// The common height of the sites, where the earth has no air above them; else NaN.
double ground_without_air(const Description& earth, const std::vector<Vector3>& sites);

/// Adds to `wanted` the widths that the earth needs for plane waves whose heights are known. Returns the
/// reasons, as lines for the user.
std::vector<std::string> ask_for_earth(const Description& earth, GridRequest& wanted);

/// Adds what layers ask for in which sources lie: a sixth of the layer upright; across a fifth, where the
/// layer resists more than what is beside it and a receiver is near, as its field then falls within its
/// thickness; and a cell whose middle is the source where some current flows upright, which goes to the
/// middle of the cell next to a contrast.  Returns why, lines for the user.
std::vector<std::string> ask_for_layers_of_sources(const Description& earth, GridRequest& wanted);

/// Adds what bodies below and between sources and receivers ask for: faces at the sides of boxes, six cells
/// across, and at a side a third of the smallest side, or a quarter of its distance from the survey where
/// that is more; `wider` times these.  Returns why, lines for the user; none where there are no such bodies.
std::vector<std::string> ask_for_bodies_of_sources(const Description& earth, double wider,
                                                   GridRequest& wanted);

/// Lines for the user about bodies and layers near these places that a mesh has too few cells for.
std::vector<std::string> not_resolved(const Description& earth, const TensorMesh& mesh,
                                      const std::vector<Vector3>& places);

}  // namespace terrane::electromagnetic
