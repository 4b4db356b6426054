// Widths of cells that the layers and bodies of an earth need, on meshes for plane waves and for sources; and
// warnings about bodies for which a mesh is too coarse.
//
//   upright  below selected points, cells of height δ/n e^{a/2}: δ the skin depth of the medium around the
//            cell, a = ∫ dz/δ from the surface down to it, so that cells grow as fields decay; n, the number
//            of cells per skin depth at the surface, follows from the accuracy (error of the impedance at
//            most 0.4/n² over layers). The least height over all frequencies and points is used, with two or
//            more cells in a layer
//   across   half of the distance between a site and its neighbour
//   bodies   faces at the sides of boxes near sites; the cells at these faces are as wide as a third of the
//            body's smallest side, or of its distance from the sites if that is less; three or more cells
//            from side to side, for sources six or more
#pragma once

#include <string>
#include <vector>

#include "terrane/job/earth.hpp"
#include "terrane/physics/electromagnetic/survey/gridding.hpp"

namespace terrane::electromagnetic {

/// Horizontal conductivity at a point, S/m, since most current flows along the ground; NaN if the earth
/// defines none there.
double conductivity_at(const Description& earth, double easting, double northing, double up);

/// The common height of the sites if the earth has no air above them; else NaN.
double ground_without_air(const Description& earth, const std::vector<Vector3>& sites);

/// Adds to `wanted` the cell widths that layers and bodies need for plane waves; the heights of the sites
/// must be known. Returns the reasons, as lines for the user.
std::vector<std::string> ask_for_earth(const Description& earth, GridRequest& wanted);

/// Adds the cell widths that layers containing sources need. Cell height: a sixth of the layer's thickness.
/// Cell width within five layer thicknesses of the source: a fifth of the thickness, if the layer is more
/// resistive than its neighbours and a receiver is near, because its field then decays within that distance.
/// If some of a source's current flows vertically: faces at the nearer interface and at the same distance on
/// the source's other side, so that the source is in the middle of a cell. Returns the reasons, as lines for
/// the user.
std::vector<std::string> ask_for_layers_of_sources(const Description& earth, GridRequest& wanted);

/// Adds the cell widths that bodies below and between sources and receivers need: faces at the sides of
/// boxes; six cells from side to side; at a side, cells of a third of the body's smallest side, or of a
/// quarter of its distance from the survey if that is larger. All widths are multiplied by `wider`. Returns
/// the reasons, as lines for the user; empty if there are no such bodies.
std::vector<std::string> ask_for_bodies_of_sources(const Description& earth, double wider,
                                                   GridRequest& wanted);

/// Lines for the user about bodies and layers near `places` that the mesh resolves with too few cells.
std::vector<std::string> not_resolved(const Description& earth, const TensorMesh& mesh,
                                      const std::vector<Vector3>& places);

}  // namespace terrane::electromagnetic
