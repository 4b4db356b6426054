// Weights of cells for a point between their centres: the share of a source there that each cell gets, and
// the share of each cell in what a thermometer there reads.
//
// Along an axis a point at s gets weights of the cell that holds it and its two neighbours, with centres x:
//
//   Σ w = 1    Σ w (x − s) = 0    Σ w (x − s)² = σ²
//
// The first keeps all heat, the second its place. σ² is the same along all axes: the least with which no
// weight is negative. So the spread has no direction, and far away it acts as a point does: beyond it a
// temperature that obeys ∇²T = 0 is the mean over any ball (Gauss), which leaves an error of fourth order in
// the width of the cells over the distance, where one cell in place of a point leaves one of first order. At
// the centre of a cell σ = 0, and the cell has it all.
//
// Where the rock changes between the three cells, the two centres on both sides of the point share it by the
// thermal resistance ∫dx/k to each: heat flows, and temperature falls, in this proportion. At the sides of
// the box where no heat passes the cells are mirrored. In the first cell beside one where T = 0 the
// temperature is the parabola that vanishes there and whose slope at both faces is what heat flows through
// them: exact for steady heat with even production, in any rock.
//
// Sources and thermometers have the same weights, so the response at b to a source at a is that at a to one
// at b.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "terrane/physics/heat/problem.hpp"

namespace terrane::heat {

/// Weights of cells, in ascending order of the cells, none of them zero.
using Weights = std::vector<std::pair<std::size_t, double>>;

/// Weights of a point. at: easting, northing, up, m. where: how an error names the point. Throws InputError:
/// outside the mesh.
Weights weights_at(const Problem& problem, const std::array<double, 3>& at, const std::string& where);

/// Records the cells of all points: problem.receivers becomes all of them, once each. Returns each point's
/// weights, with places in problem.receivers instead of cells.
std::vector<Weights> record_at(Problem& problem, const std::vector<std::array<double, 3>>& points,
                               const std::string& where);

/// Temperatures of points [time, point], from those of the recorded cells [time, cell].
std::vector<double> temperatures_at(const std::vector<Weights>& points, const std::vector<double>& series,
                                    std::size_t cells);

}  // namespace terrane::heat
