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

/// Adds the outcome to the report. property, values: of the model, [active], in the units that users see
void report_outcome(Report& report, const Problem& problem, const Settings& settings, const Outcome& outcome,
                    const std::string& property, const std::vector<double>& values);

/// Adds the table of iterations, the curve and the misfits as attributes; nothing before there is an outcome.
void add_attributes(Result& result, const Outcome& outcome);

/// The model, weights, which cells take part, and deviations, on the cells of the mesh. What was not computed
/// is left empty. apart: as `values`, the model of its own data alone where it was found together with others
std::vector<Column> cell_columns(const Problem& problem, const Settings& settings, const Outcome& outcome,
                                 const std::string& property, const std::vector<double>& values,
                                 const std::vector<double>& apart);

/// Adds all that determines the bits of the model, beside data and operator.
void add_settings(Fingerprint& fingerprint, const Problem& problem, const Settings& settings);

}  // namespace terrane::inversion
