// Runs over several shots: checkpoints, data that are given, jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <tuple>

#include "support/acoustic_box.hpp"
#include "support/fields.hpp"
#include "support/files.hpp"
#include "support/heap.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/physics/acoustic/filters.hpp"
#include "terrane/physics/acoustic/host_memory.hpp"
#include "terrane/physics/acoustic/image/records.hpp"
#include "terrane/physics/acoustic/march/tap_nodes.hpp"
#include "terrane/physics/acoustic/observed.hpp"
#include "terrane/physics/acoustic/shot_files.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

namespace terrane::acoustic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

Problem four_shots() {
  auto p = test::rough_box({27, 1, 30}, 0.2);
  const auto receivers = p.shots[0].receivers;
  p.shots.clear();
  for (int n = 0; n < 4; ++n) p.shots.push_back({{{40.0 + 53 * n, 0, 112.7}}, receivers});
  p.settle();
  return p;
}

Runtime on_cpu() {
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  return runtime;
}

Settings migration(const Problem& p) {
  Settings settings;
  settings.task = Task::migration;
  settings.keeping = Keeping::store;
  settings.lags = 1;
  settings.change = test::Chance(8).list(p.velocity.size());
  for (double& m : settings.change.own()) m *= 2e-9;
  return settings;
}

/// Stops a run after two shots and a half.
class Stops final : public Progress {
 public:
  void advance(std::uint64_t amount) override { done_ += amount; }
  bool cancelled() const override { return done_ > 2560; }

 private:
  std::uint64_t done_ = 0;
};

TEST(AcousticRun, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  const auto p = four_shots();
  test::expect_every_field_travels_and_is_in_the_fingerprint(p);
  test::expect_every_field_travels_and_is_in_the_fingerprint(migration(p));
}

TEST(AcousticWatch, StopsRunsWhosePressuresGrowOrAreNoNumbers) {
  auto good = four_shots();
  good.end = 0.6;
  good.settle();
  auto fast = good;
  fast.step *= 1.3, fast.end = 2000 * fast.step;
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    Runtime runtime;
    runtime.device.kind = kind;
    for (const auto task : {Task::modelling, Task::born, Task::migration}) {
      auto settings = migration(good);
      settings.task = task;
      EXPECT_THAT(
          message([&] { run_shots(fast, settings, runtime); }),
          AllOf(HasSubstr("acoustic: step: pressures"), HasSubstr("easting"), HasSubstr("shorter step")));
      EXPECT_EQ(run_shots(good, settings, runtime).gathers.size(), 4u);
    }
  }
  // What receivers send back is no number in step 100 of 2000 or so.
  Stream stream(Device{Device::Kind::cpu, -1}, false, 0);
  Alone alone;
  Engine<float> engine(good, stream, alone);
  auto data = engine.model(good.shots[0], good.source_series());
  data[data.size() - 3 * 100] = NAN;
  const auto said =
      message([&] { engine.adjoint(good.shots[0], good.source_series(), data, Keeping::store); });
  ASSERT_THAT(said, HasSubstr("no numbers any more"));
  const auto steps = std::stoul(said.substr(said.find("after ") + 6));
  EXPECT_GE(steps, 98u);
  EXPECT_LE(steps, 200u);
}

TEST(AcousticRun, AStoppedRunGoesOnWithTheSameBits) {
  const testing_support::TemporaryFolder folder;
  const auto p = four_shots();
  const auto settings = migration(p);
  const auto whole = run_shots(p, settings, on_cpu());
  auto runtime = on_cpu();
  runtime.checkpoint = {folder / "run.checkpoint", 0, 0, false};
  Stops user;
  runtime.progress = &user;
  EXPECT_THROW(run_shots(p, settings, runtime), Cancelled);
  runtime.progress = nullptr;
  runtime.checkpoint.resume = true;
  const auto resumed = run_shots(p, settings, runtime);
  EXPECT_EQ(resumed.first_shot, 2U);
  EXPECT_EQ(resumed.gathers, whole.gathers);
  EXPECT_EQ(resumed.images.kernel, whole.images.kernel);
  EXPECT_EQ(resumed.images.correlation, whole.images.correlation);
  EXPECT_EQ(resumed.images.at_lags, whole.images.at_lags);
  auto other = p;
  other.velocity[5] *= 1.01;
  EXPECT_THAT(message([&] { run_shots(other, settings, runtime); }), HasSubstr("was made for other medium"));
}

TEST(AcousticRun, ShotsThatOtherRanksFinishedBeforeARunWasKilledAreNotDoneAgain) {
  const testing_support::TemporaryFolder folder;
  const auto p = four_shots();
  const auto settings = migration(p);
  const auto whole = run_shots(p, settings, on_cpu());
  auto only = p;
  only.shots = {p.shots[2]};
  const auto third = run_shots(only, settings, on_cpu());
  auto runtime = on_cpu();
  runtime.checkpoint = {folder / "run.checkpoint", 0, 0, true};
  const std::filesystem::path kept = folder / "run.checkpoint.parts/shot-3";
  const ShotResult of_third{third.gathers[0], third.images, false, {}};
  ShotFiles files(runtime.checkpoint, p, settings, 3);
  EXPECT_THAT(files.keep(2, of_third, 1), HasSubstr("is no folder of all machines"));
  ShotFiles::make_folder(runtime.checkpoint, 1);
  EXPECT_FALSE(std::filesystem::exists(kept.parent_path())) << "one process has the checkpoint";
  ShotFiles::make_folder(runtime.checkpoint, 3);
  EXPECT_EQ(ShotFiles(runtime.checkpoint, p, settings, 1).keep(2, of_third, 1), "");
  ASSERT_FALSE(std::filesystem::exists(kept));
  EXPECT_EQ(ShotFiles(runtime.checkpoint, p, settings, 3).keep(2, of_third, 1), "");
  ASSERT_TRUE(std::filesystem::exists(kept));
  const auto expect_whole = [&](std::size_t shots_kept, const char* warning) {
    const auto found = run_shots(p, settings, runtime);
    if (*warning == 0) EXPECT_TRUE(found.warnings.empty());
    else EXPECT_THAT(found.warnings, testing::ElementsAre(HasSubstr(warning)));
    EXPECT_EQ(found.shots_kept, shots_kept);
    EXPECT_EQ(found.gathers, whole.gathers);
    EXPECT_EQ(found.images.kernel, whole.images.kernel);
    EXPECT_EQ(found.images.at_lags, whole.images.at_lags);
  };
  expect_whole(1, "");
  EXPECT_FALSE(std::filesystem::exists(kept.parent_path())) << "the checkpoint has it";
  const auto forget = [&] {
    std::filesystem::remove(folder / "run.checkpoint");
    std::filesystem::remove_all(folder / "run.checkpoint.parts");
  };
  forget();
  // Of another run, or damaged: as none.
  auto other = p;
  other.velocity[5] *= 1.01;
  ShotFiles::make_folder(runtime.checkpoint, 3);
  ShotFiles(runtime.checkpoint, other, settings, 3).keep(2, of_third, 1);
  ASSERT_TRUE(std::filesystem::exists(kept));
  expect_whole(0, "shot-3 was made for other medium): such are computed again");
  forget();
  std::filesystem::create_directories(folder / "run.checkpoint.parts");
  std::ofstream(kept) << "cut off";
  expect_whole(0, "parts holds shots that do not fit");
  // Shots of which the checkpoint loses little are left to it, and those that take long to write.
  ShotFiles::make_folder(runtime.checkpoint, 3);
  ASSERT_FALSE(std::filesystem::exists(kept));
  auto often = runtime.checkpoint;
  often.interval = 300;
  ShotFiles(often, p, settings, 3).keep(2, of_third, 2);
  auto large = of_third;
  large.images.at_lags.resize(8'000'000);
  ShotFiles(often, p, settings, 3).keep(2, large, 11);
  EXPECT_FALSE(std::filesystem::exists(kept));
  ShotFiles rank(often, p, settings, 3);
  rank.keep(2, of_third, 11);
  EXPECT_TRUE(std::filesystem::exists(kept));
  // After an error a rank keeps none, and takes its own away.
  std::filesystem::create_directories(kept.parent_path() / "shot-4/in the way");
  EXPECT_NE(rank.keep(3, of_third, 11), "");
  EXPECT_FALSE(std::filesystem::exists(kept));
  EXPECT_EQ(rank.keep(2, of_third, 11), "");
  EXPECT_FALSE(std::filesystem::exists(kept));
}

