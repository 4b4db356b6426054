// Cells that are not active but have a known property, that of the reference model. Their field is part of
// the data.
#pragma once

#include <string>
#include <vector>

#include "terrane/inversion/loop/problem.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane::gravity::inverse {

struct FixedCells {
  std::vector<std::uint32_t> place;  ///< indices of mesh cells
  std::vector<double> value;         ///< value of the property in each fixed cell, SI
  PrismSet prisms;
  std::vector<std::string> notes;
};

/// The fixed cells: those that are 0 in inversion.active_file and have a property other than 0 in the file
/// inversion.reference. None if either file is not given.
FixedCells read_fixed(const Config& table, const std::string& property, const inversion::Problem& problem,
                      const std::string& mesh_file);

/// The data that these cells cause: [rows of the source], in its units.
std::vector<double> data_of(const FixedCells& cells, const SensitivityColumns& source, SingularPolicy policy,
                            int threads);

}  // namespace terrane::gravity::inverse
