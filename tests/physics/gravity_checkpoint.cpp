// A run that was stopped goes on from its checkpoint with the same bits, and never from that of another
// problem.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "support/fields.hpp"
#include "support/files.hpp"
#include "support/prism_field.hpp"
#include "support/same_bits.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/run/checkpoint.hpp"
#include "terrane/physics/gravity/run/distribute.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::same_bits;
using test::StationList;
using testing::HasSubstr;

struct Problem {
  PrismList prisms;
  StationList stations;
  Parameters parameters;
  Problem() {
    std::mt19937 random(81);
    std::uniform_real_distribution<double> density(-400, 900);
    prisms = test::mesh_block({-150, 150, -150, 150, -300, 0}, {11, 13, 9},
                              [&](int, int, int) { return density(random); });
    stations = test::random_stations({-400, 400, -400, 400, -250, 200}, 9000, random);
    for (int i = -7; i <= 7; ++i) stations.add(10 + 20 * i, 10 * i, -100);
    parameters.channels = ChannelSet::all();
    parameters.method = Method::direct;
    parameters.singular = SingularPolicy::mean;
    parameters.threads = 1;
  }
};

/// Stops the run when a part of the sums is done, as a user would.
class StopsAt final : public Progress {
 public:
  explicit StopsAt(double part) : part_(part) {}
  void start(std::string_view what, std::uint64_t total) override {
    summing_ = what == "gravity";
    total_ = static_cast<double>(total);
    done_ = 0;
  }
  void advance(std::uint64_t amount) override { done_ += static_cast<double>(amount); }
  bool cancelled() const override { return summing_ && done_ >= part_ * total_; }

 private:
  bool summing_ = false;
  double part_, total_ = 1, done_ = 0;
};

struct Outcome {
  FieldTable values;
  Report report;
};

Outcome compute(const Problem& problem, const Runtime& runtime = {}, Progress* progress = nullptr) {
  Outcome out;
  out.values.assign(problem.parameters.channels.size(), std::vector<double>(problem.stations.size()));
  out.report =
      forward(problem.prisms.view(), problem.stations.view(), problem.parameters,
              {problem.parameters.channels, {out.values.begin(), out.values.end()}, {}}, progress, runtime);
  return out;
}

class GravityCheckpoint : public testing::Test {
 protected:
  testing_support::TemporaryFolder folder;
  std::filesystem::path file() const { return folder / "run.checkpoint"; }
  /// After every round.
  Runtime keeping() const { return {nullptr, {file(), 0, 0, false}}; }
  Runtime resuming() const { return {nullptr, {file(), 0, 0, true}}; }
  /// Of a run of which nothing is done.
  static Checkpoint empty_for(const Problem& problem) {
    return {
        0,
        {std::vector(problem.parameters.channels.size(), std::vector<double>(problem.stations.size())), {}}};
  }
  /// What the run of `problem` leaves behind when it is stopped somewhere.
  void interrupt(const Problem& problem) const {
    StopsAt user(0.4);
    EXPECT_THROW(compute(problem, keeping(), &user), Cancelled);
    ASSERT_TRUE(std::filesystem::exists(file()));
  }
};

TEST(GravityParameters, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(Parameters());
}

TEST_F(GravityCheckpoint, LetsAStoppedRunGoOnWithTheSameBits) {
  for (const auto partition : {Partition::stations, Partition::prisms}) {
    Problem problem;
    problem.parameters.partition = partition;
    const auto whole = compute(problem);
    EXPECT_TRUE(same_bits(compute(problem, keeping()).values, whole.values));
    std::filesystem::remove(file());
    for (const double part : {0.2, 0.5, 0.9}) {
      StopsAt user(part);
      EXPECT_THROW(compute(problem, resuming(), &user), Cancelled);
    }
    problem.parameters.threads = 3;
    const auto resumed = compute(problem, resuming());
    EXPECT_TRUE(same_bits(resumed.values, whole.values));
    EXPECT_EQ(resumed.report.singular_stations, whole.report.singular_stations);
    EXPECT_EQ(resumed.report.inside_stations, whole.report.inside_stations);
    EXPECT_GT(whole.report.singular_stations, 0U);
    ASSERT_EQ(resumed.report.notes.size(), 1U);
    EXPECT_THAT(resumed.report.notes[0], HasSubstr("% done"));
    std::filesystem::remove(file());
  }
}