TEST(AcousticRun, AFolderOfShotsWithoutAnyIsNothingToGoOnFrom) {
  const testing_support::TemporaryFolder folder;
  const std::filesystem::path checkpoint = folder / "run.checkpoint";
  std::filesystem::create_directories(parts_beside(checkpoint));
  EXPECT_EQ(left_of(checkpoint), "");
  std::ofstream(parts_beside(checkpoint) / "shot-1") << "something";
  EXPECT_EQ(left_of(checkpoint), parts_beside(checkpoint));
  std::ofstream(checkpoint) << "something";
  EXPECT_EQ(left_of(checkpoint), checkpoint);
}

TEST(AcousticRun, DataThatAreGivenMakeTheImageOfThoseThatAreMadeHere) {
  auto p = four_shots();
  p.exact_time = false;  // or the data pass through both transforms
  auto settings = migration(p);
  const auto made = run_shots(p, settings, on_cpu());
  for (const auto& gather : made.gathers) settings.data.own().emplace_back(gather.begin(), gather.end());
  const auto given = run_shots(p, settings, on_cpu());
  EXPECT_EQ(given.images.kernel, made.images.kernel);
  EXPECT_EQ(given.images.illumination, made.images.illumination);
}

constexpr const char* job = R"(
[mesh]
kind = "regular"
box = [0, 600, -5, 5, -400, 0]
shape = [60, 1, 40]
[[model.body]]
kind = "layer"
bottom = -400
top = 0
velocity_p = 2000
[survey]
kind = "list"
stations = [[100, 0, -15], [500, 0, -15]]
[source]
at = [[300, 0, -15]]
frequency = 12
[simulation]
physics = "acoustic"
end = 0.4
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = job;
  return text.replace(text.find(from), from.size(), to);
}

std::unique_ptr<terrane::Simulation> read(const std::string& text) {
  const auto config = Config::parse(text);
  return Simulation::from_job(config, {});
}

TEST(AcousticRun, AJobGivesGathersOfItsShots) {
  const auto simulation = read(job);
  const auto plan = simulation->check(on_cpu());
  EXPECT_NEAR(plan.number("courant"), 0.9, 0.02);
  const auto result = simulation->run(on_cpu());
  const auto* pressure = result.data.find("pressure");
  ASSERT_NE(pressure, nullptr);
  EXPECT_EQ(pressure->dimensions, (std::vector<std::string>{"shot", "time", "receiver"}));
  const auto& values = std::get<std::vector<float>>(pressure->values);
  // The receivers are as far to the west as to the east.
  double most = 0;
  for (std::size_t n = 0; n + 1 < values.size(); n += 2) {
    most = std::max(most, std::abs(static_cast<double>(values[n])));
    EXPECT_NEAR(values[n], values[n + 1], 1e-5);
  }
  EXPECT_GT(most, 1e-3);
}

TEST(AcousticRun, AWaveletOfAFileSendsWhatTheFormulaSends) {
  const testing_support::TemporaryFolder folder;
  Wavelet ricker;
  ricker.frequency = 12;
  std::ofstream file(folder / "wavelet.csv");
  file << "pressure\n";
  for (const double value : ricker.at(4e-3, 70)) file << value << '\n';
  file.close();
  const auto pressures = [](const std::string& text) {
    const auto result = read(text)->run(on_cpu());
    const auto& single = std::get<std::vector<float>>(result.data.find("pressure")->values);
    return std::vector<double>(single.begin(), single.end());
  };
  const std::string given = "wavelet = \"file\"\nfile = \"" + (folder / "wavelet.csv") + "\"\n";
  // The same steps: those of the formula are of its highest frequency.
  const auto of_formula = pressures(job);
  const auto of_file = pressures(with("frequency = 12", given + "sample_step = \"4 ms\""));
  ASSERT_EQ(of_file.size(), of_formula.size());
  EXPECT_LT(test::apart(of_file, of_formula), 1e-3);
  EXPECT_THAT(message([&] { read(with("frequency = 12", given)); }), HasSubstr("sample_step = \"1 ms\""));
  EXPECT_THAT(message([] { read(with("frequency = 12", "wavelet = \"file\"")); }), HasSubstr("one column"));
  EXPECT_THAT(message([] { read(with("frequency = 12", "wavelet = \"ormsby\"")); }), HasSubstr("corners ="));
  EXPECT_THAT(
      message([] { read(with("frequency = 12", "wavelet = \"ormsby\"\ncorners = [5, 10, 10, 15]")); }),
      HasSubstr("ascend"));
}

TEST(AcousticRun, AJobRecordsVelocitiesThatArePressuresOverTheImpedance) {
  auto text = with("end = 0.4",
                   "end = 0.4\ndensity = 1500\nrecord = [\"pressure\", \"velocity_east\", \"velocity_up\"]");
  text.insert(text.find("[simulation]"), "[boundary]\ntop = \"cpml\"\n");
  const auto result = read(text)->run(on_cpu());
  ASSERT_EQ(result.data.variables.size(), 3U);
  EXPECT_EQ(result.data.variables[1].unit, "m/s");
  const auto values = [&](const char* name) {
    return std::get<std::vector<float>>(result.data.find(name)->values);
  };
  const auto pressure = values("pressure"), sideways = values("velocity_east"),
             upward = values("velocity_up");
  // A wave that runs along the row of source and receivers, one and a half wavelengths away.
  double most[3]{}, sum = 0;
  for (std::size_t n = 0; n < pressure.size(); ++n) {
    most[0] = std::max(most[0], std::abs(static_cast<double>(pressure[n])));
    most[1] = std::max(most[1], std::abs(static_cast<double>(sideways[n])));
    most[2] = std::max(most[2], std::abs(static_cast<double>(upward[n])));
    if (n % 2 == 0) sum += static_cast<double>(sideways[n]) + static_cast<double>(sideways[n + 1]);
  }
  EXPECT_NEAR(most[1] / (most[0] / (1500.0 * 2000)), 1, 0.1);
  EXPECT_LT(most[2], 0.01 * most[1]);
  EXPECT_LT(std::abs(sum), 1e-3 * most[1]);  // to the west and to the east
}

