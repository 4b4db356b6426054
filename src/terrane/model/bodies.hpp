// Bodies of constant properties, and how they are put on a mesh: a cell has the properties of the body that
// holds its centre.
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

/// All lengths in metres. A point on the surface of a sphere or an ellipsoid lies outside.
struct Sphere {
  double easting = 0, northing = 0, up = 0;  ///< centre
  double radius = 0;
};

/// Semi-axes a, b, c. Unrotated (trend 90, plunge 0, roll 0), a points east, b north, c up.
/// Axis a points to azimuth `trend` (degrees clockwise from north) and dips by `plunge` (degrees below the
/// horizontal); then the body turns by `roll` (degrees) about a, clockwise when looking along a.
struct Ellipsoid {
  double easting = 0, northing = 0, up = 0;  ///< centre
  std::array<double, 3> semi_axes{};         ///< a, b, c
  double trend = 90, plunge = 0, roll = 0;
};

/// A box. Its west, south and bottom faces belong to it, the other three do not: boxes that touch share no
/// cell.
using Box = Prism;

/// A vertical prism over a polygon; the last vertex joins the first. Any winding; a self-crossing outline
/// follows the even-odd rule.
struct Polygon {
  std::vector<double> easting, northing;  ///< vertices, at least three
  double bottom = 0, top = 0;
};

/// An elevation in metres: the same everywhere, or a grid in the model's coordinates (gaps and the outside of
/// the grid hold nothing).
using Surface = std::variant<double, Grid>;

/// The space between two surfaces; empty where the bottom lies above the top.
struct Layer {
  Surface bottom = 0.0, top = 0.0;
};

using Shape = std::variant<Sphere, Ellipsoid, Box, Polygon, Layer>;

/// Directions of the axes a, b, c of an ellipsoid: unit vectors easting, northing, up.
std::array<std::array<double, 3>, 3> axes_of(const Ellipsoid& ellipsoid);

/// The part of a vertical line that lies in a shape: from bottom to top; empty where top is not above bottom.
struct Interval {
  double bottom = 0, top = 0;
  bool empty() const noexcept { return !(bottom < top); }
};
Interval along_vertical(const Shape& shape, double easting, double northing);

/// The box around a shape; infinite where the shape is, as a layer between levels.
Prism bounds(const Shape& shape);

struct Body {
  Shape shape;
  std::vector<PropertyValue>
      values;        ///< values in SI; other properties stay as they were. A density of 0 makes a hole
  std::string name;  ///< for messages; may be empty
};

/// Where bodies overlap: the last one painted replaces, or values add.
enum class OverlapRule { replace, add };

/// What painting found, beside the model.
struct PaintReport {
  std::vector<std::size_t>
      cells;  ///< [bodies] cells whose centre the body holds; 0: finer than the mesh, or outside
};

/// Throws InputError that names the body: no property or one that is not known, a value outside the range of
/// its property, NaN or infinite numbers, a radius, semi-axis or thickness not above zero, fewer than three
/// vertices, vertices of unequal count, a grid that is geographic or not a grid.
void check(const Body& body);

/// The properties of the mesh's cells, in the order in which the bodies first name them. Only painted cells
/// are held; no array of all cells is made. Throws InputError (see check).
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
