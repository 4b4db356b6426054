// What the jobs of all physics say of an inversion alike: report, attributes of files, columns of cells, and
// what determines the bits.
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

/// property, values: of the model, [active], as people know it
void report_outcome(Report& report, const Problem& problem, const Settings& settings, const Outcome& outcome,
                    const std::string& property, const std::vector<double>& values);

/// The table of iterations, the curve and what was reached; nothing before there is an outcome.
void add_attributes(Result& result, const Outcome& outcome);

/// The model, weights, which cells take part, and deviations, on the cells of the mesh. What was not computed
/// is left empty. apart: as `values`, the model of its own data alone where it was found together with others
std::vector<Column> cell_columns(const Problem& problem, const Settings& settings, const Outcome& outcome,
                                 const std::string& property, const std::vector<double>& values,
                                 const std::vector<double>& apart);

/// Beside data and operator all that determines the bits of the model.
void add_settings(Fingerprint& fingerprint, const Problem& problem, const Settings& settings);

}  // namespace terrane::inversion
