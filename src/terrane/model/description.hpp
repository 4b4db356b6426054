// The earth before any mesh, and averages of it over cells: one description serves every physics.
//
// Along a vertical line every body is one interval, so the line is known exactly: a few pieces of constant
// rock. A cell takes the pieces of lines through its middle parts; parts end at the faces of boxes, at the
// nodes of grids and at the cells of another mesh, between which surfaces are bilinear and the line in the
// middle has their mean. What a cell makes of its pieces depends on the property:
//
//   density, susceptibility, heat    by volume: no mass is lost
//   velocities                       1/(ρ v²), the compliance, by volume, and ρ (Backus 1962); 1/v² without a
//   density conductivity along an axis       pieces in series along it, the tubes of them in parallel
//   conductivity in all directions   by volume where a body resists more than what it lies in, 1/σ by volume
//                                    where less: networks of nodes then see bodies of their size
//   Q                                1/Q by volume
//   angles, what has no sum          as the largest part has it
//
// A cell of one rock has its values, bit for bit.
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
  std::vector<PropertyValue> background;  ///< properties of all rock that nothing else describes
  std::optional<EarthModel> cells;        ///< the cells of a mesh from a file, below all bodies
  std::vector<Body> bodies;               ///< in the order in which they are painted
  OverlapRule rule = OverlapRule::replace;
  std::vector<Law> laws;              ///< give rock further properties, from those it has
  std::optional<Surface> topography;  ///< the ground; beyond a grid it is as at its edge
  std::vector<PropertyValue> air;     ///< properties above the ground; empty: none
  double reference_density = 0;       ///< kg/m³; densities of rock are stored as differences from this
  bool cells_go_on = false;           ///< beyond the mesh of `cells` rock is as in its nearest cell

  /// Height of the ground; infinite where there is no topography.
  double ground(double easting, double northing) const;
  /// The properties that any part of it has, in the order in which they are first named.
  std::vector<std::string> properties() const;
  /// The value of one property at a point; NaN where it has none. Slow: for a few points.
  double at(std::string_view property, double easting, double northing, double up) const;
  /// The values of one property in rock, laws included: each value once, ascending.
  std::vector<double> values(std::string_view property) const;
  /// The box around all that is bounded: bodies, grids of layers, and the cells; levels are not. Empty (west
  /// above east) when there is none.
  Prism bounds() const;
};

/// Throws InputError (see check of a body; a topography with gaps, or geographic).
void check(const Description& earth);

/// Where some rock has a conductivity or resistivity along an axis, all rock that conducts gets
/// conductivities along the three axes (conductivity.hpp), so that along each of them the body painted last
/// counts. Not where bodies add.
void complete_axes(Description& earth);

/// Gives each cell the properties at its centre; `cells` and laws are left out. Throws InputError.
EarthModel paint(const TensorMesh& mesh, const Description& earth, PaintReport* report = nullptr);

/// Height of the ground at a place.
using Ground = std::function<double(double easting, double northing)>;
/// Which cells of a model on a mesh have their centre above the ground.
std::vector<bool> above_ground(const EarthModel& model, const Ground& ground);

struct AverageOptions {
  std::size_t parts = 4;    ///< least number of parts of a cell along easting and northing
  bool along_axes = false;  ///< conductivity_east, _north and _up beside conductivity, where cells are mixed
  bool above_ground = false;  ///< rock also above the topography, for a physics that cuts cells itself
  int threads = 0;
  bool of_layers_alone = false;  ///< along axes only where pieces are layers across the whole cell
};

/// Cell averages. report->cells: cells that have a part of the body. Throws InputError.
EarthModel average(const TensorMesh& mesh, const Description& earth, const AverageOptions& options = {},
                   PaintReport* report = nullptr);

}  // namespace terrane
