// A few stations stand for all.
#include <gtest/gtest.h>

#include "terrane/math/sample.hpp"

namespace terrane {
namespace {

TEST(EvenlySpread, TakesTheMiddlesOfEqualPartsAndAllWhereThereAreFewer) {
  EXPECT_EQ(evenly_spread(4, 100), (std::vector<std::size_t>{12, 37, 62, 87}));
  EXPECT_EQ(evenly_spread(1, 7), (std::vector<std::size_t>{3}));
  EXPECT_EQ(evenly_spread(9, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(evenly_spread(0, 5).empty());
  EXPECT_TRUE(evenly_spread(5, 0).empty());
}

}  // namespace
}  // namespace terrane
