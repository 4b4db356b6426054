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

/// Two numbers of each point.
struct Both {
  View<const double, 3> all;
  TERRANE_FN Several<2> operator()(Index k, Index j, Index i) const {
    return {{all(k, j, i), all(k, j, i) * all(k, j, i)}};
  }
};

struct CopyNumbers {
  const double* from;
  double* to;
  TERRANE_FN void operator()(std::size_t n) const { to[n] = from[n]; }
};

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

// As solvers on GPUs that reach each other's memory do, with messages in place of that.
TEST(Reduction, WhoseCellsStayOnDevicesHasTheBitsOfTheHost) {
  const auto comm = test::ranks();
  for (const auto& whole :
       {index_box(61, 70, 200), IndexBox<3>{{1, 1, 1}, {30, 9, 70}}, index_box(3, 4, 20)}) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(whole.count()));
    for (auto& value : values) value = normal(random);
    // The last box is one block: one rank has all of it.
    const auto partition = cut(whole, comm->size(), CartesianSettings<3>{{4, 4, 32}, {comm->size(), 1, 1}});
    for (const auto device : test::devices_here()) {
      Stream stream(device);
      const Buffer<double> buffer(stream, values);
      Reduction<3> reduce(stream, whole, partition.part(comm->rank()), *comm, 2);
      const Both kernel{buffer.view(whole)};
      const auto truth = reduce.sums<2>(kernel);

      const auto all = reduce.cells_of_all();
      const auto numbers = static_cast<std::size_t>(2 * all.count());
      const auto own = static_cast<std::size_t>(2 * reduce.cells_of_rank(comm->rank()).count());
      Buffer<double> room(device, numbers);
      for_each(stream, own, CopyNumbers{reduce.sums_of_cells<2>(kernel), room.view().data});
      std::vector<double> mine(numbers), of_ranks(numbers * static_cast<std::size_t>(comm->size()));
      room.download(stream, std::span(mine));
      comm->gather_all(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(of_ranks)));
      std::vector<double> in_order(numbers);
      for (int rank = 0; rank < comm->size(); ++rank) {
        const auto cells = reduce.cells_of_rank(rank);
        for (Index n = 0; n < cells.count(); ++n)
          for (Index m = 0; m < 2; ++m)
            in_order[static_cast<std::size_t>(2 * detail::number_of<3>(detail::place_of<3>(n, cells), all) +
                                              m)] =
                of_ranks[static_cast<std::size_t>(rank) * numbers + static_cast<std::size_t>(2 * n + m)];
      }
      const Buffer<double> brought(stream, in_order);
      Buffer<double> sums(device, 2);
      for_each(stream, numbers, CopyNumbers{brought.view().data, reduce.room_of_all()});
      reduce.add_all_to<2>(sums.view().data);
      std::array<double, 2> found{};
      sums.download(stream, std::span(found));
      EXPECT_EQ(found, truth) << to_string(device) << ", " << whole.count() << " points";
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
