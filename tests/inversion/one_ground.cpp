// One ground for all inversions of a job: the cells below it, and what they weigh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/inversion/job/joint_job.hpp"
#include "terrane/inversion/model/regulariser.hpp"
#include "terrane/physics/all.hpp"

namespace terrane::inversion {
namespace {

TEST(LoadsOfDevices, AreOneForOneGpuHoweverItWasAskedFor) {
  std::vector<DeviceLoad> loads;
  const auto cuda = Device::Kind::cuda;
  add_load(loads, {cuda, 0, 1}, 3e9);  // "cuda" on two ranks that have a GPU each,
  add_load(loads, {cuda, 0, 2}, 4e9);  // and "cuda:0", which they share
  add_load(loads, {cuda, 1, 1}, 5e9);
  add_load(loads, {Device::Kind::debug, 0, 1}, 6e9);
  ASSERT_EQ(loads.size(), 3U);
  EXPECT_EQ(loads[0].bytes, 7e9);
  EXPECT_EQ(loads[0].models, 2);
  EXPECT_EQ(loads[0].device, (Device{cuda, 0, 2}));
  EXPECT_EQ(loads[1].bytes, 5e9);
}

/// Rank 0 of two on one machine, or each on its own, which only counts them.
class OneOfTwo final : public Comm {
 public:
  explicit OneOfTwo(int here = 2) : here_(here) {}
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  Place on_node() const noexcept override { return {0, here_}; }
  void broadcast(std::span<std::byte>, int) override {}
  int lowest(int value) override { return value; }
  void send(std::span<const std::byte>, int) override {}
  void receive(std::span<std::byte>, int) override {}
  void abort(int) override {}

 private:
  int here_;
};

using testing_support::message;
using testing_support::TemporaryFolder;

/// Those of a job by name, found together if asked for.
std::vector<std::unique_ptr<Simulation>> inversions_of(const std::string& text, const TemporaryFolder& folder,
                                                       bool together) {
  const auto parts = physics::inversions().registry().parts(Config::parse(text, "job.toml", folder / ""));
  std::vector<Job> jobs;
  std::vector<Member> members;
  for (const auto& part : parts) jobs.push_back(physics::inversions().registry().make(part.job));
  for (std::size_t n = 0; n < jobs.size(); ++n)
    members.push_back({parts[n].name, "job.toml: simulation", &jobs[n]});
  if (together) join(members);
  std::vector<std::unique_ptr<Simulation>> all;
  for (auto& job : jobs) all.push_back(std::move(job.simulation));
  return all;
}

/// A job of three kinds of data on a slope: the ground rises from -15 m in the west to 15 m in the east.
class Slope {
 public:
  Slope() {
    folder_.put("slope.asc",
                "ncols 2\nnrows 2\nxllcenter -100\nyllcenter -100\ncellsize 200\n-15 15\n-15 15\n");
    folder_.put("gravity.csv",
                "easting [m],northing [m],up [m],g_u_observed [mGal]\n-40,0,20,0.1\n40,0,20,0.1\n");
    folder_.put("magnetic.csv", "easting [m],northing [m],up [m],tmi_observed [nT]\n-40,0,21,9\n40,0,21,9\n");
    folder_.put("arrays.csv",
                "a_easting [m],a_northing [m],b_easting [m],b_northing [m],m_easting [m],m_northing [m],"
                "n_easting [m],n_northing [m],apparent_resistivity_observed [ohm m]\n"
                "-30,0,-10,0,10,0,30,0,100\n");
  }
  /// Its inversions by name, found together if asked for.
  std::vector<std::unique_ptr<Simulation>> made(const std::string& tables, const std::string& keys = "",
                                                bool together = false) const {
    const auto text = R"(
[mesh]
box = [-60, 60, -60, 60, -60, 20]
shape = [6, 6, 4]
[[simulation]]
name = "gravity"
physics = "gravity"
[[simulation]]
name = "magnetic"
physics = "magnetic"
[[simulation]]
name = "resistivity"
physics = "electric"
TABLES
[survey.gravity]
kind = "list"
file = "gravity.csv"
[survey.magnetic]
kind = "list"
file = "magnetic.csv"
[survey.resistivity]
kind = "file"
file = "arrays.csv"
[inversion]
percent = [3]
KEYS
[joint]
)";
    std::string whole(text);
    whole.replace(whole.find("TABLES"), 6, tables);
    whole.replace(whole.find("KEYS"), 4, keys);
    return inversions_of(whole, folder_, together);
  }
  std::string refusal(const std::string& tables, const std::string& keys = "") const {
    return message([&] { made(tables, keys, true); });
  }

