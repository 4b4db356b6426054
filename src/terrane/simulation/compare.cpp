#include "terrane/simulation/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace terrane {

namespace {

Column residual_of(const ObservedColumn& observed, const Column& field) {
  Column residual{field.name + "_residual", field.unit, field.description + ", observed less computed",
                  field.values, field.single};
  for (std::size_t i = 0; i < residual.values.size(); ++i)
    residual.values[i] = observed.observed.values[i] - field.values[i];
  return residual;
}

Misfit misfit_of(const ObservedColumn& observed, const Column& residual) {
  Misfit misfit{observed.field, residual.unit, 0, 0, 0, 0, 0};
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < residual.values.size(); ++i) {
    const double r = residual.values[i];
    if (!std::isfinite(r)) continue;
    ++misfit.count;
    sum += r;
    squares += r * r;
    const double deviation = observed.uncertainty ? observed.uncertainty->values[i] : 0;
    if (!(deviation > 0) || !std::isfinite(deviation)) continue;
    ++misfit.weighted;
    misfit.chi_squared += (r / deviation) * (r / deviation);
  }
  if (misfit.count > 0) {
    misfit.mean = sum / static_cast<double>(misfit.count);
    misfit.rms = std::sqrt(squares / static_cast<double>(misfit.count));
  }
  return misfit;
}

}  // namespace

void compare(StationFields& stations, Report& report, const ObservedColumns& columns) {
  std::set<std::string> taken{"easting", "northing", "up", "singular"};
  std::vector<Column> of_survey;
  for (const auto& field : stations.fields) taken.insert(field.name);
  for (const auto& observed : columns.observed) {
    const auto field = std::find_if(stations.fields.begin(), stations.fields.end(),
                                    [&](const Column& f) { return f.name == observed.field; });
    of_survey.push_back(observed.observed);
    if (observed.uncertainty) of_survey.push_back(*observed.uncertainty);
    if (field == stations.fields.end()) continue;
    stations.residuals.push_back(residual_of(observed, *field));
    if (field->values.empty()) continue;  // an outline is a result without values
    report.misfits.push_back(misfit_of(observed, stations.residuals.back()));
  }
  for (const auto* made : {&of_survey, &stations.residuals})
    for (const auto& column : *made) taken.insert(column.name);
  for (auto column : columns.others) {
    while (!taken.insert(column.name).second) column.name += "_survey";
    of_survey.push_back(std::move(column));
  }
  stations.survey.columns = std::move(of_survey);
}

}  // namespace terrane
