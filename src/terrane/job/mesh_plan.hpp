// What the physics share that make a mesh of their own (EarthRequest::plan): boxes around a survey, and the
// ground over them.
#pragma once

#include <vector>

#include "terrane/job/earth.hpp"
#include "terrane/job/tables.hpp"

namespace terrane {

/// The box around points; those without a height (NaN) count for its sides alone.
Prism box_around(const std::vector<Position>& points);
/// The smallest distance on the map from one point to the next of the list; 0 when there is none.
double smallest_distance(const std::vector<Position>& points);

/// Lowest and highest ground over a box, on a grid of points `step` apart or finer.
struct Relief {
  double lowest, highest;
};
/// Where the earth has no topography, `level` twice.
Relief relief(const Description& earth, const Prism& box, double level);

/// The levels at which layers begin and end.
std::vector<double> levels_of(const Description& earth);

/// How many cells of the width `cell` fill a length; at least one.
std::size_t cells_in(double length, double cell);

/// "80 × 80 × 60 cells of 100 m × 100 m × 50 m": for evenly cut meshes.
std::string in_words(const TensorMesh& mesh);

}  // namespace terrane
