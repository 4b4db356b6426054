// Ranks tell each other things, and agree when one of them fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "parallel/ranks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/comm/groups.hpp"
#include "terrane/simulation/serve.hpp"

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

/// What rank `from` tells rank `to`.
std::vector<double> words(int from, int to, std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1000.0 * from + 100.0 * to);
  return values;
}

TEST(Comm, BringsLargeMessagesToRanksThatAllSendFirst) {
  for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{100'000}}) {
    const auto comm = test::ranks(test::Order::as_started, piece);
    const int next = (comm->rank() + 1) % comm->size(),
              last = (comm->rank() + comm->size() - 1) % comm->size();
    for (const std::size_t count : {0U, 1U, 1'000'000U}) {
      const auto out = words(comm->rank(), next, count);
      std::vector<double> in(count);
      comm->exchange(std::as_bytes(std::span(out)), next, std::as_writable_bytes(std::span(in)), last);
      EXPECT_EQ(in, words(last, comm->rank(), count));
    }
  }
}

TEST(Comm, KeepsMessagesOfSeveralTagsApartWhateverTheirOrder) {
  const auto comm = test::ranks();
  const auto ranks = static_cast<std::size_t>(comm->size());
  constexpr int tags = 3;
  std::vector<std::vector<double>> in(ranks * tags, std::vector<double>(1000)), out(ranks * tags);
  std::vector<Message> messages;
  const auto at = [](int rank, int tag) { return static_cast<std::size_t>(rank * tags + tag); };
  for (int r = 0; r < comm->size(); ++r)
    for (int tag = 0; tag < tags; ++tag)
      messages.push_back(comm->irecv(std::as_writable_bytes(std::span(in[at(r, tag)])), r, tag));
  for (int r = comm->size() - 1; r >= 0; --r)
    for (int tag = tags - 1; tag >= 0; --tag) {
      out[at(r, tag)] = words(comm->rank() + 7 * tag, r, 1000);
      messages.push_back(comm->isend(std::as_bytes(std::span(out[at(r, tag)])), r, tag));
    }
  wait_all(messages);
  for (auto& message : messages) EXPECT_TRUE(message.done());
  for (int r = 0; r < comm->size(); ++r)
    for (int tag = 0; tag < tags; ++tag) EXPECT_EQ(in[at(r, tag)], words(r + 7 * tag, comm->rank(), 1000));
}

TEST(Comm, AddsUpAndFindsTheHighest) {
  const auto comm = test::ranks();
  const int n = comm->size();
  std::vector<double> values{1.0, static_cast<double>(comm->rank()), -0.5};
  comm->sum(values);
  EXPECT_EQ(values, (std::vector<double>{1.0 * n, 0.5 * n * (n - 1), -0.5 * n}));
  EXPECT_EQ(comm->sum(std::int64_t{1} << 60 | comm->rank()), n * (std::int64_t{1} << 60) + n * (n - 1) / 2);
  EXPECT_EQ(comm->highest(-5.0 - comm->rank()), -5.0);
  EXPECT_TRUE(std::isnan(comm->highest(comm->rank() == n - 1 ? std::nan("") : 3.0)));
}

TEST(Comm, GathersFromEachRankAsMuchAsItHas) {
  const auto comm = test::ranks(test::Order::reversed);
  const int root = comm->size() - 1;
  const auto mine = words(comm->rank(), root, static_cast<std::size_t>(10 * comm->rank()));
  const auto all = comm->gather(std::as_bytes(std::span(mine)), root);
  ASSERT_EQ(all.size(), comm->rank() == root ? static_cast<std::size_t>(comm->size()) : 0U);
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto wanted = words(static_cast<int>(r), root, 10 * r);
    EXPECT_TRUE(std::ranges::equal(all[r], std::as_bytes(std::span(wanted))));
  }
}

TEST(Comm, IsSplitIntoPartsThatTalkAmongThemselves) {
  const auto comm = test::ranks();
  const int colour = comm->rank() == 1 ? -1 : comm->rank() % 2;
  const auto part = comm->split(colour, -comm->rank());
  if (comm->rank() == 1) {
    EXPECT_EQ(part, nullptr);
    return;
  }
  std::vector<double> sum{static_cast<double>(comm->rank()), 1.0};
  part->sum(sum);
  double ranks = 0, count = 0;
  for (int r = 0; r < comm->size(); ++r)
    if (r != 1 && r % 2 == colour) {
      ranks += r;
      ++count;
    }
  EXPECT_EQ(sum, (std::vector<double>{ranks, count}));
  EXPECT_EQ(part->size(), static_cast<int>(count));
  // The highest rank of the whole is rank 0 of its part.
  int first = comm->rank();
  part->broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
  EXPECT_GE(first, comm->rank());
  EXPECT_EQ(part->rank() == 0, first == comm->rank());
}