 private:
  TemporaryFolder folder_;
};

const Problem& found_by(const Simulation& simulation) {
  return dynamic_cast<const InversionJob&>(simulation).problem();
}

constexpr const char* one_ground = "[model]\ntopography = \"slope.asc\"\n";

TEST(OneGround, AllSimulationsOfAJobFindTheSameCellsBelowIt) {
  const Slope slope;
  const auto all = slope.made(one_ground);
  ASSERT_EQ(all.size(), 3U);
  const auto& first = found_by(*all[0]);
  ASSERT_EQ(first.ground.size(), 144U);
  double rock = 0;  // of 8,000 m3 each, where the ground is a plane through the middle at 0 m
  for (const double share : first.ground) rock += share;
  EXPECT_NEAR(rock * 20 * 20 * 20, 120 * 120 * 60, 1e-6);
  const auto cut =
      std::count_if(first.ground.begin(), first.ground.end(), [](double s) { return s > 0 && s < 1; });
  EXPECT_EQ(cut, 36);  // one in each column
  for (const auto& one : all) {
    EXPECT_EQ(found_by(*one).active, first.active);
    EXPECT_EQ(found_by(*one).ground, first.ground);
  }
  EXPECT_EQ(slope.refusal(one_ground), "no error");
}

TEST(MatrixOnDevices, HasToFitInPartsThatRanksHold) {
  const Slope slope;
  const auto said = [&](Comm* comm) {
    const auto all = slope.made("", "[inversion.gravity]\nstorage = \"single\"");
    Runtime runtime;
    runtime.device = {Device::Kind::debug, -1};
    runtime.comm = comm;
    return message([&] { all.front()->check(runtime); });
  };
  OneOfTwo comm;
  const double whole = 2 * 6 * 6 * 4 * 4,  // bytes of two rows, and beside them the regulariser's inverse
      inverse = Regulariser::bytes_on_device(TensorMesh::regular({-60, 60, -60, 60, -60, 20}, {6, 6, 4}));
  const auto has = [](double bytes) {
    setenv("TERRANE_DEBUG_MEMORY", std::to_string(static_cast<int>(bytes / 0.95)).c_str(), 1);
  };
  has(inverse + 0.7 * whole);
  const auto alone = said(nullptr), shared = said(&comm);
  has(inverse + 0.4 * whole);
  const auto too_little = said(&comm);
  unsetenv("TERRANE_DEBUG_MEMORY");
  EXPECT_THAT(alone, testing::HasSubstr("of sensitivities and 3.8 kB of the regulariser's inverse"));
  EXPECT_EQ(shared, "no error");
  EXPECT_THAT(too_little, testing::HasSubstr("of sensitivities for each rank and"));
}

TEST(MatrixInMemory, HasToFitInThePartsThatMachinesHold) {
  const TemporaryFolder folder;
  std::string stations = "easting [m],northing [m],up [m],g_u_observed [mGal]\n";
  for (int n = 0; n < 100; ++n)
    stations += std::to_string(17.3 * (n % 10) + 0.3 * n) + "," + std::to_string(1.7 * n) + ",5,0.1\n";
  folder.put("stations.csv", stations);
  const std::string text = R"(
[mesh]
box = [0, 200, 0, 200, -100, 0]
shape = [20, 20, 10]
[survey]
kind = "list"
file = "stations.csv"
[inversion]
percent = [3]
)";
  const auto storage = [&](Comm* comm) {
    const auto all = inversions_of(text, folder, false);
    Runtime runtime;
    runtime.device = {Device::Kind::cpu, -1};
    runtime.memory = 2'000'000;  // where all entries would take 1.6 MB
    runtime.comm = comm;
    return all.front()->check(runtime).method;
  };
  OneOfTwo on_one_machine, on_two(1);
  EXPECT_EQ(storage(nullptr), "storage none");
  EXPECT_EQ(storage(&on_one_machine), "storage none");
  EXPECT_EQ(storage(&on_two), "storage single");
}