TEST_F(GravityCheckpoint, IsWrittenWhenTheUserStopsTheRun) {
  const Problem problem;
  Runtime hourly{nullptr, {file(), 3600, 0, false, 1e-3}};
  StopsAt user(0.5);
  EXPECT_THROW(compute(problem, hourly, &user), Cancelled);
  ASSERT_TRUE(std::filesystem::exists(file()));
  const auto whole = compute(problem);
  hourly.checkpoint.resume = true;
  const auto resumed = compute(problem, hourly);
  EXPECT_TRUE(same_bits(resumed.values, whole.values));
  ASSERT_EQ(resumed.report.notes.size(), 1U);
  EXPECT_THAT(resumed.report.notes[0], HasSubstr("% done"));

  std::filesystem::remove(file());
  StopsAt again(0.5);
  EXPECT_THROW(compute(problem, {nullptr, {file(), CheckpointSettings::never, 0, false, 1e-3}}, &again),
               Cancelled);
  EXPECT_FALSE(std::filesystem::exists(file())) << "\"never\" is never";
}

TEST_F(GravityCheckpoint, ServesTreeAndLatticeToo) {
  Problem problem;
  problem.parameters.accuracy = 1e-7;
  problem.parameters.method = Method::tree;
  auto whole = compute(problem);
  interrupt(problem);
  EXPECT_TRUE(same_bits(compute(problem, resuming()).values, whole.values));

  std::filesystem::remove(file());
  problem.stations = {};
  for (const double up : {-50.0, 10.0, 20.0, 40.0})
    for (int j = 0; j < 13; ++j)
      for (int i = 0; i < 11; ++i)
        problem.stations.add(-150 + 300.0 / 11 * (i + 0.5), -150 + 300.0 / 13 * j, up);
  problem.parameters.accuracy = 1e-12;
  problem.parameters.method = Method::lattice;
  whole = compute(problem);
  interrupt(problem);
  EXPECT_TRUE(same_bits(compute(problem, resuming()).values, whole.values));
}

TEST_F(GravityCheckpoint, SaysWhatAutoTakesWhenARunGoesOn) {
  Problem problem;  // of which nobody would do so little on a device, by prisms, or by the tree
  for (auto* column : {&problem.stations.easting, &problem.stations.northing, &problem.stations.up})
    column->resize(3000);
  problem.parameters.device = {Device::Kind::debug, -1};
  problem.parameters.partition = Partition::prisms;
  auto left_open = problem;
  left_open.parameters.device = {};
  left_open.parameters.method = Method::automatic;
  left_open.parameters.partition = Partition::automatic;
  auto whole = compute(problem);
  EXPECT_FALSE(same_bits(compute(left_open).values, whole.values));
  interrupt(problem);
  auto resumed = compute(left_open, resuming());
  EXPECT_TRUE(same_bits(resumed.values, whole.values));
  EXPECT_THAT(resumed.report.device, HasSubstr("debug"));
  ASSERT_EQ(resumed.report.notes.size(), 1U);
  EXPECT_THAT(resumed.report.notes[0], HasSubstr("% done"));

  std::filesystem::remove(file());
  problem.parameters.device = {Device::Kind::cpu, -1};
  problem.parameters.partition = Partition::stations;
  problem.parameters.method = Method::tree;
  problem.parameters.accuracy = left_open.parameters.accuracy = 1e-7;
  whole = compute(problem);
  interrupt(problem);
  resumed = compute(left_open, resuming());
  EXPECT_TRUE(same_bits(resumed.values, whole.values));
  EXPECT_EQ(resumed.report.method, "tree");
  EXPECT_EQ(resumed.report.reason, "as in the checkpoint");
}