TEST(AcousticRun, AMigrationOfVelocitiesShowsTheReflectorThatPressuresShow) {
  auto text = with("end = 0.4", "end = 0.5\nkind = \"migration\"\nsmoothing = 60\nrecord = \"velocity_up\"");
  text.insert(text.find("[survey]"),
              "[[model.body]]\nkind = \"layer\"\nbottom = -400\ntop = -250\nvelocity_p = 2600\n");
  text.insert(text.find("[simulation]"), "[boundary]\ntop = \"cpml\"\n");
  text.replace(text.find("[[100, 0, -15], [500, 0, -15]]"), 30,
               "[[200, 0, -15], [250, 0, -15], [300, 0, -15], [350, 0, -15], [400, 0, -15]]");
  const auto image = [&](const std::string& its_text) {
    const auto result = read(its_text)->run(on_cpu());
    return std::get<std::vector<double>>(result.data.find("image_filtered")->values);
  };
  const auto by_velocity = image(text);
  const auto by_pressure = image(text.replace(text.find("velocity_up"), 11, "pressure"));
  // Where the reflector is, below the source: 250 m deep.
  const auto peak = [](const std::vector<double>& values) {
    std::size_t best = 5;
    for (std::size_t k = 5; k < 30; ++k)
      if (std::abs(values[k * 60 + 30]) > std::abs(values[best * 60 + 30])) best = k;
    return static_cast<double>(best);
  };
  EXPECT_NEAR(peak(by_velocity), 15, 2);
  EXPECT_NEAR(peak(by_pressure), 15, 2);
}

TEST(AcousticRun, AMigrationWithLagsGivesAnImageForEach) {
  const std::string more = "end = 0.4\nkind = \"migration\"\nsmoothing = 50\n";
  const auto simulation = read(with("end = 0.4", more + "lags = 4"));
  const auto plan = simulation->check(on_cpu()), without = read(with("end = 0.4", more))->check(on_cpu());
  // Nine images of 60 × 40 nodes: of a shot in single precision, and with their sums in double precision.
  EXPECT_EQ(plan.memory_bytes - without.memory_bytes, 9U * 60 * 40 * (4 + 8 + 8));
  const auto result = simulation->run(on_cpu());
  const auto* image = result.data.find("image_at_lags");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->dimensions, (std::vector<std::string>{"lag", "up", "northing", "easting"}));
  EXPECT_EQ(std::get<std::vector<double>>(image->values).size(), 9U * 60 * 40);
  EXPECT_THAT(message([&] { read(with("end = 0.4", more + "lags = 30")); }),
              AllOf(HasSubstr("simulation.lags"), HasSubstr("do not fit in 60 cells"), HasSubstr("0 to 29")));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nlags = 2")); }),
              AllOf(HasSubstr("simulation.lags"), HasSubstr("is of migration")));
}

/// Ranks of one machine, of which there is only the first.
class ManyRanks final : public Comm {
 public:
  explicit ManyRanks(int ranks) : ranks_(ranks) {}
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return ranks_; }
  Place on_node() const noexcept override { return {0, ranks_}; }
  void broadcast(std::span<std::byte>, int) override {}
  int lowest(int value) override { return value; }
  void send(std::span<const std::byte>, int) override {}
  void receive(std::span<std::byte>, int) override {}
  void abort(int) override {}

 private:
  int ranks_;
};

TEST(AcousticRun, APlanSaysHowManyStepsAPassOverMemoryTakes) {
  auto p = test::even_box({90, 100, 110}, 10, 2000);
  p.end = 0.1;
  p.shots = {{{{500, 500, 500}}, {{600, 500, 500}}}};
  Simulation simulation(p, {});
  auto runtime = on_cpu();
  runtime.threads = 2;
  const auto plan = simulation.check(runtime);
  ASSERT_NE(plan.find("steps_at_once"), nullptr);
  EXPECT_EQ(plan.number("steps_at_once"), 4);
  runtime.threads = 8;
  EXPECT_EQ(simulation.check(runtime).number("steps_at_once"), 1);
  EXPECT_THAT(simulation.check(runtime).text(), HasSubstr("a thread needs 32 rows along northing"));
  runtime.threads = 2;
  Settings settings;
  settings.task = Task::migration;
  settings.change = std::vector<double>(p.velocity.size(), 1e-9);
  settings.keeping = Keeping::checkpoints;
  EXPECT_THAT(Simulation(p, settings).check(runtime).text(), HasSubstr("4 steps in each pass over memory\n"));
  settings.keeping = Keeping::boundary;
  EXPECT_THAT(Simulation(p, settings).check(runtime).text(), HasSubstr("4 steps in each pass over memory\n"));
  settings.keeping = Keeping::random_walls;
  EXPECT_THAT(Simulation(p, settings).check(runtime).text(), HasSubstr("over memory, of modelling alone"));
  // Of data nothing is modelled.
  p.settle();
  settings.data.own().assign(1, std::vector<double>(p.steps()));
  EXPECT_EQ(Simulation(p, settings).check(runtime).number("steps_at_once"), 1);
  settings.keeping = Keeping::store;
  EXPECT_EQ(Simulation(p, settings).check(runtime).number("steps_at_once"), 4);
  // Images around an axis come step by step, whatever is stored.
  p.equation = Equation::vti;
  p.epsilon.assign(p.velocity.size(), 0.1);
  p.delta = p.epsilon;
  settings.data = {};
  const auto vti = Simulation(p, settings).check(runtime).text();
  EXPECT_THAT(vti, HasSubstr("a migration takes more in isotropic media alone"));
  EXPECT_THAT(vti, Not(HasSubstr("with all that it keeps in memory")));
}

// A machine with less memory may go on with what another has begun, where the bits are the same.
TEST(AcousticRun, ACheckpointAsksForTheWayOfKeepingWavesOnlyWhereItChangesTheBits) {
  auto p = four_shots();
  p.settle();
  auto settings = migration(p);
  const auto of = [&](Keeping way) {
    settings.keeping = way;
    std::string all;
    for (const auto& one : fingerprint(p, settings)) all += one.what + " " + one.value + "\n";
    return all;
  };
  EXPECT_EQ(of(Keeping::store), of(Keeping::checkpoints));
  EXPECT_NE(of(Keeping::store), of(Keeping::boundary));
  EXPECT_NE(of(Keeping::boundary), of(Keeping::boundary_compressed));
}

