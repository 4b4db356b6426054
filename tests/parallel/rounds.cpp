// Work in fixed parts - here shots - goes in rounds to any number of ranks, and comes back whole.
#include "terrane/simulation/rounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

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