TEST_F(GravityCheckpoint, OfAnotherMethodIsRefusedAlsoWhereThePartitionIsOpen) {
  Problem problem;
  problem.parameters.partition = Partition::prisms;
  interrupt(problem);
  problem.parameters.partition = Partition::automatic;
  problem.parameters.method = Method::tree;
  problem.parameters.accuracy = 1e-7;
  try {
    compute(problem, resuming());
    FAIL() << "another method went on";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.checkpoint was made with"));
  }
  problem.parameters.accuracy = Problem().parameters.accuracy;
  try {
    compute(problem, resuming());
    FAIL() << "another method went on";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("made with method direct; this run has tree"));
  }
}

TEST_F(GravityCheckpoint, OfAMethodThatThisModelDoesNotAllowIsRefusedByName) {
  Problem problem;
  problem.stations = {};
  for (const double up : {10.0, 20.0, 40.0, 80.0})
    for (int j = 0; j < 13; ++j)
      for (int i = 0; i < 11; ++i)
        problem.stations.add(-150 + 300.0 / 11 * (i + 0.5), -150 + 300.0 / 13 * j, up);
  problem.parameters.method = Method::lattice;
  problem.parameters.accuracy = 1e-12;
  interrupt(problem);
  problem.parameters.method = Method::automatic;
  for (std::size_t n = 0; n < problem.prisms.size(); ++n)  // another model, at the same stations
    problem.prisms.east[n] -= static_cast<double>(n % 7);
  try {
    compute(problem, resuming());
    FAIL() << "another model went on";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.checkpoint was made with method lattice, which cannot be had"));
    EXPECT_THAT(error.what(), HasSubstr("without --resume"));
  }
}

TEST_F(GravityCheckpoint, OfAGpuThatIsNotHereIsRefusedWithWhatIsMissing) {
  auto problem = Problem();
  interrupt(problem);
  auto print = fingerprint({}, problem.stations.view(), problem.parameters, Method::direct, Device{},
                           Partition::stations);
  for (auto& [what, value, is_hash] : print)
    if (what == "device") value = "NVIDIA Q900";
  write_checkpoint(file(), print, problem.parameters.channels, empty_for(problem));
  problem.parameters.device = {};
  try {
    compute(problem, resuming());
    FAIL() << "went on without the GPU";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run.checkpoint was made with device NVIDIA Q900"));
    EXPECT_THAT(error.what(), HasSubstr(gpu_count() == 0 ? why_no_gpu() : "this run has"));
  }
}

TEST_F(GravityCheckpoint, IsNotNeededAndItsAbsenceIsSaid) {
  const Problem problem;
  const auto fresh = compute(problem, resuming());
  EXPECT_TRUE(same_bits(fresh.values, compute(problem).values));
  ASSERT_EQ(fresh.report.warnings.size(), 1U);
  EXPECT_THAT(fresh.report.warnings[0], HasSubstr("there is no checkpoint"));
}

TEST_F(GravityCheckpoint, IsNotKeptForShortRuns) {
  const Problem problem;
  compute(problem, {nullptr, {file(), 0, 3600, false}});
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(GravityCheckpoint, OfAnotherProblemIsRefusedWithWhatDiffers) {
  const Problem problem;
  interrupt(problem);
  const auto expect_refused = [&](const Problem& other, const std::string& what) {
    try {
      compute(other, resuming());
      FAIL() << "resumed, although " << what;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("run.checkpoint was made " + what));
      EXPECT_THAT(error.what(), HasSubstr("without --resume"));
    }
  };
  auto other = problem;
  other.prisms.density[17] += 1e-9;
  expect_refused(other, "for other densities");
  other = problem;
  other.prisms.top[17] += 1e-9;
  expect_refused(other, "for other prisms");
  other = problem;
  std::swap(other.stations.up[3], other.stations.up[4]);
  expect_refused(other, "for other stations");
  other = problem;
  other.parameters.accuracy = 1e-10;
  expect_refused(other, "with accuracy 1e-12; this run has 1e-10");
  other = problem;
  other.parameters.channels = {Channel::g_u, Channel::g_uu};
  expect_refused(other, "with channels potential g_e");
  other = problem;
  other.parameters.method = Method::tree;
  expect_refused(other, "with method direct; this run has tree");
  other = problem;
  other.parameters.partition = Partition::prisms;
  expect_refused(other, "with partition stations; this run has prisms");
}