TEST(AcousticRun, APlanCountsWhatLiesOnTheDiskOfTheResultsAndARunWithoutRoomIsRefused) {
  const testing_support::TemporaryFolder folder;
  const auto p = four_shots();
  const auto settings = migration(p);
  auto runtime = on_cpu();
  ManyRanks two(2);
  runtime.comm = &two;
  // A folder that is not yet there; shots are kept however short they are.
  runtime.checkpoint = {folder / "output/run.checkpoint", 300, 0, false, 1e-9};
  const auto plan = Simulation(p, settings).check(runtime);
  const double samples = static_cast<double>(p.steps() * p.shots[0].receivers.size()),
               nodes = static_cast<double>(p.velocity.size()), shot = 4 * samples + 6 * 8 * nodes;
  EXPECT_EQ(plan.number("checkpoint_bytes"), 3 * 4 * samples + 6 * 8 * nodes) << "all but the last shot";
  EXPECT_EQ(plan.number("shot_file_bytes"), shot);
  EXPECT_EQ(plan.number("shot_files"), 4);
  EXPECT_THAT(plan.text(), HasSubstr("for 4 finished shots"));
  // That is what such a file takes.
  auto one = p;
  one.shots.resize(1);
  const auto found = run_shots(one, settings, on_cpu());
  const CheckpointSettings here{folder / "run.checkpoint", 300, 0, false};
  ShotFiles::make_folder(here, 2);
  EXPECT_EQ(ShotFiles(here, p, settings, 2).keep(0, {found.gathers[0], found.images, false, {}}, 20), "");
  EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(folder / "run.checkpoint.parts/shot-1")), shot,
              4096);
  // Sixteen shots in the time between checkpoints, of two ranks that take twenty seconds each.
  auto many = p;
  many.shots.resize(100, p.shots[0]);
  EXPECT_EQ(disk_use(many, settings, here, 2, 20).shots, 32);
  EXPECT_EQ(disk_use(many, settings, here, 1, 20).shots, 0) << "one process has the checkpoint";
  EXPECT_EQ(disk_use(p, settings, here, 8, 20).shots, 0) << "all take each shot together";
  // No checkpoint of one shot, or of a shot for each rank; and shots that are far too quick are not kept.
  EXPECT_EQ(disk_use(one, settings, here, 1).bytes(), 0);
  EXPECT_EQ(disk_use(one, settings, here, 2).bytes(), 0);
  EXPECT_EQ(disk_use(p, settings, here, 4).checkpoint, 0);
  EXPECT_EQ(disk_use(p, settings, here, 4).shots, 4);
  runtime.checkpoint.round = 1e9;
  EXPECT_EQ(Simulation(p, settings).check(runtime).find("shot_files"), nullptr);
  // Nothing where there are no checkpoints.
  runtime.checkpoint.least_run = 1e9;
  EXPECT_EQ(Simulation(p, settings).check(runtime).find("checkpoint_bytes"), nullptr);
  runtime.checkpoint.interval = CheckpointSettings::never;
  EXPECT_EQ(Simulation(p, settings).check(runtime).find("checkpoint_bytes"), nullptr);
  // Gathers of terabytes.
  runtime.checkpoint = {folder / "output/run.checkpoint", 300, 60, false};
  auto large = p;
  large.end = 2e5;
  for (auto& of : large.shots) of.receivers.resize(10'000, of.receivers[0]);
  EXPECT_THAT(
      message([&] { Simulation(large, {}).check(runtime); }),
      AllOf(HasSubstr(std::filesystem::path(folder / "x").parent_path().string()),
            HasSubstr("are free on this disk; the run wants"),
            HasSubstr("for the checkpoint and its successor"), HasSubstr("output.checkpoint = \"never\"")));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(AcousticRun, SnapshotsAndACheckpointShareTheDiskOfTheResults) {
  const testing_support::TemporaryFolder folder;
  const CheckpointSettings checkpoint{folder / "run.checkpoint", 300, 0, false};
  const double there = free_on_disk(folder / ".");
  const DiskUse alone{0, 0, 0, 0.3 * there}, with_film{0, 0, 0, 0.3 * there, 0.5 * there};
  EXPECT_TRUE(has_room(checkpoint, alone));
  EXPECT_FALSE(has_room(checkpoint, with_film));
  EXPECT_NO_THROW(expect_room(checkpoint, alone));
  EXPECT_THAT(message([&] { expect_room(checkpoint, with_film); }),
              AllOf(HasSubstr("for snapshots"), HasSubstr("fewer snapshots")));
}

TEST(AcousticRun, WhatAnInterruptedRunLeftOnTheDiskIsNotAskedOfItAgain) {
  const testing_support::TemporaryFolder folder;
  const CheckpointSettings checkpoint{folder / "run.checkpoint", 300, 0, true};
  const double there = free_on_disk(folder / ".");
  const auto make = [&](const std::filesystem::path& file, double bytes) {  // that takes no room of the disk
    std::ofstream{file};
    std::filesystem::resize_file(file, static_cast<std::uintmax_t>(bytes));
  };
  const DiskUse image{0, 0, 0, 0.7 * there}, shots{0.35 * there, 4, 0, 0};
  EXPECT_FALSE(has_room(checkpoint, image));
  EXPECT_FALSE(has_room(checkpoint, shots));
  EXPECT_THROW(expect_room(checkpoint, image), FileError);
  make(checkpoint.file, 0.65 * there);
  EXPECT_TRUE(has_room(checkpoint, image));
  EXPECT_FALSE(has_room(checkpoint, {0, 0, 0, 2 * there})) << "a file is counted once";
  EXPECT_FALSE(has_room(checkpoint, shots));
  ShotFiles::make_folder(checkpoint, 2);
  for (const auto* name : {"shot-1", "shot-7"}) make(parts_beside(checkpoint.file) / name, 0.35 * there);
  EXPECT_TRUE(has_room(checkpoint, shots));
}

TEST(AcousticRun, TheMemoryOfAShotHasTheWeightsOfItsReceivers) {
  auto p = test::rough_box({26, 22, 24}, 0.05);
  p.record = {Component::pressure, Component::velocity_up, Component::velocity_east};
  auto& receivers = p.shots[0].receivers;
  receivers.clear();
  for (int n = 0; n < 60; ++n) receivers.push_back({33.3 + 2.7 * n, 71.3, 121.7});
  p.settle();
  auto deaf = p;
  deaf.shots[0].receivers.clear();
  Settings modelling, imaging;
  imaging.task = Task::migration;
  imaging.keeping = Keeping::boundary;
  const Device cpu{Device::Kind::cpu, -1}, debug{Device::Kind::debug, -1};
  Stream stream(cpu);
  const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
  const auto taps = p.taps(p.shots[0]);
  const Receivers<float> recorded(stream, medium, taps, p.steps());
  Sources<float> sent(stream, medium, taps, std::vector<double>(taps.size(), 1.0));
  sent.send(stream, p.steps(), std::vector<double>(p.steps() * taps.size()));
  const auto more = [&](const Settings& settings) {
    return bytes_of_shot(p, settings, cpu) - bytes_of_shot(deaf, settings, cpu);
  };
  EXPECT_GE(more(modelling), recorded.bytes());
  EXPECT_LE(more(modelling), 1.25 * recorded.bytes());
  EXPECT_GE(more(imaging), recorded.bytes() + sent.bytes());
  EXPECT_LE(more(imaging), 2.5 * (recorded.bytes() + sent.bytes()));  // receivers that share nodes take less
  // Sums of passes over memory are of the CPU alone.
  auto large = test::even_box({90, 100, 110}, 10, 2000);
  large.end = 0.05;
  large.shots = {{{{500, 500, 500}}, receivers}};
  large.settle();
  EXPECT_EQ(bytes_of_shot(p, modelling, cpu), bytes_of_shot(p, modelling, debug));
  EXPECT_GT(bytes_of_shot(large, modelling, cpu), bytes_of_shot(large, modelling, debug));
}

/// The weights at nodes: of a tap, for a field, at a node.
using WeightsAtNodes = std::map<std::tuple<int, Part, std::array<Index, 3>>, double>;

void add_weight(WeightsAtNodes& to, int tap, Part part, const Medium<double>& medium, Index offset,
                double weight) {
  const auto& box = medium.box();
  const Index at = offset - strides(box).to(box.first), row = at / box.size(2);
  const Index up = row / box.size(1), north = row % box.size(1), east = at % box.size(2);
  to[{tap, part, {box.first[0] + up, box.first[1] + north, box.first[2] + east}}] += weight;
}

void add_sources(const SourceNodes<double>& nodes, const std::vector<double>& scales,
                 const Medium<double>& medium, WeightsAtNodes& to) {
  for (std::size_t n = 0; n < nodes.offset.size(); ++n) {
    EXPECT_TRUE(n == 0 || nodes.offset[n - 1] < nodes.offset[n]);
    const auto first = static_cast<std::size_t>(nodes.first[n]);
    for (auto w = first; w < static_cast<std::size_t>(nodes.first[n + 1]); ++w) {
      const int source = nodes.source[w];
      EXPECT_TRUE(w == first || nodes.source[w - 1] <= source);
      add_weight(to, source, nodes.part[w], medium, nodes.offset[n],
                 nodes.weight[w] / scales[static_cast<std::size_t>(source)]);
    }
  }
}

void add_receivers(const ReceiverRows<double>& rows, const Medium<double>& medium, WeightsAtNodes& to) {
  std::size_t sum = 0, row = 0;
  for (std::size_t tap = 0; tap < rows.owner.size(); ++tap)
    for (const int owner : rows.owner[tap]) {
      if (owner != medium.rank()) continue;
      for (const auto last = static_cast<std::size_t>(rows.first[++sum]); row < last; ++row) {
        const auto& one = rows.rows[row];
        for (Index i = 0; i < one.count; ++i)
          if (const double weight = rows.weights[one.weights + static_cast<std::size_t>(i)]; weight != 0)
            add_weight(to, static_cast<int>(tap), one.part, medium, one.offset + i, weight);
      }
    }
  EXPECT_EQ(sum + 1, rows.first.size());
  EXPECT_EQ(row, rows.rows.size());
}

TEST(AcousticRun, SourcesAndReceiversHaveTheirWeightsAtTheirNodesOnAnyRanksAndThreads) {
  auto p = test::rough_rock(Equation::tti, {26, 22, 24}, 0.05);
  p.settle();
  std::vector<Tap> taps{{{100, 100, 100}, Component::pressure}};  // on a node
  std::vector<double> scales{3};
  test::Chance chance(5);
  const auto place = [&](double middle) { return middle * (1 + 0.9 * chance()); };
  for (const auto component : {Component::pressure, Component::velocity_up, Component::velocity_east})
    for (int n = 0; n < 30; ++n) {
      taps.push_back({{place(125), place(105), place(115)}, component});
      scales.push_back(place(2));
    }
  WeightsAtNodes wanted;
  for (std::size_t n = 0; n < taps.size(); ++n)
    for (const auto& [node, weight, part] : weights_at(p, taps[n]))
      wanted[{static_cast<int>(n), part, node}] += weight;
  Stream stream({Device::Kind::cpu, -1});
  for (const int ranks : {1, 2}) {
    WeightsAtNodes sent, taken;
    for (int rank = 0; rank < ranks; ++rank) {
      const Medium<double> medium(p, stream, cut_grid(p, ranks), rank);
      const auto nodes = nodes_of_sources<double>(medium, taps, scales, medium.part(), 3);
      for (const auto& some : nodes) add_sources(some, scales, medium, sent);
      EXPECT_EQ(nodes[1].weight, nodes_of_sources<double>(medium, taps, scales, medium.part(), 1)[1].weight);
      add_receivers(rows_of_receivers<double>(medium, taps, 3), medium, taken);
    }
    EXPECT_EQ(taken, wanted) << ranks;
    ASSERT_EQ(sent.size(), wanted.size()) << ranks;
    for (const auto& [at, weight] : wanted) EXPECT_NEAR(sent.at(at), weight, 1e-14 * std::abs(weight));
  }
}

#ifdef TERRANE_HEAP_IS_COUNTED
TEST(AcousticRun, BornModellingTakesTheMemoryThatACheckSays) {
  const Device cpu{Device::Kind::cpu, -1};
  for (const auto equation : {Equation::constant_density, Equation::variable_density, Equation::vti}) {
    auto p = test::rough_rock(equation, {80, 90, 100}, 0.06);
    p.settle();
    const std::vector<double> change(p.velocity.size(), 1e-9);
    Settings settings;
    settings.task = Task::born;
    const double held = test::most_bytes([&] {
      Stream stream(cpu);
      Alone alone;
      Engine<float>(p, stream, alone).born(p.shots[0], p.source_series(), change);
    });
    if (held <= 0) GTEST_SKIP() << "this build has another heap";
    const double foreseen = bytes_of_shot(p, settings, cpu);
    EXPECT_LT(held, 1.01 * foreseen) << static_cast<int>(equation);
    EXPECT_GT(held, 0.8 * foreseen) << static_cast<int>(equation);
  }
}

/// With models in double precision and gathers of all shots.
TEST(AcousticRun, TakesTheMemoryThatItsPlanSays) {
  for (const auto equation : {Equation::constant_density, Equation::tti}) {
    auto p = test::rough_rock(equation, {50, 60, 70}, equation == Equation::tti ? 0.006 : 0.05);
    test::all_sides(p, Boundary::sponge);
    p.shots[0].receivers.assign(equation == Equation::tti ? 3 : 300, p.shots[0].receivers[0]);
    Simulation simulation(p, {});
    p = {};
    const auto plan = simulation.check(on_cpu());
    const double models = bytes_of_models(simulation.problem(), simulation.settings());
    const double held = test::most_bytes([&] { simulation.run(on_cpu()); });
    if (held <= 0) GTEST_SKIP() << "this build has another heap";
    const auto foreseen = static_cast<double>(plan.memory_bytes);
    // Lists of weights are made twice, which counts in so small a box: 1.18.
    EXPECT_LT(held + models, 1.25 * foreseen) << static_cast<int>(equation);
    EXPECT_GT(held + models, 0.7 * foreseen) << static_cast<int>(equation);
  }
}

/// Also the model with its walls, in double precision on the host.
TEST(AcousticRun, RandomWallsTakeTheMemoryThatACheckSays) {
  const Device cpu{Device::Kind::cpu, -1};
  for (const auto equation : {Equation::constant_density, Equation::tti}) {
    auto p = test::rough_rock(equation, {80, 90, 100}, 0.03);
    p.settle();
    Settings settings;
    settings.task = Task::adjoint;
    settings.keeping = Keeping::random_walls;
    const std::vector<double> data(p.steps() * p.traces(p.shots[0]), 1e-9);
    const double held = test::most_bytes([&] {
      Stream stream(cpu);
      Alone alone;
      Engine<float>(p, stream, alone).adjoint(p.shots[0], p.source_series(), data, settings.keeping);
    });
    if (held <= 0) GTEST_SKIP() << "this build has another heap";
    const double foreseen = bytes_of_shot(p, settings, cpu) + bytes_on_host(p, settings, cpu);
    EXPECT_LT(held, foreseen) << static_cast<int>(equation);
    EXPECT_GT(held, 0.7 * foreseen) << static_cast<int>(equation);
  }
}
#endif

TEST(AcousticRun, SnapshotsNameThemselvesWhereRanksAreTooManyForAShot) {
  auto p = test::even_box({20, 20, 20}, 10, 2000);
  p.end = 0.02;
  p.shots.assign(8, {{{100, 100, 100}}, {{120, 100, 100}}});
  Settings settings;
  ManyRanks ranks(8);
  auto runtime = on_cpu();
  runtime.comm = &ranks;
  EXPECT_NO_THROW(Simulation(p, settings).check(runtime));
  settings.snapshots.interval = 0.01;
  EXPECT_THAT(
      message([&] { Simulation(p, settings).check(runtime); }),
      AllOf(HasSubstr("8 ranks are too many"), HasSubstr("With [snapshots] all ranks take each shot")));
}

TEST(AcousticRun, AMigrationListsWhatEveryWayOfKeepingTakesBeforeItChooses) {
  const std::string more = "end = 0.4\nkind = \"migration\"\nsmoothing = 50\n";
  const auto plan = read(with("end = 0.4", more))->check(on_cpu());
  EXPECT_EQ(std::get<std::string>(plan.find("wavefield")->value), "store");
  const auto text = plan.text();
  for (const auto* way : {"store: ", "store on disk: ", "compressed: ", "checkpoints: ", "boundary: ",
                          "boundary_compressed on disk: ", "random_walls: "})
    EXPECT_THAT(text, HasSubstr(way));
  EXPECT_THAT(text,
              AllOf(HasSubstr("computed twice; exact"), HasSubstr("image to 1e-5"), HasSubstr("disk ")));
  // A budget that a stored field does not fit in, but the states of two stretches do.
  auto tight = on_cpu();
  tight.memory = 6'500'000;
  const auto small = read(with("end = 0.4", "end = 3\n" + more.substr(9)))->check(tight);
  EXPECT_EQ(std::get<std::string>(small.find("wavefield")->value), "checkpoints");
  EXPECT_EQ(small.number("wavefield_store_memory"), 0);
  EXPECT_EQ(small.number("wavefield_checkpoints_memory"), 1);
}

TEST(AcousticRun, WavesLieOnTheHostOfAGpuThatIsTooSmall) {
  auto p = test::even_box({100, 100, 100}, 10, 2000);
  p.end = 0.8;
  p.shots = {{{{500, 500, 500}}, {{600, 500, 500}}}};
  p.settle();
  const Device gpu{Device::Kind::cuda, 0};
  const auto chosen = [&](std::size_t shots, const Room& room) {
    p.shots.resize(shots, p.shots.front());
    auto settings = migration(p);
    settings.lags = 0;
    settings.keeping = Keeping::automatic;
    choose_keeping(settings, p, gpu, room);
    return std::pair{settings.keeping, settings.kept_in};
  };
  using Choice = std::pair<Keeping, KeptIn>;
  EXPECT_EQ(chosen(1, {1e11, 1e11, 0}), (Choice{Keeping::store, KeptIn::memory}));
  EXPECT_EQ(chosen(1, {4e8, 1e11, 0}), (Choice{Keeping::checkpoints, KeptIn::memory}));
  EXPECT_EQ(chosen(200, {4e8, 1e9, 0}), (Choice{Keeping::checkpoints, KeptIn::memory}));
  // Without room for the stretch between two checkpoints.
  EXPECT_EQ(chosen(200, {3e8, 1e11, 0}), (Choice{Keeping::store, KeptIn::host}));
}

TEST(AcousticRun, WavesOnADiskMakeTheSameImageAndLeaveNoFile) {
  const testing_support::TemporaryFolder folder;
  auto p = four_shots();
  p.shots.resize(2);
  auto settings = migration(p);
  const auto here = run_shots(p, settings, on_cpu());
  settings.kept_in = KeptIn::disk;
  settings.scratch = folder / "";
  const auto there = run_shots(p, settings, on_cpu());
  EXPECT_EQ(here.images.kernel, there.images.kernel);
  EXPECT_EQ(here.images.correlation, there.images.correlation);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(AcousticRun, ADiskThatWouldFillIsNamedBeforeTheRun) {
  const testing_support::TemporaryFolder folder;
  auto p = test::even_box({400, 1, 600}, 10, 2000);
  p.wavelet.frequency = 15;
  p.shots = {{{{3000, 0, 2000}}, {{3100, 0, 2000}}}};
  p.end = 2e5;  // 68 million steps of a megabyte
  auto settings = migration(p);
  settings.lags = 0;
  settings.kept_in = KeptIn::disk;
  settings.scratch = folder / "";
  Simulation simulation(p, settings);
  EXPECT_THAT(message([&] { simulation.check(on_cpu()); }),
              AllOf(HasSubstr(folder / ""), HasSubstr("would take"), HasSubstr("are free"),
                    HasSubstr("simulation.scratch"), HasSubstr("checkpoints")));
  Stream stream({Device::Kind::cpu, -1});
  EXPECT_THAT(message([&] {
                make_records(stream, {KeptIn::disk, 1'000'000, 68'000'000, folder / ""});
              }),
              AllOf(HasSubstr(folder / ""), HasSubstr("take 68 TB"), HasSubstr("are free")));
  EXPECT_EQ(folder.entries(), 0U);
  EXPECT_THAT(message([&] {
                make_records(stream, {KeptIn::disk, 10, 10, folder / "none"});
              }),
              HasSubstr("there is no such folder"));
}

TEST(AcousticRun, AFolderInMemoryIsNoDiskAndTheRunSaysSo) {
  const testing_support::TemporaryFolder folder;
  if (!lies_in_memory("/dev/shm")) GTEST_SKIP() << "/dev/shm is no tmpfs here";
  auto p = four_shots();
  auto settings = migration(p);
  settings.kept_in = KeptIn::disk;
  const auto warned = [&](const std::string& scratch) {
    settings.scratch = scratch;
    return Simulation(p, settings).check(on_cpu()).text().find("lies in memory") != std::string::npos;
  };
  EXPECT_TRUE(warned("/dev/shm"));
  EXPECT_EQ(warned(folder / ""), lies_in_memory(folder / ""));
  EXPECT_FALSE(lies_in_memory("/proc"));
}

TEST(AcousticRun, RockWithAnAxisThatFitsNowhereSaysWhatIsLackingBeforeTheRun) {
  const testing_support::TemporaryFolder folder;
  auto p = test::even_box({400, 1, 600}, 10, 2000);
  p.wavelet.frequency = 15;
  p.shots = {{{{3000, 0, 2000}}, {{3100, 0, 2000}}}};
  p.end = 2e5;
  auto settings = migration(p);
  settings.lags = 0;
  settings.keeping = Keeping::automatic;
  const Device debug{Device::Kind::debug, -1};
  const auto chosen = [&](KeptIn place) {
    auto taken = settings;
    taken.kept_in = place;
    choose_keeping(taken, p, debug, {1e3, 1e3, 1e3});
    return std::pair{taken.keeping, taken.kept_in};
  };
  using Choice = std::pair<Keeping, KeptIn>;
  p.settle();
  EXPECT_EQ(chosen(KeptIn::host), (Choice{Keeping::boundary, KeptIn::host}));
  p.equation = Equation::vti;
  p.epsilon.assign(p.velocity.size(), 0.1);
  p.delta.assign(p.velocity.size(), 0.05);
  p.step = 0;
  p.settle();
  EXPECT_EQ(chosen(KeptIn::host), (Choice{Keeping::boundary, KeptIn::host}));
  EXPECT_EQ(chosen(KeptIn::disk), (Choice{Keeping::boundary, KeptIn::disk}));
  EXPECT_EQ(chosen(KeptIn::automatic), (Choice{Keeping::checkpoints, KeptIn::memory}));
  settings.kept_in = KeptIn::host;
  Runtime runtime;
  runtime.device = debug;
  runtime.memory = 100'000'000;
  EXPECT_THAT(message([&] { Simulation(p, settings).check(runtime); }),
              AllOf(HasSubstr("waves kept on the host"), HasSubstr("kept_in")));
  settings.kept_in = KeptIn::disk;
  settings.scratch = folder / "";
  EXPECT_THAT(
      message([&] { Simulation(p, settings).check(on_cpu()); }),
      AllOf(HasSubstr("would take"), HasSubstr("simulation.scratch"), HasSubstr("boundary_compressed")));
}

TEST(AcousticRun, RanksOfAMachineThatTakeAShotEachShareItsMemory) {
  const auto p = four_shots();
  auto settings = migration(p);
  const auto one = Simulation(p, settings).check(on_cpu()).memory_bytes;
  auto runtime = on_cpu();
  runtime.memory = 3 * one;
  ManyRanks four(4), eight(8);
  runtime.comm = &four;
  EXPECT_THAT(message([&] { Simulation(p, settings).check(runtime); }),
              AllOf(HasSubstr("4 shots at once"), HasSubstr("boundary_compressed")));
  runtime.memory = 4 * one;
  EXPECT_NO_THROW(Simulation(p, settings).check(runtime));
  runtime.memory = one + one / 2;
  auto single = p;
  single.shots.resize(1);
  ManyRanks two(2);
  runtime.comm = &two;  // take the shot together
  EXPECT_NO_THROW(Simulation(single, settings).check(runtime));
  runtime.comm = &eight;
  EXPECT_THAT(message([&] { Simulation(p, settings).check(runtime); }), HasSubstr("8 ranks are too many"));
  // What is automatic is chosen for the share of a rank.
  settings.keeping = Keeping::automatic;
  runtime.comm = nullptr;
  EXPECT_EQ(std::get<std::string>(Simulation(p, settings).check(runtime).find("wavefield")->value), "store");
  runtime.memory = 4 * one - 4 * one / 20;
  runtime.comm = &four;
  EXPECT_NE(std::get<std::string>(Simulation(p, settings).check(runtime).find("wavefield")->value), "store");
}

TEST(AcousticRun, RefusesAWaveletWhoseUnitItWouldDrop) {
  const testing_support::TemporaryFolder folder;
  const auto said = [&](const std::string& head) {
    const auto file = folder.put("wavelet.csv", head + "\n0\n1\n-0.5\n0\n");
    return message([&] {
      read(with("frequency = 12", "wavelet = \"file\"\nsample_step = 0.02\nfile = \"" + file + "\""));
    });
  };
  EXPECT_THAT(said("pressure [kPa]"), HasSubstr("source.file: its values are in kPa"));
  EXPECT_THAT(said("pressure [Pa.m]"), HasSubstr("Write them in Pa:")) << "two dimensions";
  EXPECT_EQ(said("pressure [Pa]"), "no error");
  EXPECT_EQ(said("pressure"), "no error");
}

TEST(AcousticRun, ASeriesThatSaysItIsAnotherIsNotTakenForTheOneThatIsRecorded) {
  const auto recording = [&](const std::string& name) {
    return read(with("end = 0.4", "end = 0.4\nrecord = [\"" + name + "\"]"));
  };
  const auto recorded = recording("pressure")->run(on_cpu()).data;
  std::vector<std::string> notes;
  const auto takes = [&](const std::string& name, const std::string& unit, const std::string& record) {
    const auto made = recording(record);
    auto data = recorded;
    data.variables.front().name = name;
    data.variables.front().unit = unit;
    notes.clear();
    return message([&] {
      static_cast<void>(observed_of("a.nc", data, static_cast<const Simulation&>(*made).problem(), notes));
    });
  };
  EXPECT_THAT(takes("pressure", "Pa", "velocity_up"),
              HasSubstr("it holds pressure in Pa; simulation.record asks for velocity_up, m/s"));
  EXPECT_THAT(takes("velocity_up", "m/s", "pressure"), HasSubstr("it holds velocity_up in m/s"));
  EXPECT_THAT(takes("velocity_east", "", "velocity_up"), HasSubstr("it holds velocity_east;"));
  EXPECT_THAT(takes("hydrophone", "kPa", "pressure"), HasSubstr("it holds hydrophone in kPa"));
  EXPECT_EQ(takes("pressure", "Pa", "pressure"), "no error");
  EXPECT_EQ(notes.size(), 0U);
  EXPECT_EQ(takes("pressure", "", "velocity_up"), "no error");  // what a file without names says
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0],
              HasSubstr("a.nc does not say what its traces hold: they are taken for velocity_up, m/s"));
  EXPECT_EQ(takes("geophone", "m/s", "velocity_up"), "no error");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("its only series, \"geophone\", is taken for velocity_up"));
  EXPECT_EQ(takes("geophone", "", "velocity_up"), "no error");
}

