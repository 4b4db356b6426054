// What is stated as the error of a datum, from differences of two meshes.
#include <gtest/gtest.h>

#include <cmath>

#include "terrane/simulation/stated_errors.hpp"

namespace terrane {
namespace {

JudgedData data_of(std::vector<double> difference, bool in_order) {
  const std::size_t count = difference.size();
  return {"datum",
          std::move(difference),
          std::vector<double>(count, 1.0),
          std::vector<std::size_t>(count, 0),
          [](std::size_t n) { return std::to_string(n); },
          in_order};
}

TEST(StatedErrors, OfDifferencesThatCrossZeroAreHalfOfWhatTheirNeighboursHave) {
  const auto errors = StatedErrors{Accuracy{}}.of(data_of({0.02, 0, 0.04, 1e-3, 0.1}, true));
  EXPECT_EQ(errors, (std::vector<double>{0.02, 0.02, 0.04, 0.05, 0.1}));
}

TEST(StatedErrors, WithoutAnOrderAreHalfOfTheMeanOfTheirSource) {
  auto data = data_of({0.02, 0, 0.04, 0.1, 0.0}, false);
  data.source = {0, 0, 0, 1, 1};
  const auto errors = StatedErrors{Accuracy{}}.of(data);
  EXPECT_NEAR(errors[1], 0.5 * std::sqrt((0.02 * 0.02 + 0.04 * 0.04) / 3), 1e-15);
  EXPECT_NEAR(errors[4], 0.05 / std::sqrt(2.0), 1e-15);
}

TEST(StatedErrors, AreNoSmallerThanWhatSolvesLeaveAndNoNumberWhereThereIsNoDifference) {
  auto data = data_of({0, NAN, 0}, true);
  data.least = 3e-5;
  const auto errors = StatedErrors{Accuracy{}}.of(data);
  EXPECT_EQ(errors[0], 3e-5);
  EXPECT_TRUE(std::isnan(errors[1]));
}

TEST(StatedErrors, AreNoSmallerThanWhatAPhysicsKnowsOfEach) {
  auto data = data_of({0.02, 0, 0.04}, false);
  data.of_mean = 0;
  data.floor = {0.03, 0.01, 0.01};
  EXPECT_EQ(StatedErrors{Accuracy{}}.of(data), (std::vector<double>{0.03, 0.01, 0.04}));
  data.of_mean = 1;
  EXPECT_NEAR(StatedErrors{Accuracy{}}.of(data)[1], std::sqrt((0.02 * 0.02 + 0.04 * 0.04) / 3), 1e-15);
}

TEST(StatedErrors, AreNoSmallerThanTheMeanOfThoseAlikeNextToThem) {
  auto data = data_of({0.03, 0.2, 0.001, 0.2, 0.04, NAN}, true);
  data.alike = {0, 1, 0, 2, 0, 0};
  data.source = {0, 1, 2, 3, 4, 5};
  const auto errors = StatedErrors{Accuracy{}}.of(data);
  EXPECT_NEAR(errors[2], std::sqrt((0.03 * 0.03 + 0.04 * 0.04) / 2), 1e-15);
  EXPECT_EQ(errors[0], 0.03);
  EXPECT_EQ(errors[3], 0.2);
}

TEST(StatedErrors, OfWavesAreRefusedWithWhatShowsThem) {
  const auto job =
      Config::parse("[simulation]\nphysics = \"acoustic\"\nverify = \"refine\"\n", "job.toml", ".");
  try {
    refuse_errors_of_waves(job.table("simulation"), "Run again.");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), "job.toml:3: simulation.verify");
    EXPECT_EQ(error.next(), "Run again.");
  }
}

}  // namespace
}  // namespace terrane
