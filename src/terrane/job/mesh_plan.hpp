// Shared by all physics that plan a mesh (EarthRequest::plan): boxes around a survey, and the ground over
// them.
#pragma once

#include <array>
#include <vector>

#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"

namespace terrane {

/// A planned mesh whose cells are the unknowns of an inversion.
struct CellsPlan : MeshPlan {
  std::array<double, 3> smooth = {};  ///< lengths over which models are smooth, m, where the job names none
};

/// The box around points; those without a height (NaN) count for its sides alone.
Prism box_around(const std::vector<Position>& points);
/// The smallest distance on the map from one point to the next of the list; 0 when there is none.
double smallest_distance(const std::vector<Position>& points);

/// Lowest and highest ground over a box, on a grid of points `step` apart or finer.
struct Relief {
  double lowest, highest;
};
Relief relief(const Ground& ground, const Prism& box);
/// The relief of the topography; where the earth has none, `level` twice.
Relief relief(const Description& earth, const Prism& box, double level);

/// A ground through points that stand on it. Where they lie on a line, linear from one to the next; else the
/// mean of all with weights 1/d⁴; beyond them as at the nearest. For more than a thousand points on a map the
/// means are computed on a grid of nodes as far apart as the points.
Ground ground_through(const std::vector<Position>& points);

/// How points lie on a map: along the direction in which they spread most, and across it.
struct Spread {
  Position middle{}, along{1, 0, 0};  ///< along: of length 1
  double length = 0, width = 0;       ///< m
  /// Metres along the direction.
  double at(double easting, double northing) const {
    return (easting - middle[0]) * along[0] + (northing - middle[1]) * along[1];
  }
};
Spread spread_of(const std::vector<Position>& points);

/// The heights at which layers begin and end.
std::vector<double> levels_of(const Description& earth);

/// How many cells of the width `cell` fill a length; at least one.
std::size_t cells_in(double length, double cell);

/// "80 × 80 × 60 cells of 100 m × 100 m × 50 m": for evenly cut meshes.
std::string in_words(const TensorMesh& mesh);

}  // namespace terrane
