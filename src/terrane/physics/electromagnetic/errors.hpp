// The errors of fields and responses, by a companion run (simulation/stated_errors.hpp).
//
// Fields are judged as vectors: E or H at a receiver, e = |Δ|/2 of all its components that are recorded,
// since a component alone crosses zero, and so does its error. Impedances are judged by the element that
// differs most, relative to the pair off the diagonal, (|Z_en|² + |Z_ne|²)/2 under the root, e = |ΔZ|/1.5.
// From it follow the errors of apparent resistivities, 2|Z||δZ|/(ωμ₀), and phases, |δZ|/|Z|.
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

/// What other meshes of this problem must keep: faces at sources and receivers; the earth goes on at all
/// walls.
CompanionWish wish_of(const Problem& problem);
/// The companion's problem: cells twice as wide along some axes, walls twice as far where they move, without
/// fields of all cells.
Problem companion_of(const Problem& problem, const CompanionWish& wish);
/// A mesh with cells factor[axis] times as wide.
TensorMesh finer_mesh_of(const Problem& problem, const CompanionWish& wish,
                         const std::array<double, 3>& factor, KeptFaces keeps);
/// The problem on other cells, which take the conductivities that the mesh has at their places.
Problem problem_on(const Problem& problem, const TensorMesh& cells);

/// NAME_error of every component, [source, frequency, receiver].  mine, its: data of the run and of its
/// companion, both empty in an outline
std::vector<Variable> field_errors(const Problem& problem, const std::vector<std::complex<double>>& mine,
                                   const std::vector<std::complex<double>>& its, StatedErrors& stated);

/// NAME_error of every variable of these responses, [frequency, receiver].
std::vector<Variable> response_errors(const Problem& problem, const std::vector<TransferFunction>& mine,
                                      const std::vector<TransferFunction>& its,
                                      const std::vector<std::string>& responses, StatedErrors& stated);

}  // namespace terrane::electromagnetic
