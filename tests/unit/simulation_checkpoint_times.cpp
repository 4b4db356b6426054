// When runs keep checkpoints, and how ranks come to one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/files.hpp"
#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane {
namespace {

CheckpointSettings always() {
  CheckpointSettings settings;
  settings.file = "run.checkpoint";
  settings.interval = 0;
  return settings;
}

TEST(CheckpointTimes, AreBetweenStepsWhereACheckpointIsWanted) {
  std::vector<std::string> warnings;
  const CheckpointTimes times(always(), 2, 10, warnings);
  EXPECT_TRUE(times.due(3));
  EXPECT_TRUE(times.due(9));
  EXPECT_FALSE(times.due(10)) << "all is done";
  auto unwanted = always();
  unwanted.file.clear();
  EXPECT_FALSE(CheckpointTimes(unwanted, 2, 10, warnings).due(3));
  auto never = always(), never_long = always();
  never.interval = never_long.least_run = CheckpointSettings::never;
  EXPECT_FALSE(CheckpointTimes(never, 2, 10, warnings).due(3));
  EXPECT_FALSE(CheckpointTimes(never_long, 2, 10, warnings).due(3));
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckpointTimes, ComeWhenTheLastIsOldEnough) {
  std::vector<std::string> warnings;
  auto soon = always(), later = always();
  soon.interval = 0.05;
  later.interval = 3600;
  const CheckpointTimes fresh(later, 0, 10, warnings);
  EXPECT_FALSE(fresh.due(1));
  CheckpointTimes times(soon, 0, 10, warnings);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(times.due(1));
  // Time counts from the last one: it is not due at once, unless this machine slept meanwhile.
  const auto before = std::chrono::steady_clock::now();
  times.keep(1, [](const auto&) {});
  const bool due = times.due(2);
  if (std::chrono::steady_clock::now() - before < std::chrono::milliseconds(50)) {
    EXPECT_FALSE(due);
  }
}

TEST(CheckpointTimes, OfARunThatBeginsAfreshTakeAwayWhatAnotherLeftOfTheRunsAfterIt) {
  const testing_support::TemporaryFolder folder;
  auto job = always();
  job.file = folder / "job.checkpoint";
  const auto parts = parts_beside(job.file);
  const auto leave = [&] {
    for (const auto* name : {"1", "2", "3"}) {
      std::filesystem::create_directories(parts / (std::string(name) + ".parts"));
      std::ofstream(parts / name) << "of another job";
    }
  };
  const auto keep = [&](bool resume, std::size_t n) {
    std::vector<std::string> warnings;
    job.resume = resume;
    CheckpointTimes(checkpoint_of_one(job, n, 4), 0, 1, warnings).keep(1, [](const auto& settings) {
      std::ofstream(settings.file) << "of this job";
    });
  };
  leave();
  keep(true, 0);
  for (const auto* name : {"2", "3", "3.parts"}) EXPECT_TRUE(std::filesystem::exists(parts / name)) << name;
  for (const auto* name : {"1", "1.parts"}) std::filesystem::remove_all(parts / name);
  keep(true, 0);  // a short run that kept no file, in a job that resumes
  for (const auto* name : {"2", "3", "3.parts"}) EXPECT_TRUE(std::filesystem::exists(parts / name)) << name;
  keep(false, 0);
  EXPECT_TRUE(std::filesystem::exists(parts / "1"));
  for (const auto* name : {"2", "2.parts", "3", "3.parts"})
    EXPECT_FALSE(std::filesystem::exists(parts / name)) << name;
  leave();
  keep(false, 1);
  for (const auto* name : {"1", "2", "1.parts"}) EXPECT_TRUE(std::filesystem::exists(parts / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(parts / "3"));
}

TEST(CheckpointTimes, AreOfRunsThatTheStepsSoFarShowToBeLong) {
  std::vector<std::string> warnings;
  auto settings = always();
  settings.least_run = 30;
  const CheckpointTimes times(settings, 1000, 1'001'000, warnings);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(times.due(1001)) << "a million steps of 10 ms";
  EXPECT_FALSE(times.due(1'000'000)) << "which took 10 ms as a whole";
  EXPECT_GE(times.seconds(), 0.01);
}

TEST(CheckpointTimes, EndWithOneThatFailed) {
  std::vector<std::string> warnings;
  CheckpointTimes times(always(), 0, 10, warnings);
  std::string file;
  times.keep(0, [&](const auto& settings) { file = settings.file.string(); });
  EXPECT_EQ(file, "run.checkpoint");
  EXPECT_TRUE(times.due(1));
  times.keep(1, [](const auto&) { throw std::runtime_error("the disk is full"); });
  EXPECT_THAT(warnings, testing::ElementsAre("no checkpoint was kept: the disk is full"));
  EXPECT_FALSE(times.due(2));
}

TEST(CheckpointTimes, OfARunThatIsStoppedKeepWhatIsWorthIt) {
  std::vector<std::string> warnings;
  auto hourly = always();
  hourly.interval = 3600;
  CheckpointTimes times(hourly, 0, 10, warnings);
  EXPECT_EQ(times.last_wish(1), Wish::stop) << "it has hardly begun";
  std::this_thread::sleep_for(std::chrono::milliseconds(510));
  EXPECT_FALSE(times.due(1));
  EXPECT_EQ(times.last_wish(0), Wish::stop) << "nothing is done";
  EXPECT_EQ(times.last_wish(1), Wish::keep_and_stop);
  Alone alone;
  int kept = 0;
  EXPECT_FALSE(go_on(alone, times.last_wish(1), [&] { ++kept; }));
  EXPECT_EQ(kept, 1);
  EXPECT_FALSE(go_on(alone, Wish::stop, [&] { ++kept; }));
  EXPECT_EQ(kept, 1);
}

TEST(CheckpointTimes, OfARankAloneAreItsWish) {
  Alone alone;
  int kept = 0;
  const auto keep = [&] { ++kept; };
  EXPECT_TRUE(go_on(alone, Wish::go_on, keep));
  EXPECT_EQ(kept, 0);
  EXPECT_TRUE(go_on(alone, Wish::keep, keep));
  EXPECT_EQ(kept, 1);
  EXPECT_FALSE(go_on(alone, Wish::stop, keep));
  EXPECT_EQ(kept, 1);
}

}  // namespace
}  // namespace terrane
