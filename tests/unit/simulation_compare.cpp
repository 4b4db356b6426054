#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "terrane/base/constants.hpp"
#include "terrane/simulation/compare.hpp"

namespace terrane {
namespace {

StationFields computed(std::vector<double> values) {
  StationFields stations;
  stations.fields.push_back({"gz", "mGal", "gravity", std::move(values)});
  return stations;
}

TEST(Compare, ResidualIsObservedLessComputedAndItsSizeIsReported) {
  Report report;
  auto stations = computed({1, 2, 3, 4});
  ObservedColumns columns;
  columns.observed.push_back({"gz",
                              {"gz_observed", "mGal", "", {2, 2, 1, nan}},
                              Column{"gz_uncertainty", "mGal", "", {0.5, 0, 1, 1}}});
  compare(stations, report, columns);
  ASSERT_EQ(stations.residuals.size(), 1U);
  EXPECT_EQ(stations.residuals[0].name, "gz_residual");
  EXPECT_EQ(stations.residuals[0].values[0], 1);
  EXPECT_EQ(stations.residuals[0].values[2], -2);
  EXPECT_TRUE(std::isnan(stations.residuals[0].values[3]));
  ASSERT_EQ(report.misfits.size(), 1U);
  const auto& misfit = report.misfits[0];
  EXPECT_EQ(misfit.count, 3U);
  EXPECT_DOUBLE_EQ(misfit.mean, -1.0 / 3);
  EXPECT_DOUBLE_EQ(misfit.rms, std::sqrt(5.0 / 3));
  EXPECT_EQ(misfit.weighted, 2U);  // an uncertainty of 0 weighs nothing
  EXPECT_DOUBLE_EQ(misfit.chi_squared, 4 + 4);
  EXPECT_EQ(stations.fields[0].values[0], 1) << "what was computed stays what it is";
}

TEST(Compare, NoTwoColumnsHaveOneName) {
  Report report;
  auto stations = computed({1});
  ObservedColumns columns;
  columns.observed.push_back({"gz", {"gz_observed", "mGal", "", {2}}, std::nullopt});
  for (const auto* name : {"gz", "gz_survey", "gz_residual", "gz_observed", "singular", "up", "line"})
    columns.others.push_back({name, "", "", {0}});
  compare(stations, report, columns);
  std::set<std::string> names{"easting", "northing", "up", "singular"};
  for (const auto* all : {&stations.survey.columns, &stations.fields, &stations.residuals})
    for (const auto& column : *all) EXPECT_TRUE(names.insert(column.name).second) << column.name;
  EXPECT_TRUE(names.contains("gz_survey_survey"));
  EXPECT_TRUE(names.contains("line"));
}

}  // namespace
}  // namespace terrane