/// The largest pressure at each of the two receivers of the job in this rock.
std::array<double, 2> peaks(const std::string& equation, const std::string& properties) {
  auto text = with("velocity_p = 2000", "velocity_p = 2000\n" + properties);
  text.replace(text.find("end = 0.4"), 9, "end = 0.4\nequation = \"" + equation + "\"");
  const auto result = read(text)->run(on_cpu());
  const auto& values = std::get<std::vector<float>>(result.data.find("pressure")->values);
  std::array<double, 2> most{};
  for (std::size_t n = 0; n < values.size(); ++n)
    most[n % 2] = std::max(most[n % 2], std::abs(static_cast<double>(values[n])));
  return most;
}

TEST(AcousticRun, AJobTakesTheMediumNodeItsModel) {
  const auto plain = peaks("constant_density", "");
  EXPECT_NEAR(peaks("variable_density", "density = 2300")[0] / plain[0], 1, 0.02);
  EXPECT_NEAR(peaks("vti", "")[0] / plain[0], 1, 1e-4);
  const auto upright = peaks("tti", "epsilon = 0.2\ndelta = 0.05"),
             leaning = peaks("tti", "epsilon = 0.2\ndelta = 0.05\ntilt = 40\ntilt_azimuth = 90");
  EXPECT_NEAR(upright[0] / upright[1], 1, 1e-3);
  EXPECT_GT(std::abs(leaning[0] / upright[0] - 1), 0.02);
}

