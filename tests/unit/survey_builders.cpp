#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/refusal.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/survey/builders.hpp"

namespace terrane {
namespace {

using test::refusal;

using testing::HasSubstr;

/// A slope of one in ten towards the east.
Grid slope() { return {{0, 100}, {0, 100}, {0, 10, 0, 10}}; }

TEST(GridSurvey, RunsEastFastestFromTheSouthWest) {
  const auto survey = grid_survey(even_axis(0, 22000, 150), even_axis(0, 22000, 100), 100.0);
  ASSERT_EQ(survey.size(), 15000U);
  EXPECT_EQ(survey.easting[149], 22000);
  EXPECT_EQ(survey.northing[149], 0);
  EXPECT_EQ(survey.easting[150], 0);
  EXPECT_NEAR(survey.northing[150], 22000.0 / 99, 1e-9);
  EXPECT_EQ(survey.up.back(), 100);
  ASSERT_TRUE(survey.grid.has_value());
  for (std::size_t n : {0U, 151U, 14999U}) {
    EXPECT_EQ(survey.easting[n], survey.grid->easting[n % 150]);
    EXPECT_EQ(survey.northing[n], survey.grid->northing[n / 150]);
  }
}

TEST(GridSurvey, ClearsTheGroundByTheSameHeightEverywhere) {
  const auto survey = grid_survey({0, 50, 100}, {20, 80}, Clearance{30, slope()});
  EXPECT_EQ(survey.up, (std::vector<double>{30, 35, 40, 30, 35, 40}));
}

TEST(GridSurvey, StationsBeyondTheElevationAreCountedAndTheFirstNamed) {
  const auto message = refusal([] { grid_survey({50, 100, 150}, {20, 80}, Clearance{30, slope()}); });
  EXPECT_THAT(message, HasSubstr("2 of 6 stations lie outside the elevation grid"));
  EXPECT_THAT(message, HasSubstr("first: station 3 at easting 150, northing 20"));
  auto holed = slope();
  holed.values[0] = nan;
  EXPECT_THAT(refusal([&] {
                grid_survey({50, 60}, {20}, Clearance{30, holed});
              }),
              HasSubstr("in a gap of it"));
}

TEST(GridSurvey, AxesThatMakeNoGridAreRefused) {
  EXPECT_THAT(refusal([] { grid_survey({}, {1}, 0.0); }), HasSubstr("the easting axis is empty"));
  EXPECT_THAT(refusal([] { grid_survey({1, 1}, {1}, 0.0); }), HasSubstr("does not lie beyond"));
  EXPECT_THAT(refusal([] { grid_survey({1, nan}, {1}, 0.0); }), HasSubstr("easting is nan"));
  EXPECT_THAT(refusal([] { grid_survey({1, 2}, {1}, nan); }), HasSubstr("the height is nan"));
}

TEST(Axes, MeetTheirEndsExactly) {
  EXPECT_EQ(even_axis(0.1, 0.7, 3), (std::vector<double>{0.1, 0.1 + 0.5 * (0.7 - 0.1), 0.7}));
  EXPECT_EQ(even_axis(2, 4, 1), (std::vector<double>{3}));
  EXPECT_EQ(spaced_axis(0, 0.3, 0.1).size(), 4U);
  EXPECT_EQ(spaced_axis(0, 0.35, 0.1).size(), 4U);
  EXPECT_EQ(spaced_axis(5, 5, 1), (std::vector<double>{5}));
  EXPECT_THAT(refusal([] { even_axis(0, 1, 0); }), HasSubstr("zero stations"));
  EXPECT_THAT(refusal([] { even_axis(1, 0, 2); }), HasSubstr("ascends"));
  EXPECT_THAT(refusal([] { spaced_axis(0, 1, 0); }), HasSubstr("a spacing of 0 m"));
  EXPECT_THAT(refusal([] { spaced_axis(0, 1, -1); }), HasSubstr("a spacing of -1 m"));
  EXPECT_THAT(refusal([] { spaced_axis(0, 1e12, 1e-3); }), HasSubstr("At most 1e9"));
  EXPECT_THAT(refusal([] { spaced_axis(0, nan, 1); }), HasSubstr("is nan"));
}

TEST(ListSurvey, TakesArraysAndKeepsColumns) {
  const auto survey =
      list_survey({1, 2}, {3, 4}, std::vector<double>{5, 6}, {{"observed", "mGal", "", {7, 8}}});
  EXPECT_EQ(survey.up[1], 6);
  EXPECT_EQ(survey.find("observed")->values[0], 7);
  EXPECT_EQ(list_survey({10, 20}, {30, 40}, Clearance{2, slope()}).up, (std::vector<double>{3, 4}));
  EXPECT_EQ(list_survey({10, 20}, {30, 40}, 9.0).up, (std::vector<double>{9, 9}));
}

TEST(ListSurvey, BadListsAreRefusedWithTheFirstStationAndTheCount) {
  using Values = std::vector<double>;
  EXPECT_THAT(refusal([] { list_survey({}, {}, Values{}); }), HasSubstr("there are no stations"));
  EXPECT_THAT(refusal([] {
                list_survey({1, 2}, {1}, Values{1, 2});
              }),
              HasSubstr("2 eastings, 1 northings, 2 ups"));
  EXPECT_THAT(refusal([] {
                list_survey({1, 2, 3}, {1, 2, 3}, Values{1, nan, nan});
              }),
              HasSubstr("2 of 3 stations have no finite up (first: station 2, nan)"));
  EXPECT_THAT(refusal([] {
                list_survey({1, INFINITY}, {1, 2}, Values{1, 1});
              }),
              HasSubstr("no finite easting"));
  EXPECT_THAT(refusal([] {
                list_survey({1}, {1}, Values{1}, {{"observed", "", "", {1, 2}}});
              }),
              HasSubstr("column \"observed\" has 2 values for 1 stations"));
  EXPECT_THAT(refusal([] {
                list_survey({nan}, {1}, Clearance{1, slope()});
              }),
              HasSubstr("no finite easting"));
}

TEST(FlightLines, RunAlongTheirAzimuthAndStepToTheRight) {
  FlightLines lines;
  lines.easting = 1000;
  lines.northing = 2000;
  lines.azimuth = 90;
  lines.length = 100;
  lines.spacing = 25;
  lines.line_spacing = 40;
  lines.lines = 3;
  const auto survey = line_survey(lines, 80.0);
  ASSERT_EQ(survey.size(), 15U);
  EXPECT_EQ(survey.easting[4], 1100);
  EXPECT_EQ(survey.northing[4], 2000);
  EXPECT_EQ(survey.northing[5], 1960);  // right of east is south
  EXPECT_EQ(survey.easting[5], 1000);
  EXPECT_EQ(survey.find("line")->values[14], 3);
  EXPECT_EQ(survey.find("distance")->values[14], 100);
  lines.there_and_back = true;
  const auto back = line_survey(lines, 80.0);
  EXPECT_EQ(back.easting[5], 1100);
  EXPECT_EQ(back.find("distance")->values[5], 0);
  EXPECT_EQ(back.easting[10], 1000);
}

TEST(FlightLines, BetweenTwoPointsReachTheSecond) {
  const auto survey = line_survey(FlightLines::between(0, 0, 30, 40, 10), Clearance{5, slope()});
  ASSERT_EQ(survey.size(), 6U);
  EXPECT_NEAR(survey.easting[5], 30, 1e-9);
  EXPECT_NEAR(survey.northing[5], 40, 1e-9);
  EXPECT_NEAR(survey.up[5], 8, 1e-9);
}

TEST(FlightLines, ThatCannotBeFlownAreRefused) {
  const auto with = [](auto change) {
    FlightLines lines;
    lines.length = 100;
    lines.spacing = 10;
    lines.line_spacing = 10;
    lines.lines = 2;
    change(lines);
    return refusal([&] { line_survey(lines, 0.0); });
  };
  EXPECT_THAT(with([](FlightLines& l) { l.length = 0; }), HasSubstr("a line of length 0 m"));
  EXPECT_THAT(with([](FlightLines& l) { l.spacing = 0; }), HasSubstr("a spacing of 0 m"));
  EXPECT_THAT(with([](FlightLines& l) { l.lines = 0; }), HasSubstr("zero lines"));
  EXPECT_THAT(with([](FlightLines& l) { l.line_spacing = 0; }), HasSubstr("a line spacing of 0 m"));
  EXPECT_THAT(with([](FlightLines& l) { l.azimuth = nan; }), HasSubstr("the azimuth is nan"));
  EXPECT_THAT(with([](FlightLines& l) { l.lines = 1000000000; }), HasSubstr("At most 1e9"));
}

}  // namespace
}  // namespace terrane
