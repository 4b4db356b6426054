// Functions for all physics that plan a mesh (EarthRequest::plan): boxes around a survey, and the heights of
// the ground in them.
#pragma once

#include <array>
#include <vector>

#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"

namespace terrane {

/// A planned mesh whose cells are the unknowns of an inversion.
struct CellsPlan : MeshPlan {
  std::array<double, 3> smooth =
      {};  ///< default smoothing lengths of the inversion along easting, northing and up, m
};

/// The box around points; points whose height is NaN count for its horizontal sides only.
Prism box_around(const std::vector<Position>& points);
/// The smallest horizontal distance above zero between consecutive points, m; 0 if there is none.
double smallest_distance(const std::vector<Position>& points);

/// Lowest and highest ground within a box, m, from 201 × 201 points.
struct Relief {
  double lowest, highest;
};
Relief relief(const Ground& ground, const Prism& box);
/// Lowest and highest topography of an earth within a box; if the earth has none, both are `level`.
Relief relief(const Description& earth, const Prism& box, double level);

/// Interpolates the ground from points on it. If the points lie on a line, linearly between neighbours; else
/// as the mean of all heights with weights 1/distance⁴; beyond the points, the height of the nearest one. For
/// more than a thousand points on a map, the means are computed on a grid whose spacing is that of the
/// points.
Ground ground_through(const std::vector<Position>& points);

/// Horizontal extent of points: along the direction in which they spread most, and across it.
struct Spread {
  Position middle{}, along{1, 0, 0};  ///< `along` is a unit vector
  double length = 0, width = 0;       ///< m
  /// Coordinate along the direction `along`, m; zero at `middle`.
  double at(double easting, double northing) const {
    return (easting - middle[0]) * along[0] + (northing - middle[1]) * along[1];
  }
};
Spread spread_of(const std::vector<Position>& points);

/// The heights of the upper and lower faces of layers, m.
std::vector<double> levels_of(const Description& earth);

/// The number of cells of width `cell` in a length; at least one.
std::size_t cells_in(double length, double cell);

/// "80 × 80 × 60 cells of 100 m × 100 m × 50 m": for evenly cut meshes.
std::string in_words(const TensorMesh& mesh);

}  // namespace terrane