TEST(AcousticRun, KeysThatCannotBeAreBlamedThemselves) {
  const auto blamed = [](const std::string& table, const std::string& key, const std::string& value) {
    const bool there = std::string(job).find("[" + table + "]") != std::string::npos;
    const std::string line = key + " = " + value + "\n";
    const auto text = there ? with("[" + table + "]\n", "[" + table + "]\n" + line)
                            : with("[simulation]\n", "[" + table + "]\n" + line + "[simulation]\n");
    const auto last = key.substr(key.rfind('\n') + 1);
    EXPECT_THAT(message([&] { read(text); }), HasSubstr(table + "." + last + ":")) << line;
  };
  blamed("simulation", "step", "-1");
  blamed("boundary", "reflection", "2");
  blamed("boundary", "reflection", "-1");
  blamed("boundary", "power", "-1");
  blamed("boundary", "frequency", "-1");
  blamed("boundary", "points", "0");
  blamed("source", "amplitude", "1e300");
  blamed("source", "amplitude", "inf");
  blamed("simulation", "kind = \"born\"\nsmoothing", "-60");
  blamed("simulation", "kind = \"migration\"\nsmoothing", "0");
  blamed("simulation", "kind = \"born\"\nsmoothing", "1e6");
}

TEST(AcousticRun, NotesAndWarningsOfAPlanAreThoseOfTheRun) {
  auto text = with("end = 0.4", "end = 0.05");
  text.replace(text.find("[survey]"), 8, "[survey]\nwindow = [0, 200, -1, 1]");
  const auto simulation = read(text);
  const auto plan = simulation->check(on_cpu());
  EXPECT_THAT(plan.notes, testing::Contains(HasSubstr("1 of 2 stations kept")));
  EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("before the wavelet is at its largest")));
  const auto report = simulation->run(on_cpu()).report;
  EXPECT_EQ(report.notes, plan.notes);
  EXPECT_EQ(report.warnings, plan.warnings);
}

