// The earth as described without a mesh, and averages of it over cells: one description for every physics.
//
// Along a vertical line every body is one interval, so the media along a line are known exactly: a few pieces
// of constant properties. A cell is divided into parts along easting and northing, with one vertical line
// through the middle of each. Parts end at the faces of boxes, at the nodes of grids, and at the cell faces
// of another mesh; between these, surfaces are bilinear, and the middle of a part has their mean height. How
// the pieces in a cell are averaged depends on the property:
//
//   density, susceptibility, heat    mean over volume: mass is conserved
//   velocities                       means of the compliance 1/(ρ v²) and of ρ over volume (Backus 1962);
//                                    of 1/v² without a density
//   conductivity along an axis       pieces in series along the axis, in tubes that are in parallel
//   conductivity in all directions   mean of σ over volume for a body more resistive than what surrounds it,
//                                    of 1/σ for one less resistive: in the numerical solution bodies then
//                                    have their true size
//   Q                                mean of 1/Q over volume
//   angles, other non-additive ones  the value of the medium with the largest volume
//
// A cell with a single medium has its values bitwise.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/model/bodies.hpp"
#include "terrane/model/maps.hpp"

namespace terrane {

struct Description {
  std::vector<PropertyValue> background;  ///< properties of the ground where no cell or body gives them
  std::optional<EarthModel> cells;        ///< cells of a mesh read from a file; bodies are painted over them
  std::vector<Body> bodies;               ///< bodies in the order in which they are painted
  OverlapRule rule = OverlapRule::replace;
  std::vector<Law> laws;              ///< compute further properties of the ground from its other properties
  std::optional<Surface> topography;  ///< height of the ground; outside a grid, the height at its edge
  std::vector<PropertyValue> air;     ///< properties above the ground; empty: none
  double reference_density = 0;       ///< kg/m³; densities of the ground are stored as differences from it
  bool cells_go_on = false;  ///< whether the ground outside the mesh of `cells` is as in the nearest cell

  /// Height of the ground; infinite where there is no topography.
  double ground(double easting, double northing) const;
  /// The properties of all components of the description, in the order in which they are first named.
  std::vector<std::string> properties() const;
  /// The value of one property at a point; NaN if it has none. Slow: for a few points only.
  double at(std::string_view property, double easting, double northing, double up) const;
  /// The distinct values of one property in the ground, also those computed by laws; ascending.
  std::vector<double> values(std::string_view property) const;
  /// The bounding box of everything that is bounded: bodies, grids of layers, and the cells, but not constant
  /// elevations. Empty (west above east) if nothing is bounded.
  Prism bounds() const;
};

/// Throws InputError for an invalid body (check() of a body), and for a topography that has gaps or is
/// geographic.
void check(const Description& earth);

/// If a conductivity or resistivity is specified along an axis anywhere, adds the conductivities along all
/// three axes (conductivity.hpp) to all conducting media, so that the body painted last counts along each
/// axis. Does nothing if the values of overlapping bodies add.
void complete_axes(Description& earth);

/// Gives each cell the properties at its centre; ignores `cells` and laws. Throws InputError.
EarthModel paint(const TensorMesh& mesh, const Description& earth, PaintReport* report = nullptr);

/// Height of the ground at a place.
using Ground = std::function<double(double easting, double northing)>;
/// For each cell of a model on a mesh, whether its centre is above the ground.
std::vector<bool> above_ground(const EarthModel& model, const Ground& ground);

struct AverageOptions {
  std::size_t parts = 4;    ///< minimum number of parts of a cell along easting and northing
  bool along_axes = false;  ///< whether to compute conductivity_east, _north and _up in mixed cells, too
  /// Whether the ground continues above the topography: for a physics that cuts cells at the surface itself.
  bool above_ground = false;
  int threads = 0;
  bool of_layers_alone = false;  ///< with along_axes: only for cells whose media are layers
};

/// Cell averages. report->cells: for each body, the number of cells that contain a part of it. Throws
/// InputError.
EarthModel average(const TensorMesh& mesh, const Description& earth, const AverageOptions& options = {},
                   PaintReport* report = nullptr);

}  // namespace terrane
