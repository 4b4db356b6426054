// Weights of cells for a point between their centres: the fraction of a source at the point that each cell
// receives, and the weight of each cell in the temperature at the point.
//
// Along each axis, the cell that contains a point at s and its two neighbours, with centres x, get weights w:
//
//   Σ w = 1    Σ w (x − s) = 0    Σ w (x − s)² = σ²
//
// The first equation conserves heat, the second the centre of the heat; σ² is the spread. σ² is the same
// along all axes: the least for which no weight is negative. So the spread is isotropic, and at a distance
// acts as a point does, because a temperature with ∇²T = 0 equals its mean over any ball (Gauss): the error
// is of fourth order in the ratio of cell width to distance. A source in a single cell would have an error of
// first order. For a point at the centre of a cell σ = 0, and this cell has weight 1.
//
// If the rock changes between the three cells, the two cells whose centres enclose the point have weights
// according to the thermal resistance ∫dx/k from the point to each centre, because heat flow and temperature
// are divided in this proportion. At insulated sides of the box the cells are mirrored. In the first cell
// beside a side with T = 0, the temperature is approximated by the parabola that vanishes at the side and
// whose slope at both faces of the cell matches the heat flow through them: exact for steady heat with
// uniform production, in any rock.
//
// Sources and receivers use the same weights, so the response at b to a source at a equals that at a to a
// source at b.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "terrane/physics/heat/problem.hpp"

namespace terrane::heat {

/// Pairs of a cell and its nonzero weight, in ascending order of cells.
using Weights = std::vector<std::pair<std::size_t, double>>;

/// Weights for a point at easting, northing, up, m. where: what error messages call the point. Throws
/// InputError if the point lies outside the mesh.
Weights weights_at(const Problem& problem, const std::array<double, 3>& at, const std::string& where);

/// Sets problem.receivers to all cells that have a weight at some point, each cell once. Returns each point's
/// weights, in which a cell is given by its index in problem.receivers. where: what error messages call
/// points
std::vector<Weights> record_at(Problem& problem, const std::vector<std::array<double, 3>>& points,
                               const std::string& where);

/// Temperatures at points, [time, point], from those of the recorded cells, [time, cell].
std::vector<double> temperatures_at(const std::vector<Weights>& points, const std::vector<double>& series,
                                    std::size_t cells);

}  // namespace terrane::heat
