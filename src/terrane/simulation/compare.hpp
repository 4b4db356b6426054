// Observed beside computed data: their columns, and the differences between them.
#pragma once

#include <vector>

#include "terrane/simulation/result.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane {

/// Gives result.survey the observed columns and their uncertainties in place of its own, fills
/// result.residuals and result.report.misfits, and renames what else of the survey has the name of something
/// computed: "g_u" → "g_u_survey". Stations without an observation (NaN) get no residual (NaN).
void compare(Result& result, const ObservedColumns& columns);

}  // namespace terrane
