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

}  // namespace
}  // namespace terrane