TEST(OneGround, ACellThatItCutsWeighsWhatIsBelowIt) {
  const Slope slope;
  const auto level = slope.made("[model]\ntopography = -12\n");
  const auto lower = slope.made("[mesh.gravity]\nbox = [-60, 60, -60, 60, -60, -12]\n");
  std::vector<double> field[2];
  for (const auto& [from, to] : {std::pair{&level, &field[0]}, {&lower, &field[1]}}) {
    auto& simulation = *from->front();
    simulation.check();  // makes G
    const auto& p = found_by(simulation);
    to->resize(p.rows());
    p.g->apply(std::vector<double>(p.columns(), 1.0), *to);
  }
  for (std::size_t n = 0; n < field[0].size(); ++n)
    EXPECT_NEAR(field[0][n], field[1][n], 1e-9 * -field[1][n]);
}

TEST(OneGround, ASecondOneIsRefusedWhereItStands) {
  const Slope slope;
  for (const std::string keys : {"topography = 5", "[inversion.gravity]\ntopography = 5"}) {
    const auto said = slope.refusal(one_ground, keys);
    EXPECT_NE(said.find("inversion.topography: a second ground, beside that of job.toml:"), said.npos)
        << said;
    EXPECT_NE(said.find("model.topography"), said.npos) << said;
  }
  // One of two simulations, another of the third, whose table [[simulation]] is the last.
  const auto two = slope.refusal("topography = \"slope.asc\"\n",
                                 "[inversion.gravity]\ntopography = 5\n[inversion.magnetic]\ntopography = 5");
  EXPECT_NE(two.find("two grounds: job.toml:"), two.npos) << two;
  EXPECT_NE(two.find("inversion.topography, and job.toml:"), two.npos) << two;
  EXPECT_NE(two.find("simulation.topography"), two.npos) << two;
  const auto models = slope.refusal(
      "[model.gravity]\ntopography = 5\n[model.magnetic]\ntopography = 5\n"
      "[model.resistivity]\ntopography = 6\n");
  EXPECT_NE(models.find("two grounds"), models.npos) << models;
}

TEST(OneGround, ElectromagneticFieldsTakeItAlongFacesOfCells) {
  TemporaryFolder folder;
  folder.put("gravity.csv", "easting [m],northing [m],up [m],g_u_observed [mGal]\n-40,0,20,0.1\n");
  folder.put("fields.csv", "source,frequency [Hz],receiver,e_e_real [V/m],e_e_imag [V/m]\n1,4,1,1e-6,1e-7\n");
  const std::string text = R"(
[mesh.gravity]
box = [-60, 60, -60, 60, -60, 20]
shape = [6, 6, 4]
[mesh.fields]
kind = "tensor"
easting_widths = ["6*20"]
northing_widths = ["6*20"]
up_widths = ["4*20"]
origin = [-60, -60, -60]
[[simulation]]
name = "gravity"
physics = "gravity"
[[simulation]]
name = "fields"
physics = "electromagnetic"
frequencies = [4]
components = ["e_e"]
[[source.fields]]
kind = "wire"
points = [[-30, 0, -40], [-10, 0, -40]]
[survey.gravity]
kind = "list"
file = "gravity.csv"
[survey.fields]
kind = "list"
stations = [[20, 0, -40]]
[model.fields.background]
resistivity = 30
[model.fields.air]
resistivity = "1e8 ohm m"
[inversion]
percent = [3]
[inversion.fields]
observed = "fields.csv"
[joint]
)";
  const auto said = [&](const std::string& more) {
    return message([&] { inversions_of(text + more, folder, true); });
  };
  EXPECT_EQ(said("[model]\ntopography = -20\n"), "no error");
  const auto cut = said("[model]\ntopography = -12\n");
  EXPECT_NE(cut.find("model.topography cuts cells, and electromagnetic fields take whole ones"), cut.npos)
      << cut;
  EXPECT_NE(cut.find("give all the same inversion.topography"), cut.npos) << cut;
  // What it says to write.
  std::string told(text);
  told.replace(told.find("percent = [3]"), 13, "percent = [3]\ntopography = -12");
  told.replace(told.find("[model.fields.background]"), 25,
               "[model.fields]\ntopography = -12\n[model.fields.background]");
  EXPECT_EQ(message([&] { inversions_of(told, folder, true); }), "no error");
}

}  // namespace
}  // namespace terrane::inversion
