// Bodies of constant properties, and how they are painted into a mesh: a cell gets the properties of the body
// that contains its centre.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "terrane/mesh/grid.hpp"
#include "terrane/model/earth_model.hpp"

namespace terrane {

/// All lengths are in metres. Points on the surface of a sphere or an ellipsoid are outside.
struct Sphere {
  double easting = 0, northing = 0, up = 0;  ///< centre
  double radius = 0;
};

/// Semi-axes a, b, c. Without rotation (trend 90, plunge 0, roll 0) a points east, b north and c up. Axis a
/// points to azimuth `trend` (degrees clockwise from north) and dips by `plunge` (degrees below the
/// horizontal); then the body is rotated about a by `roll` (degrees, clockwise when looking along a).
struct Ellipsoid {
  double easting = 0, northing = 0, up = 0;  ///< centre
  std::array<double, 3> semi_axes{};         ///< a, b, c
  double trend = 90, plunge = 0, roll = 0;
};

/// A box. Its west, south and bottom faces belong to it, the other three do not: boxes that touch have no
/// cell in common.
using Box = Prism;

/// A vertical prism over a polygon; the last vertex is joined to the first. Vertices in either direction; for
/// a polygon that crosses itself, the even-odd rule decides what is inside.
struct Polygon {
  std::vector<double> easting, northing;  ///< vertices, at least three
  double bottom = 0, top = 0;
};

/// An elevation in metres: constant, or a grid in the model's coordinates. At gaps and outside the grid there
/// is no surface, and the layer is empty.
using Surface = std::variant<double, Grid>;

/// The space between two surfaces; empty where the bottom lies above the top.
struct Layer {
  Surface bottom = 0.0, top = 0.0;
};

using Shape = std::variant<Sphere, Ellipsoid, Box, Polygon, Layer>;

/// Directions of the axes a, b, c of an ellipsoid: unit vectors easting, northing, up.
std::array<std::array<double, 3>, 3> axes_of(const Ellipsoid& ellipsoid);

/// The part of a vertical line inside a shape, from bottom to top, m; empty if top is not above bottom.
struct Interval {
  double bottom = 0, top = 0;
  bool empty() const noexcept { return !(bottom < top); }
};
Interval along_vertical(const Shape& shape, double easting, double northing);

/// The bounding box of a shape; infinite in directions in which the shape is, such as a layer between
/// constant elevations.
Prism bounds(const Shape& shape);

struct Body {
  Shape shape;
  std::vector<PropertyValue>
      values;        ///< SI; other properties of the cells do not change. A density of 0 makes a cavity
  std::string name;  ///< name of the body for messages; may be empty
};

/// The values of a cell that lies in several bodies: those of the body painted last, or the sum.
enum class OverlapRule { replace, add };

/// The results of painting besides the model.
struct PaintReport {
  std::vector<std::size_t> cells;  ///< [bodies]: number of cells whose centre is in the body
};

/// Throws InputError that names the body: no property or an unknown one, a value outside the range of its
/// property, NaN or infinite numbers, a radius, semi-axis or thickness not above zero, fewer than three
/// vertices, different numbers of vertex coordinates, a geographic or invalid grid.
void check(const Body& body);

/// The properties of the mesh's cells, in the order in which the bodies first name them; each also
/// replaces what supersedes() says. Only painted cells are stored. Throws InputError (see check).
EarthModel paint(const TensorMesh& mesh, std::span<const Body> bodies,
                 OverlapRule rule = OverlapRule::replace, PaintReport* report = nullptr);

/// Blocks of random size and density, as in the accuracy tests of Moorkamp, Jegen, Roberts & Hobbs (2010).
struct RandomBlocks {
  std::array<std::size_t, 3> shape{2, 2, 2};     ///< cells east, north, up
  double width_min = 1e3, width_max = 11e3;      ///< m, along every axis
  double density_min = 100, density_max = 3000;  ///< kg/m³
  double west = 0, south = 0, top = 0;           ///< m, the upper south-west corner
  std::uint64_t seed = 1;
};

/// A full tensor mesh. The same seed gives the same bits on every machine and compiler.
/// Throws InputError (a zero count, an empty or unordered range).
EarthModel random_blocks(const RandomBlocks& blocks);

}  // namespace terrane
