// Work in fixed parts - here shots - goes in rounds to any number of ranks, and comes back whole.
#include "terrane/simulation/rounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "parallel/ranks.hpp"
#include "terrane/base/error.hpp"

namespace terrane {
namespace {

/// A number for each shot, computed by one of the ranks.
class Shots final : public RoundWork {
 public:
  Shots(const Comm& comm, std::size_t shots) : comm_(comm), all(shots, -1.0), times(shots) {}

  std::size_t parts() const override { return all.size(); }
  void compute(const Range& round, Progress& progress) override {
    rounds.push_back(round);
    found_.clear();
    for (auto shot = round.first + static_cast<std::size_t>(comm_.rank()); shot < round.last;
         shot += static_cast<std::size_t>(comm_.size())) {
      if (shot == fails) throw MemoryError("shots", fmt::format("shot {} is too large", shot), "Buy memory.");
      found_.push_back({shot, 1.0 / static_cast<double>(shot + 1)});
      progress.advance(steps_per_part);
    }
  }
  void hand_over(Comm& comm, const Range&) override {
    wait_for_turn(comm);
    Packet packet;
    packet.put(found_);
    packet.send(comm, 0);
  }
  void take_own(const Range&) override { put(found_); }
  void take(Comm& comm, int rank, const Range&) override {
    put(Packet::receive(comm, rank).get_vector<Found>());
  }
  bool tells_pace() const override { return tells; }
  void finish(const Range& round) override { EXPECT_EQ(round, rounds.back()); }

  const Comm& comm_;
  std::vector<double> all;
  std::vector<int> times;
  std::vector<Range> rounds;
  std::size_t fails = std::string::npos;
  bool tells = true;

 private:
  struct Found {
    std::size_t shot;
    double value;
  };
  void put(const std::vector<Found>& some) {
    for (const auto& [shot, value] : some) {
      all[shot] = value;
      ++times[shot];
    }
  }
  std::vector<Found> found_;
};

constexpr double never = 1e300;

/// Every rank's side of the rounds.
void run(Comm& comm, Shots& shots, const RoundSettings& settings,
         const std::function<void(std::size_t)>& after_round) {
  InStep::run(comm, [&](InStep& ranks) {
    Progress silent;
    if (comm.rank() == 0) lead_rounds(ranks, shots, settings, silent, after_round);
    else follow_rounds(ranks, shots);
  });
}

TEST(Rounds, GiveMoreToRanksThatAreQuicker) {
  const std::vector<double> even{0.25, 0.25, 0.25, 0.25};
  // A rank at 0.8 of the others' speed took a quarter longer.
  const auto next = next_shares(even, std::vector<double>{10, 12.5, 10, 10}, 400);
  EXPECT_NEAR(next[1] / next[0], 0.8, 1e-12);
  EXPECT_NEAR(std::accumulate(next.begin(), next.end(), 0.0), 1, 1e-12);
  // Then all take as long, and nothing changes.
  const auto settled = next_shares(next, std::vector<double>{9.5, 9.5, 9.5, 9.5}, 400);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_NEAR(settled[r], next[r], 1e-12);
  // Too short to tell; and no rank is left without work by one slow round.
  EXPECT_EQ(next_shares(next, std::vector<double>{0.01, 0.09, 5, 5}, 400), even);
  EXPECT_EQ(next_shares(next, std::vector<double>{10, 12.5, 10, 10}, 40), even);  // ten parts are not 9.6
  const auto slow = next_shares(even, std::vector<double>{1, 1, 1, 100}, 400);
  EXPECT_GT(slow[3], 0.25 / 1.5 / 1.5);  // of shares that grow by half at most
}

TEST(Rounds, TellEveryRankTheSameShares) {
  const auto comm = test::ranks();
  class Told final : public RoundWork {
   public:
    explicit Told(const Comm& comm) : comm_(comm) {}
    std::size_t parts() const override { return 600; }
    void set_shares(std::span<const double> shares) override {
      all.emplace_back(shares.begin(), shares.end());
    }
    void compute(const Range&, Progress&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(comm_.rank() == 0 ? 300 : 120));
    }
    void hand_over(Comm&, const Range&) override { wait_for_turn(const_cast<Comm&>(comm_)); }
    void take_own(const Range&) override {}
    void take(Comm&, int, const Range&) override {}
    void finish(const Range&) override {}
    bool tells_pace() const override { return false; }
    std::vector<std::vector<double>> all;

   private:
    const Comm& comm_;
  } work(*comm);
  InStep::run(*comm, [&](InStep& ranks) {
    Progress silent;
    if (comm->rank() == 0) lead_rounds(ranks, work, {"told", 0, 1, 60, 1e300, 20}, silent, [](auto) {});
    else follow_rounds(ranks, work);
  });
  ASSERT_EQ(work.all.size(), 3);
  for (const auto& shares : work.all) {
    std::vector<double> first(comm->rank() == 0 ? shares : std::vector<double>(shares.size()));
    comm->broadcast(std::as_writable_bytes(std::span(first)), 0);
    EXPECT_EQ(shares, first);
    ASSERT_EQ(shares.size(), static_cast<std::size_t>(comm->size()));
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
  }
  if (comm->size() > 1) {
    EXPECT_LT(work.all.back()[0], work.all.back()[1]);  // rank 0 was slow
  }
}

TEST(Rounds, DoEveryShotOnceOnAnyNumberOfRanks) {
  const auto comm = test::ranks();
  for (const std::size_t count : {0U, 1U, 7U, 64U}) {
    Shots shots(*comm, count);
    std::vector<std::size_t> done;
    // Expected to take 16 rounds of ten seconds.
    run(*comm, shots, {"shots", 0, 2, 160, never}, [&](std::size_t n) { done.push_back(n); });
    if (comm->rank() != 0) continue;
    for (std::size_t n = 0; n < count; ++n) {
      EXPECT_EQ(shots.all[n], 1.0 / static_cast<double>(n + 1));
      EXPECT_EQ(shots.times[n], 1);
    }
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.empty() ? 0 : done.back(), count);
    if (count == 64) {
      EXPECT_EQ(shots.rounds.front(), (Range{0, 4})) << "a sixteenth";
    }
    if (count == 7) {
      EXPECT_EQ(shots.rounds.front(), (Range{0, 2})) << "as few as are worth it";
    }
  }
}

