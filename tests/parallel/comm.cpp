// Ranks tell each other things, and agree when one of them fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <new>
#include <numeric>

#include "parallel/ranks.hpp"
#include "terrane/base/error.hpp"

namespace terrane {
namespace {

TEST(Comm, GivesEveryRankItsPlaceOnTheNode) {
  for (const auto order : {test::Order::as_started, test::Order::reversed, test::Order::odd_ones_first}) {
    const auto comm = test::ranks(order);
    const auto place = comm->on_node();  // here all are on one node
    EXPECT_EQ(place.count, comm->size());
    EXPECT_EQ(place.index, comm->rank());
  }
}

TEST(Comm, BroadcastsAndSendsPacketsInPiecesOfAnySize) {
  for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{1000}, std::size_t{7}}) {
    const auto comm = test::ranks(test::Order::as_started, piece);
    for (const std::size_t count : {0U, 1U, 125U, 1001U}) {
      std::vector<double> values(count);
      std::iota(values.begin(), values.end(), 0.5);
      Packet packet;
      const int root = comm->size() - 1;
      if (comm->rank() == root) {
        packet.put(std::string("values"));
        packet.put(values);
        packet.put(42);
      }
      packet.broadcast(*comm, root);
      EXPECT_EQ(packet.get<std::string>(), "values");
      EXPECT_EQ(packet.get_vector<double>(), values);
      EXPECT_EQ(packet.get<int>(), 42);
      EXPECT_TRUE(packet.empty());

      // Round a ring, from rank 0 and back to it.
      const int next = (comm->rank() + 1) % comm->size(),
                last = (comm->rank() + comm->size() - 1) % comm->size();
      if (comm->size() == 1) continue;
      if (comm->rank() == 0) {
        Packet out;
        out.put(values);
        out.send(*comm, next);
      }
      auto in = Packet::receive(*comm, last);
      EXPECT_EQ(in.get_vector<double>(), values);
      Packet on;
      on.put(values);
      if (comm->rank() != 0) on.send(*comm, next);
    }
  }
}

TEST(Packet, ThatIsTooShortSaysSo) {
  Packet packet;
  packet.put(std::size_t{1000});
  EXPECT_THROW(packet.get_vector<double>(), ShapeError);
}

TEST(Comm, FindsTheLowestValue) {
  const auto comm = test::ranks();
  EXPECT_EQ(comm->lowest(100 - comm->rank()), 101 - comm->size());
}

TEST(Together, NobodyThrowsWhenNobodyFails) {
  const auto comm = test::ranks();
  int done = 0;
  together(*comm, [&] { ++done; });
  EXPECT_EQ(done, 1);
}

TEST(Together, EveryRankThrowsTheErrorOfTheLowestThatFailed) {
  const auto comm = test::ranks();
  for (int lowest = 0; lowest < comm->size(); ++lowest) {
    try {
      together(*comm, [&] {
        if (comm->rank() >= lowest)
          throw FileError(fmt::format("file of {}", comm->rank()), "is gone", "Look for it.");
      });
      FAIL() << "rank " << comm->rank() << " did not learn of the failure";
    } catch (const FileError& error) {
      const std::string where = fmt::format("file of {}", lowest);
      EXPECT_EQ(error.where(), comm->size() == 1 ? where : fmt::format("rank {}: {}", lowest, where));
      EXPECT_EQ(error.problem(), "is gone");
      EXPECT_EQ(error.next(), "Look for it.");
    }
  }
}

/// The last rank throws `error`; every rank must throw a `Wanted`.
template <class Wanted, class Thrown>
void expect_class(const Thrown& error) {
  const auto comm = test::ranks();
  EXPECT_THROW(together(*comm,
                        [&] {
                          if (comm->rank() == comm->size() - 1) throw error;
                        }),
               Wanted);
}

TEST(Together, KeepsTheClassOfAnError) {
  expect_class<InputError>(InputError("a", "b"));
  expect_class<ShapeError>(ShapeError("a", "b"));
  expect_class<MemoryError>(MemoryError("a", "b"));
  expect_class<UnsupportedError>(UnsupportedError("a", "b"));
  expect_class<Cancelled>(Cancelled());
  expect_class<Error>(Error("a", "b"));
  expect_class<std::runtime_error>(std::runtime_error("unheard of"));
}

TEST(Together, MakesAMemoryErrorOfABadAllocationElsewhere) {
  const auto comm = test::ranks();
  if (comm->size() == 1) return;
  expect_class<MemoryError>(std::bad_alloc());
}

}  // namespace
}  // namespace terrane
