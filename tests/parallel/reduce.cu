// Sums over boxes that ranks share: the bits of one process.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parallel/ranks.hpp"
#include "support/serial_sum.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/parallel/reduce/reduce.hpp"

namespace terrane {
namespace {

TEST(Reduction, HasTheSameBitsOnAnyRanksHoweverTheyShareTheBox) {
  const auto comm = test::ranks();
  const int ranks = comm->size();
  for (const auto& whole :
       {index_box(61, 70, 200), IndexBox<3>{{1, 1, 1}, {60, 69, 199}}, index_box(20, 9, 40)}) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-12, 12);
    std::vector<double> values(static_cast<std::size_t>(whole.count()));
    for (auto& value : values) value = mantissa(random) * std::exp2(exponent(random));
    const View<const double, 3> all(values.data(), whole);
    const double truth =
        test::serial_sum(whole, [&](Index k, Index j, Index i) { return all(k, j, i) * all(k, j, i); });
    double highest = 0;
    for (const double value : values) highest = std::max(highest, std::abs(value));
    for (const auto& pieces :
         {std::array{0, 0, 0}, std::array{ranks, 1, 1}, std::array{1, ranks, 1}, std::array{1, 1, ranks}})
      for (const Index blocks : {1, 4}) {
        const auto partition =
            cut(whole, ranks, CartesianSettings<3>{{4 * blocks, 4 * blocks, 32 * blocks}, pieces});
        const auto mine = partition.part(comm->rank());
        for (const auto device : test::devices_here()) {
          Stream stream(device);
          const Buffer<double> buffer(stream, values);
          Reduction<3> reduce(stream, whole, mine, *comm);
          EXPECT_EQ(reduce.sum(Product<3>{buffer.view(whole), buffer.view(whole)}), truth)
              << to_string(device);
          EXPECT_EQ(reduce.highest(Magnitude<3>{buffer.view(whole)}), highest);
        }
      }
  }
}

TEST(Reduction, RefusesPartsThatAreNotCutAtBlocksOrLeavePointsOut) {
  const auto comm = test::ranks();
  Stream stream({Device::Kind::cpu, -1});
  const auto whole = index_box(40, 40, 64);
  const auto refused = [&](const IndexBox<3>& mine) {
    EXPECT_THROW((Reduction<3>(stream, whole, mine, *comm)), ShapeError);
  };
  refused(comm->rank() == 0 ? whole.with(0, 0, 38) : whole.with(0, 40, 40));
  refused(comm->rank() == 0 ? whole.with(0, 0, 36) : whole.with(0, 40, 40));
  refused(comm->rank() == 0 ? whole.grown(2, 0, 32) : whole.with(0, 40, 40));
  if (comm->size() > 1) refused(comm->rank() < 2 ? whole : whole.with(0, 40, 40));
}

}  // namespace
}  // namespace terrane