TEST(Rounds, GoOnWhereACheckpointEnds) {
  const auto comm = test::ranks();
  Shots shots(*comm, 40);
  run(*comm, shots, {"shots", 25, 1, 0, never}, [](std::size_t) {});
  EXPECT_EQ(shots.rounds, std::vector<Range>({{25, 40}}));
  if (comm->rank() == 0) {
    EXPECT_EQ(shots.all[24], -1.0);
    EXPECT_EQ(shots.all[25], 1.0 / 26);
  }
}

TEST(Rounds, ThatFindTheirPartsDoneTeachNothingAboutTheNext) {
  const auto comm = test::ranks();
  for (const bool tells : {true, false}) {
    Shots shots(*comm, 64);
    shots.tells = tells;
    run(*comm, shots, {"shots", 0, 2, 160, never}, [](std::size_t) {});
    if (comm->rank() != 0) continue;
    if (tells) EXPECT_EQ(shots.rounds.size(), 3U) << "4, 16, and what is left";
    else EXPECT_EQ(shots.rounds.size(), 16U);
  }
}

TEST(Rounds, ThatFailOnOneRankEndOnAllAndRankZeroSaysWhy) {
  const auto comm = test::ranks();
  Shots shots(*comm, 40);
  shots.fails = 39;  // on the last rank or another
  std::string said;
  try {
    run(*comm, shots, {"shots", 0, 1, 0, never}, [](std::size_t) {});
  } catch (const MemoryError& error) {
    said = error.problem();
  }
  if (comm->rank() == 0) EXPECT_NE(said.find("shot 39 is too large"), std::string::npos) << said;
  else EXPECT_EQ(said, "");
}

TEST(Rounds, AreCutShortByWhomeverWatchesTheProgress) {
  struct Impatient : Progress {
    bool cancelled() const override { return true; }
  } impatient;
  const auto comm = test::ranks();
  Shots shots(*comm, 10);
  bool cancelled = false;
  try {
    InStep::run(*comm, [&](InStep& ranks) {
      if (comm->rank() == 0)
        lead_rounds(ranks, shots, {"shots", 0, 1, 0, never}, impatient, [](std::size_t) {});
      else follow_rounds(ranks, shots);
    });
  } catch (const Cancelled&) {
    cancelled = true;
  }
  EXPECT_EQ(cancelled, comm->rank() == 0);
}

}  // namespace
}  // namespace terrane