TEST(AcousticRun, ASmoothModelHasTheSameBitsOnAnyThreadsAndIsTheMeanUnderAGaussian) {
  const auto p = test::rough_box({14, 9, 37});
  const auto box = p.grid.box();
  constexpr double length = 17;
  const auto one = smoothed(p.grid, p.velocity, length, 1);
  EXPECT_EQ(one, smoothed(p.grid, p.velocity, length, 5));
  const std::array<Index, 3> here{2, 5, 10};
  double sum = 0, weights = 0;
  for (Index a = -7; a <= 7; ++a)
    for (Index b = -7; b <= 7; ++b)
      for (Index c = -7; c <= 7; ++c) {
        const auto at = [&](Index axis, Index by) {
          return std::clamp<Index>(here[static_cast<std::size_t>(axis)] + by, 0,
                                   box.last[static_cast<std::size_t>(axis)] - 1);
        };
        const double v = p.velocity[static_cast<std::size_t>((at(0, a) * 9 + at(1, b)) * 37 + at(2, c))];
        const double w = std::exp(-static_cast<double>(a * a + b * b + c * c) * 100 / (2 * length * length));
        sum += w / (v * v);
        weights += w;
      }
  EXPECT_NEAR(one[(2 * 9 + 5) * 37 + 10], 1 / std::sqrt(sum / weights), 1e-9);
}

