// Estimated errors of fields and responses, from a second run on another mesh, the companion
// (simulation/stated_errors.hpp).
//
// The error of E or H at a receiver is that of the vector of its recorded components: e = |Δ|/1.6, Δ the
// difference of the two runs. The vector is used because a single component of Δ may be zero by chance. The
// error of an impedance is that of the element that differs most, e = |ΔZ|/1.5; its scale is
// √((|Z_en|² + |Z_ne|²)/2). The divisors 1.6 and 1.5 are calibrated (simulation/stated_errors.hpp). With
// |δZ| = e follow the errors of apparent resistivities, 2|Z||δZ|/(ωμ₀), and of phases, |δZ|/|Z|.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/physics/electromagnetic/outcome.hpp"
#include "terrane/physics/electromagnetic/problem.hpp"
#include "terrane/physics/electromagnetic/transfer.hpp"
#include "terrane/simulation/stated_errors.hpp"

namespace terrane::electromagnetic {

/// What the companion's mesh must keep from the mesh of this problem: faces at sources and receivers. The
/// earth continues beyond all walls.
CompanionWish wish_of(const Problem& problem);
/// The problem on the companion's mesh: cells twice as wide along some axes, and, if walls are moved, at
/// twice the distance. Fields in all cells are not computed.
Problem companion_of(const Problem& problem, const CompanionWish& wish);
/// A mesh whose cells are factor[axis] times as wide.
TensorMesh finer_mesh_of(const Problem& problem, const CompanionWish& wish,
                         const std::array<double, 3>& factor, KeptFaces keeps);
/// The problem on other cells; each takes the conductivities that the problem's mesh has at its position.
Problem problem_on(const Problem& problem, const TensorMesh& cells);

/// The variables NAME_error of all components, [source, frequency, receiver].  mine, its: data of the run and
/// of its companion; both empty if only the variables' names and dimensions are wanted
std::vector<Variable> field_errors(const Problem& problem, const std::vector<std::complex<double>>& mine,
                                   const std::vector<std::complex<double>>& its, StatedErrors& stated);

/// The variables NAME_error of the named responses, [frequency, receiver].
std::vector<Variable> response_errors(const Problem& problem, const std::vector<TransferFunction>& mine,
                                      const std::vector<TransferFunction>& its,
                                      const std::vector<std::string>& responses, StatedErrors& stated);

}  // namespace terrane::electromagnetic
