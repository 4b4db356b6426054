// A point source of heat, and the closed form of temperatures near it.
//
//   T(r, t) = P/(4π k r) erfc(r/√(4Dt)) + H/(C (4πDt)^{3/2}) exp(−r²/4Dt)      D = k/C
//
// for the power P (W) from time 0 on, and the heat H (J) released at time 0, in an infinite medium (Carslaw &
// Jaeger 1959, §10.2, §10.4). r is the distance from the source, k the thermal conductivity, C the heat
// capacity per volume, D the diffusivity. The sides of a box are represented by images of the source: of
// equal sign at insulated sides, of opposite sign at sides with T = 0.
//
// Cells resolve 1/r badly near the source: three cells away the error is 5 %. A second run on the same cells
// with the same steps, in a box filled with the rock at the source, has the same errors, and for it the
// closed form is exact. So
//
//   T(mesh) + T(closed form) − T(mesh, all of the source's rock)
//
// has only the error of that part of T(mesh) which other rock causes; this part is smooth at the source.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/physics/heat/problem.hpp"

namespace terrane::heat {

using Place = std::array<double, 3>;  // easting, northing, up, m

struct PointSource {
  Place at{};
  double power = 0;             ///< W, constant from time 0 on
  std::optional<double> until;  ///< s, when the power is turned off; empty: at the end of the run
  double heat = 0;              ///< J, released at time 0
};

/// Distributes the heat of the source to the cells around it. where: what error messages call the source.
/// Throws InputError if the source lies outside the mesh.
void put_in(const PointSource& source, Problem& problem, const std::string& where);

/// Distance between two points in cells: the root of the sum of squares of the numbers of cells along the
/// axes.
double cells_between(const TensorMesh& mesh, const Place& a, const Place& b);

/// Indices of the points that are corrected by the closed form: points less than ten cells from the source,
/// but not at the source, if all cells between and around point and source contain the same rock. Empty if
/// the closed form would be a sum of too many images. problem: settle() has been called
std::vector<std::size_t> beside(const Problem& problem, const PointSource& source,
                                std::span<const Place> points);
/// The indices in `among` of points, at any distance, for which all cells of `problem` between and around
/// point and source contain the same rock; empty if the closed form would be a sum of too many images.
std::vector<std::size_t> in_one_rock(const Problem& problem, const PointSource& source,
                                     std::span<const Place> points, std::span<const std::size_t> among);

/// The same source on the same cells with the same steps, in a box filled with the rock at the source.
/// problem: settle() has been called
Problem in_own_rock(const Problem& problem, const PointSource& source);
/// Temperatures from the closed form at these points, after each step: [steps + 1, points], K.
std::vector<double> closed_form(const Problem& problem, const PointSource& source,
                                std::span<const Place> points);

}  // namespace terrane::heat
