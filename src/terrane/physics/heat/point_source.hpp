// A point source of heat, and temperatures beside it in closed form.
//
//   T(r, t) = P/(4π k r) erfc(r/√(4Dt)) + H/(C (4πDt)^{3/2}) exp(−r²/4Dt)      D = k/C
//
// of the power P from time 0 on, and of the heat H that is there at time 0, in rock without end (Carslaw &
// Jaeger 1959, §10.2, §10.4). The sides of a box are images: with the source's sign where no heat passes,
// with the other one where T = 0.
//
// Cells resolve 1/r badly near the source: three cells away they err by a twentieth. The same errors are
// found by a second run on the same cells with the same steps, in a box filled with the rock at the source,
// for which the closed form is exact. So
//
//   T(mesh) + T(closed form) − T(mesh, all of the source's rock)
//
// has only the errors of the remaining part, heat that other rock reflects, which is smooth at the source.
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
  double power = 0;             ///< W, from time 0 on
  std::optional<double> until;  ///< when the power is turned off, s; without it at the end
  double heat = 0;              ///< J, at time 0
};

/// Shares the heat of the source among the cells around it. where: how an error names it. Throws InputError:
/// it lies outside the mesh.
void put_in(const PointSource& source, Problem& problem, const std::string& where);

/// How many cells along each axis lie between two points, at least.
double cells_between(const TensorMesh& mesh, const Place& a, const Place& b);

/// Points that are corrected by the closed form: those less than ten cells from the source, and not at it,
/// with no other rock in the cells between and around both. None where the closed form would be a sum of too
/// many images. problem: settled
std::vector<std::size_t> beside(const Problem& problem, const PointSource& source,
                                std::span<const Place> points);
/// Those of the points `among` with no other rock in the cells of `problem` between and around them and the
/// source, whatever the width of cells; none where the closed form would be a sum of too many images.
std::vector<std::size_t> in_one_rock(const Problem& problem, const PointSource& source,
                                     std::span<const Place> points, std::span<const std::size_t> among);

/// The same source in a box filled with the rock at the source, on the same cells with the same steps.
/// problem: settled
Problem in_own_rock(const Problem& problem, const PointSource& source);
/// Temperatures in closed form at each of these points, after each step: [steps + 1, points], K.
std::vector<double> closed_form(const Problem& problem, const PointSource& source,
                                std::span<const Place> points);

}  // namespace terrane::heat
