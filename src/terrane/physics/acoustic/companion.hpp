// The companion of a problem: the same shots on cells 1.5 times as wide, from which errors of gathers are
// estimated (trace_errors.hpp).
//
// The sides of the box stay where they are. The differences have order 16, so that the dispersion of the
// companion is not much larger than that of the run. The medium is averaged over the wider cells: from the
// description of the earth if there is one (job/earth.hpp), else from the cells of the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// The companion's problem, or the reason why there is no companion.
struct CompanionProblem {
  std::optional<Problem> problem;
  std::string why_none;
};

/// The faces of a grid's cells.
TensorMesh mesh_of(const Grid& grid);

/// The grid of the companion: the same box, cells about 1.5 times as wide.
Grid grid_of_companion(const Grid& grid);

/// A copy of the problem's settings on the grid of the companion, without a medium.
Problem settings_of_companion(const Problem& problem);

/// Gives the companion the means of the problem's medium: of 1/v² and of the other properties by volume,
/// angles of the axis from the nearest node.
void take_means(const Problem& problem, Problem& companion);

/// Completes the companion's problem (Problem::settle()). If its waves would be too short for its cells,
/// there is no companion.
CompanionProblem settled_companion(Problem companion);

}  // namespace terrane::acoustic
