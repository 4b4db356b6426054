// Every row of the quad-precision reference, through forward() and so through the packed kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "support/prism_reference.hpp"
#include "terrane/physics/gravity/forward.hpp"

namespace terrane::gravity {
namespace {

std::array<double, 10> all_ten(const Prism& p, const double (&at)[3], double accuracy) {
  const double one = 1.0;
  Prisms prisms{{&p.west, 1},   {&p.east, 1}, {&p.south, 1}, {&p.north, 1},
                {&p.bottom, 1}, {&p.top, 1},  {&one, 1}};
  Stations stations{{&at[0], 1}, {&at[1], 1}, {&at[2], 1}};
  std::array<double, 10> values{};
  Fields out{ChannelSet::all(), {}, {}};
  for (double& v : values) out.values.push_back({&v, 1});
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = accuracy;
  parameters.singular = SingularPolicy::mean;
  forward(prisms, stations, parameters, out);
  return values;
}

TEST(PrismGravity, BestKeepsTwoInTenToTheFifteenUpToAspectTen) {
  int rows = 0;
  for (const auto& row : test::reference_rows()) {
    if (row.aspect() > 10) continue;
    const auto error = test::normwise_error(row, all_ten(row.prism, row.station, best_accuracy));
    EXPECT_LE(error.largest(), 2e-15)
        << row.kind << ": V " << error.v << " g " << error.g << " gradient " << error.gradient;
    ++rows;
  }
  EXPECT_GT(rows, 550);
}

TEST(PrismGravity, DefaultKeepsOneInTenToTheTwelveForEveryShape) {
  int rows = 0;
  for (const auto& row : test::reference_rows()) {
    const auto error = test::normwise_error(row, all_ten(row.prism, row.station, 1e-12));
    EXPECT_LE(error.largest(), 1e-12)
        << row.kind << ": V " << error.v << " g " << error.g << " gradient " << error.gradient;
    ++rows;
  }
  EXPECT_EQ(rows, 956);
}

}  // namespace
}  // namespace terrane::gravity