TEST(Alone, SendsToItselfAndSaysWhenNobodyWillAnswer) {
  Alone alone;
  Comm& comm = alone;
  const auto out = words(0, 0, 100);
  std::vector<double> in(100), late(100);
  auto sends = comm.isend(std::as_bytes(std::span(out)), 0);
  auto other = comm.irecv(std::as_writable_bytes(std::span(late)), 0, 1);
  EXPECT_FALSE(other.done());
  EXPECT_THROW(other.wait(), Error);
  comm.irecv(std::as_writable_bytes(std::span(in)), 0).wait();
  EXPECT_TRUE(sends.done());
  EXPECT_EQ(in, out);
  comm.isend(std::as_bytes(std::span(out)), 0, 1).wait();
  EXPECT_TRUE(other.done());
  EXPECT_EQ(late, out);
  EXPECT_EQ(comm.gather(std::as_bytes(std::span(out)), 0).size(), 1U);
  const std::span<const std::byte> no_bytes;
  const std::vector<std::vector<std::byte>> nothing_of_one_rank(1);
  EXPECT_EQ(comm.gather(no_bytes, 0), nothing_of_one_rank);
  EXPECT_EQ(comm.highest(2.5), 2.5);
  EXPECT_EQ(comm.split(0, 0)->size(), 1);
  EXPECT_THROW(comm.isend(std::as_bytes(std::span(out)), 1), UnsupportedError);
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

TEST(Groups, AnErrorThatAllShareKeepsItsClassAndOneOfARankAloneEndsThem) {
  const auto comm = test::ranks();
  const bool last = comm->rank() == comm->size() - 1;
  for (const int count : {0, 1}) {
    const Groups groups(*comm, 100, count);
    EXPECT_EQ(groups.run([] { return 7; }), 7);
    EXPECT_THROW(groups.run([&] {
      groups.together([&] {
        if (last) throw InputError("a", "b");
      });
    }),
                 InputError);
    EXPECT_THROW(groups.run([] { throw Cancelled(); }), Cancelled);  // as all found out by another way
    // After a step that went well.
    const auto alone = [&] {
      groups.run([&] {
        groups.in_step([] {});
        if (last) throw MemoryError("a", "b");
      });
    };
    if (!last) EXPECT_NO_THROW(alone());
    else if (comm->size() == 1) EXPECT_THROW(alone(), MemoryError);
    else EXPECT_THROW(alone(), OutOfStep);
  }
  // Before there are groups.
  const auto counts = [&]() -> std::size_t {
    if (last) throw MemoryError("a", "b");
    return 100;
  };
  EXPECT_THROW(Groups(*comm, counts, 0), MemoryError);
}

TEST(Serve, AnErrorOfARankAloneIsOutOfStepAndOneOfAllIsLeftToRankZero) {
  const auto comm = test::ranks();
  const bool last = comm->rank() == comm->size() - 1;
  EXPECT_TRUE(serve_in_step(*comm, [] {}));
  EXPECT_FALSE(serve_in_step(*comm, [&] {
    together(*comm, [&] {
      if (last) throw InputError("a", "b");
    });
  }));
  EXPECT_FALSE(serve_in_step(*comm, [] { throw Cancelled(); }));  // as all found out by another way
  // One of before does not count.
  const auto alone = [&] {
    serve_in_step(*comm, [&] {
      together(*comm, [] {});
      if (last) throw MemoryError("a", "b");
    });
  };
  if (!last || comm->size() == 1) EXPECT_NO_THROW(alone());
  else EXPECT_THROW(alone(), OutOfStep);
  // Of some of the ranks.
  if (comm->size() < 3) return;
  const auto some = comm->split(last ? 0 : 1, 0);
  const auto of_some = [&] {
    serve_in_step(*comm, [&] {
      together(*some, [&] {
        if (!last) throw MemoryError("a", "b");
      });
    });
  };
  if (last) EXPECT_NO_THROW(of_some());
  else EXPECT_THROW(of_some(), OutOfStep);
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