TEST(AcousticRun, JobsThatCannotBeSayWhereAndWhatNext) {
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nequation = \"variable_density\"")); }),
              AllOf(HasSubstr("has no density"), HasSubstr("constant_density")));
  EXPECT_THAT(message([] { peaks("vti", "epsilon = 0.05\ndelta = 0.1"); }), HasSubstr("is less than delta"));
  EXPECT_THAT(
      message([] {
        read(with("end = 0.4",
                  "end = 0.4\nkind = \"migration\"\nwavefield = \"checkpoints\"\nkept_in = \"disk\""));
      }),
      AllOf(HasSubstr("simulation.kept_in"), HasSubstr("keeps nothing there")));
  for (const auto* key : {"wavefield = \"store\"", "kept_in = \"disk\"", "scratch = \"/\""})
    EXPECT_THAT(
        message([&] { read(with("end = 0.4", "end = 0.4\n" + std::string(key))); }),
        AllOf(HasSubstr("simulation." + std::string(key).substr(0, 7)), HasSubstr("is of migration")));
  EXPECT_THAT(
      message([] { read(with("end = 0.4", "end = 0.4\nequation = \"variable_density\"\ndensity = 2000")); }),
      AllOf(HasSubstr("simulation.density"), HasSubstr("does not take it")));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nrecord = \"velocity\"")); }),
              AllOf(HasSubstr("simulation.record"), HasSubstr("velocity_north, velocity_up")));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nrecord = \"velocity_north\"")); }),
              AllOf(HasSubstr("simulation.record"), HasSubstr("one cell wide")));
  EXPECT_THAT(message([] {
                read(with("end = 0.4",
                          "end = 0.4\nkind = \"migration\"\nsmoothing = 50\n"
                          "record = [\"pressure\", \"velocity_up\"]"));
              }),
              AllOf(HasSubstr("simulation.record"), HasSubstr("Migrate one of them")));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nstep = 0.01")); }),
              AllOf(HasSubstr("simulation.step"), HasSubstr("is not stable"), HasSubstr("at most")));
  EXPECT_THAT(message([] { read(with("frequency = 12", "frequency = 60")); }),
              AllOf(HasSubstr("mesh"), HasSubstr("points per wavelength")));
  EXPECT_THAT(message([] { read(with("[[300, 0, -15]]", "[[300, 0, -1500]]")); }),
              AllOf(HasSubstr("source.at"), HasSubstr("outside the mesh")));
  EXPECT_THAT(message([] { read(with("[500, 0, -15]", "[500, 0, 0]")); }),
              AllOf(HasSubstr("survey"), HasSubstr("receiver 2"), HasSubstr("free surface")));
  EXPECT_THAT(message([] { read(with("frequency = 12", "")); }), HasSubstr("source.frequency: missing"));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nkind = \"migration\"")); }),
              HasSubstr("smoothing"));
  EXPECT_THAT(message([] { read(with("bottom = -400\ntop", "bottom = -200\ntop")); }),
              AllOf(HasSubstr("cells have no velocity_p"), HasSubstr("the first is at easting")));
  EXPECT_THAT(
      message([] { read(with("frequency = 12", "frequency = 12\ndelay = -0.1")); }),
      AllOf(HasSubstr("source.delay"), HasSubstr("-0.1 s is not allowed"), HasSubstr("at least 0 s")));
  EXPECT_THAT(message([] { read(with("[[300, 0, -15]]", "[[300, 0, -15], [300, 0, 15]]")); }),
              AllOf(HasSubstr("source.at"), HasSubstr("shot 2: up 15 m lies outside the mesh")));
  EXPECT_THAT(message([] { read(with("[[300, 0, -15]]", "[]")); }),
              AllOf(HasSubstr("source.at"), HasSubstr("at least one source")));
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 1e9")); }),
              AllOf(HasSubstr("simulation.end"), HasSubstr("A run takes 1e8 at most")));
  EXPECT_THAT(message([] { read(with("velocity_p = 2000", "velocity_p = 2")); }),
              AllOf(HasSubstr("points per wavelength"), HasSubstr("km/s")));
}

}  // namespace
}  // namespace terrane::acoustic
