// Observed beside computed data: their columns, and the differences between them.
#pragma once

#include <vector>

#include "terrane/simulation/report.hpp"
#include "terrane/simulation/station_fields.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane {

/// Gives stations.survey the observed columns and their uncertainties in place of its own, fills
/// stations.residuals and report.misfits, and renames what else of the survey has the name of something
/// computed: "g_u" → "g_u_survey". Stations without an observation (NaN) get no residual (NaN).
void compare(StationFields& stations, Report& report, const ObservedColumns& columns);

}  // namespace terrane
