// The parts of a result that inversions of all physics share: report, attributes of files, columns of cells,
// and the fingerprint of settings.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/inversion/loop/problem.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/simulation/result.hpp"

namespace terrane::inversion {

inline constexpr std::array<std::string_view, 4> weighting_names{"none", "depth", "distance", "sensitivity"};

/// What an inversion has found, as users see it.
struct FoundProperty {
  std::string name, unit;      ///< "1": a number without a unit
  std::vector<double> values;  ///< [active]
};

/// Adds the outcome to the report.
void report_outcome(Report& report, const Problem& problem, const Settings& settings, const Outcome& outcome,
                    const FoundProperty& property);

/// Adds the table of iterations, the curve of φ_d and φ_m, and the misfits as attributes; nothing if there is
/// no outcome yet.
void add_attributes(Result& result, const Outcome& outcome);

/// Columns for all cells of the mesh: the model, weights, which cells are active, and standard deviations.
/// Columns that were not computed are omitted. apart: after a joint inversion, the model from its own data
/// alone, in the format of property.values
std::vector<Column> cell_columns(const Problem& problem, const Settings& settings, const Outcome& outcome,
                                 const FoundProperty& property, const std::vector<double>& apart);

/// Adds everything that determines the bits of the model, except data and operator.
void add_settings(Fingerprint& fingerprint, const Problem& problem, const Settings& settings);

}  // namespace terrane::inversion
