// How fast errors of potentials decrease with the width of cells, from the edges of bodies.
//
// Near an edge where four cells meet the potential behaves as r^α, r the distance from the edge. α is the
// smallest positive number for which a potential u and its flux σ ∂u/∂θ, continuous across all four faces,
// return to their values after a turn around the edge. In a quadrant of conductivity σ
//
//   (u, σ ∂u/∂θ / α) → [cos(απ/2), sin(απ/2)/σ; −σ sin(απ/2), cos(απ/2)] (u, σ ∂u/∂θ / α),
//
// and the product of the four matrices has the eigenvalue 1, so its trace is 2. One quadrant of another
// conductivity than the other three has 2/3 < α < 1; plane faces have α = 1; four quadrants of several
// conductivities may have any α down to 0. Away from the edge errors of second-order elements decrease as
// h^2α (Babuška, Kellogg & Pitkäranta 1979, Numerische Mathematik 33): solutions on cells of h and 2h then
// differ by 2^2α − 1 times the error of the first.
#pragma once

#include <array>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"

namespace terrane::electric {

/// α of an edge around which cells have the given conductivities, in order, S/m: if it is smaller than
/// `below`, else `below` (0 < below ≤ 1).
double exponent_of_edge(const std::array<double, 4>& conductivity, double below = 1);

/// The smallest α of all edges inside a mesh. The conductivity of a cell around an edge is the geometric mean
/// of those along the two other axes.
double smallest_exponent(const TensorMesh& mesh, const Conductivity& conductivity);

}  // namespace terrane::electric