TEST_F(GravityCheckpoint, DoesNotMindWhatFollowsFromTheSums) {
  auto problem = Problem();
  interrupt(problem);
  problem.parameters.singular = SingularPolicy::outside;
  problem.parameters.gravitational_constant = 6.674e-11;
  problem.parameters.verify = 2;
  EXPECT_TRUE(same_bits(compute(problem, resuming()).values, compute(problem).values));
}

TEST_F(GravityCheckpoint, ThatIsDamagedIsRefused) {
  const Problem problem;
  interrupt(problem);
  const auto good = testing_support::bytes_of(file().string());
  std::filesystem::resize_file(file(), good.size() / 2);
  EXPECT_THROW(compute(problem, resuming()), FileError);
  std::ofstream(file(), std::ios::trunc) << "not a checkpoint";
  EXPECT_THROW(compute(problem, resuming()), FileError);
  std::mt19937 random(36);
  for (int flip = 0; flip < 36; ++flip) {
    auto bad = good;
    const auto bit = std::uniform_int_distribution<std::size_t>(0, 8 * good.size() - 1)(random);
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    std::ofstream(file(), std::ios::binary) << bad;
    EXPECT_THROW(compute(problem, resuming()), FileError) << "bit " << bit;
  }
}

TEST_F(GravityCheckpoint, ThatHoldsNonsenseIsRefused) {
  const Problem problem;
  const auto channels = problem.parameters.channels;
  const auto print = fingerprint(problem.prisms.view(), problem.stations.view(), problem.parameters,
                                 Method::direct, {Device::Kind::cpu, -1}, Partition::stations);
  const auto refused = [&](const Checkpoint& forged) {
    write_checkpoint(file(), print, channels, forged);
    return testing_support::message([&] { compute(problem, resuming()); });
  };
  auto forged = empty_for(problem);
  EXPECT_EQ(refused(forged), "no error");
  forged.parts = 1000000;
  EXPECT_THAT(refused(forged), HasSubstr("run.checkpoint: is damaged: 1000000 of"));
  forged = empty_for(problem);
  forged.sums.contacts = {{problem.stations.size(), 100, 3}};
  EXPECT_THAT(refused(forged), HasSubstr("is damaged: it tells of station 9015 of 9015"));
  forged.sums.contacts = {{7, INFINITY, 3}};
  EXPECT_THAT(refused(forged), HasSubstr("is damaged: it tells of a density of inf"));
  forged = empty_for(problem);
  for (auto& column : forged.sums.values) column.pop_back();
  EXPECT_THAT(refused(forged), HasSubstr("has the shape [9014], not [9015]"));
}

TEST_F(GravityCheckpoint, ThatCannotBeWrittenDoesNotCostTheRun) {
  const Problem problem;
  std::ofstream(folder / "no") << "a file where a folder would have to be";
  const auto outcome = compute(problem, {nullptr, {folder / "no/such/folder.h5", 0, 0, false}});
  EXPECT_TRUE(same_bits(outcome.values, compute(problem).values));
  ASSERT_EQ(outcome.report.warnings.size(), 1U);
  EXPECT_THAT(outcome.report.warnings[0], HasSubstr("no checkpoint was kept"));
}

}  // namespace
}  // namespace terrane::gravity
