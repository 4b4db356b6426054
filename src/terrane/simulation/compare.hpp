// Compares observed with computed data: columns, residuals and misfits.
#pragma once

#include <vector>

#include "terrane/simulation/report.hpp"
#include "terrane/simulation/station_fields.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane {

/// Sets the observed columns and their uncertainties in stations.survey (replacing those there), fills
/// stations.residuals and report.misfits, and renames other survey columns that have the name of a computed
/// field: "g_u" → "g_u_survey". Stations without an observation (NaN) get no residual (NaN).
void compare(StationFields& stations, Report& report, const ObservedColumns& columns);

}  // namespace terrane
