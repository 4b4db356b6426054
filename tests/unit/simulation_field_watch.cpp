#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "terrane/simulation/field_watch.hpp"

namespace terrane {
namespace {

constexpr std::size_t quiet = 300;

TEST(FieldWatch, EndsARunAtOnceWhereAValueIsNoNumber) {
  for (const double bad : {double(NAN), double(INFINITY)}) {
    FieldWatch watch(0, quiet);
    EXPECT_FALSE(watch.lost(30, 1));
    EXPECT_TRUE(watch.lost(60, bad));
  }
}

TEST(FieldWatch, EndsARunThatGrowsTenfoldAfterItsSourcesAtTwoLooksAndNotAtOne) {
  FieldWatch watch(0, quiet);
  EXPECT_FALSE(watch.lost(30, 1));
  EXPECT_FALSE(watch.lost(60, 50));  // a source may do anything
  EXPECT_FALSE(watch.lost(330, 499));
  EXPECT_FALSE(watch.lost(360, 501));
  EXPECT_FALSE(watch.lost(390, 2));
  EXPECT_FALSE(watch.lost(420, 501));
  EXPECT_TRUE(watch.lost(450, 501));
}

TEST(FieldWatch, LooksEveryThirtySteps) {
  FieldWatch watch(0, quiet);
  EXPECT_FALSE(watch.due(29));
  EXPECT_TRUE(watch.due(30));
  watch.lost(37, 1);
  EXPECT_FALSE(watch.due(66));
  EXPECT_TRUE(watch.due(67));
}

TEST(FieldWatch, NeverTakesSourcesThatGoOnOrAFieldAtRestForGrowth) {
  FieldWatch goes_on, rests(0, 100);
  EXPECT_FALSE(rests.lost(30, 0));
  for (std::size_t n = 120; n < 1000; n += 30) {
    EXPECT_FALSE(goes_on.lost(n, std::pow(2.0, static_cast<double>(n) / 10)));
    EXPECT_FALSE(rests.lost(n, 1e-30 * static_cast<double>(n)));
  }
}

TEST(FieldWatch, IsQuietHalfOfTheSourcesTimeAndAHundredStepsAfterThem) {
  EXPECT_EQ(FieldWatch::quiet_after(200, 600), 900u);
  EXPECT_EQ(FieldWatch::quiet_after(0, 0), 100u);
}

TEST(FieldWatch, NamesTheSamePlaceInWhateverOrderTheFieldIsLookedAt) {
  const FieldPlace order[] = {{NAN, {0, 5, 0}}, {INFINITY, {0, 6, 0}}, {NAN, {1, 0, 0}},
                              {7, {3, 0, 0}},   {7, {3, 0, 1}},        {6, {0, 0, 0}}};
  for (std::size_t a = 0; a < std::size(order); ++a)
    for (std::size_t b = 0; b < std::size(order); ++b)
      EXPECT_EQ(order[a].comes_before(order[b]), a < b) << a << ", " << b;
}

TEST(FieldWatch, SaysWhatWhereWhenAndWhatNext) {
  const auto grows =
      lost_field("elastic: step", "velocities", "m/s", 1234, 5.5, {7.25e3, {10, 20, -30}}, "Do this.");
  EXPECT_STREQ(
      grows.what(),
      "elastic: step: velocities grow beyond all that sources can have made: 7.25e+03 m/s at easting 10, "
      "northing 20, up -30 m, time 5.5 s, after 1234 steps\n         Do this.");
  const auto none = lost_field("heat: step", "temperatures", "K", 60, 1, {NAN, {1, 2, 3}}, "Do this.");
  EXPECT_THAT(none.problem(), testing::StartsWith("temperatures are no numbers any more at easting 1, "));
}

}  // namespace
}  // namespace terrane
