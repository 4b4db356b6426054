// Jobs of travel times: surveys, picks, errors, refusals, checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>

#include "support/fields.hpp"
#include "support/files.hpp"
#include "support/travel_times.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/traveltime/physics.hpp"
#include "terrane/physics/traveltime/simulation.hpp"

namespace terrane::traveltime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

constexpr const char* mesh_and_rock = R"(
[mesh]
box = [0, 200, -5, 5, -60, 0]
shape = [100, 1, 30]
[model.background]
velocity_p = 2500
[[model.body]]
kind = "layer"
bottom = -20
top = 0
velocity_p = 1000
[simulation]
physics = "traveltime"
)";
constexpr const char* survey = R"(
[source]
at = [[10, 0, 0], [150, 0, -40]]
[survey]
stations = [[20, 0, 0], [190, 0, 0], [100, 0, -59]]
)";

std::unique_ptr<terrane::Simulation> made(const std::string& text) {
  return physics().make(Config::parse(text), {});
}
std::vector<double> values(const Result& result, const char* name = "travel_time") {
  return result.data.real(name);
}
std::vector<double> times_of(const std::string& text) { return values(made(text)->run()); }

TEST(TravelTimeJobs, GiveEveryShotAtEveryReceiverWithTheirPlaces) {
  const auto result = made(std::string(mesh_and_rock) + survey)->run();
  const auto times = values(result);
  ASSERT_EQ(times.size(), 6u);
  EXPECT_NEAR(times[0], 0.01, 1e-5);
  EXPECT_NEAR(times[1], test::time_over_layer(1000, 2500, 20, 180), 1e-3);
  EXPECT_EQ(values(result, "shot_easting"), (std::vector<double>{10, 10, 10, 150, 150, 150}));
  EXPECT_EQ(values(result, "easting"), (std::vector<double>{20, 190, 100, 20, 190, 100}));
  EXPECT_EQ(values(result, "receiver"), (std::vector<double>{1, 2, 3, 1, 2, 3}));
}

TEST(TravelTimeJobs, StateErrorsThatHoldTheTrueOnes) {
  const auto result = made(std::string(mesh_and_rock) +
                           "verify = \"estimate\"\n[source]\nat = [[10, 0, 0]]\n[survey]\nkind = \"lines\"\n"
                           "start = [12, 0]\nazimuth = 90\nlength = 180\nspacing = 4\nheight = 0\n")
                          ->run();
  const auto times = values(result), errors = values(result, "travel_time_error"),
             offset = values(result, "offset");
  std::size_t missed = 0;
  for (std::size_t n = 0; n < times.size(); ++n) {
    const double truth = test::time_over_layer(1000, 2500, 20, offset[n]);
    missed += std::abs(times[n] - truth) > errors[n] ? 1 : 0;
    EXPECT_LT(errors[n], 0.05 * std::max(truth, 0.02)) << offset[n];
  }
  EXPECT_LE(missed, times.size() / 10) << times.size();
}

TEST(TravelTimeJobs, RefineUntilTheAccuracyIsKept) {
  std::string coarse = mesh_and_rock;
  coarse.replace(coarse.find("[100, 1, 30]"), 12, "[20, 1, 6]");
  const std::string line =
      "[source]\nat = [[10, 0, 0]]\n[survey]\nkind = \"lines\"\nstart = [12, 0]\nazimuth = 90\n"
      "length = 180\nspacing = 4\nheight = 0\n";
  const auto worst = [&](const std::string& keys) {
    const auto result = made(coarse + keys + line)->run();
    const auto times = values(result), offset = values(result, "offset");
    double most = 0;
    for (std::size_t n = 0; n < times.size(); ++n)
      most = std::max(most, std::abs(times[n] - test::time_over_layer(1000, 2500, 20, offset[n])));
    return most;
  };
  const double before = worst("");
  EXPECT_LT(worst("verify = \"refine\"\naccuracy = 0.005\nmost_cells = 30000\n"), 0.5 * before) << before;
}

TEST(TravelTimeJobs, PlanAMeshByTheAccuracyAskedFor) {
  const std::string rock = R"(
[model.background]
velocity_p = 2500
[[model.body]]
kind = "layer"
bottom = -20
top = 0
velocity_p = 1000
[source]
at = [[0, 0, 0]]
[survey]
stations = [[30, 0, 0], [200, 0, 0]]
[simulation]
physics = "traveltime"
)";
  const double truth = test::time_over_layer(1000, 2500, 20, 200);
  for (const double accuracy : {0.02, 0.004}) {
    const auto times = times_of(rock + "accuracy = " + std::to_string(accuracy));
    EXPECT_NEAR(times[1], truth, accuracy * truth);
  }
}

TEST(TravelTimeJobs, PlanCellsThatKeepTheAccuracyOverADippingInterface) {
  // The interface crosses cells, so errors are larger than over layers that end at faces.
  constexpr double v1 = 1000, v2 = 2500, depth = 14, slope = 0.07, accuracy = 0.01;
  const std::string folder = testing::TempDir();
  {
    std::ofstream grid(folder + "dipping.csv");
    grid << "easting [m],northing [m],up [m]\n";
    for (const double x : {-100.0, 300.0})
      for (const double y : {-50.0, 50.0}) grid << x << ',' << y << ',' << -depth - slope * x << '\n';
  }
  const auto result = physics()
                          .make(Config::parse(R"(
[model.background]
velocity_p = 2500
[[model.body]]
kind = "layer"
bottom = "dipping.csv"
top = 0
velocity_p = 1000
[source]
at = [[0, 0, 0]]
[survey]
kind = "lines"
start = [4, 0]
azimuth = 90
length = 196
spacing = 4
height = 0
[simulation]
physics = "traveltime"
accuracy = 0.01
)",
                                              "job.toml", folder),
                                {})
                          ->run();
  const auto times = values(result), offset = values(result, "offset");
  const double dip = std::atan(slope), critical = std::asin(v1 / v2), distance = depth * std::cos(dip);
  const auto exact = [&](double x) {
    return std::min(x / v1, (x * std::sin(critical + dip) + 2 * distance * std::cos(critical)) / v1);
  };
  double most = 0;
  for (std::size_t n = 0; n < times.size(); ++n) most = std::max(most, std::abs(times[n] - exact(offset[n])));
  EXPECT_LT(most, accuracy * exact(offset.back()));
  EXPECT_GT(most, accuracy * exact(offset.back()) / 3) << "cells three times as wide would do";
}

TEST(TravelTimeJobs, PutShotsAndReceiversOnTheGroundAndWavesBelowIt) {
  // A slope of 1 : 4 whose rock is the same everywhere: along it waves run straight, in the steps of its
  // cells.
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "slope.csv")
      << "easting [m],northing [m],up [m]\n0,-10,0\n200,-10,50\n0,10,0\n200,10,50\n";
  std::ofstream(folder + "slope_picks.csv") << "shot_easting,receiver_easting\n20,180\n20,40\n";
  const auto times = values(physics()
                                .make(Config::parse(R"(
[mesh]
box = [0, 200, -5, 5, -40, 60]
shape = [100, 1, 100]
[model]
topography = "slope.csv"
[model.background]
velocity_p = 2000
[source]
file = "slope_picks.csv"
[simulation]
physics = "traveltime"
)",
                                                    "job.toml", folder),
                                      {})
                                ->run());
  EXPECT_NEAR(times[0], std::hypot(160, 40) / 2000, 0.01 * 0.08);
}

TEST(TravelTimeJobs, ReadTheTablesThatRunsWriteAndShotsAndGeophones) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "picks.csv")
      << "easting [m],northing [m],up [m],shot_easting [m],shot_northing [m],shot_up "
         "[m],travel_time_observed [ms],"
         "travel_time_uncertainty [ms]\n190,0,0,10,0,0,105,1\n20,0,0,10,0,0,11,2\n";
  std::ofstream(folder + "picks.sgt")
      << "3 # shot/geophone points\n#x y\n10 0\n20 0\n190 0\n"
         "3 # measurements\n#s g t/ms err/ms valid\n1 3 105 1 1\n1 2 11 2 1\n2 3 1 1 0\n";
  for (const auto& [file, key] :
       {std::pair{"picks.csv", "source"}, {"picks.sgt", "source"}, {"picks.csv", "survey"}}) {
    const auto result =
        physics()
            .make(Config::parse(std::string(mesh_and_rock) + "[" + key + "]\nfile = \"" + file + "\"\n",
                                "job.toml", folder),
                  {})
            ->run();
    const auto times = values(result);
    ASSERT_EQ(times.size(), 2u) << file;
    EXPECT_NEAR(times[1], 0.01, 1e-5) << file;
    EXPECT_EQ(values(result, "travel_time_observed"), (std::vector<double>{0.105, 0.011})) << file;
    EXPECT_EQ(values(result, "travel_time_uncertainty"), (std::vector<double>{0.001, 0.002})) << file;
    EXPECT_NEAR(values(result, "travel_time_residual")[1], 0.011 - times[1], 1e-15) << file;
  }
}

TEST(TravelTimeJobs, RefuseWhatHasNoAnswerAtItsKey) {
  const auto said = [](const std::string& more, const std::string& rock = mesh_and_rock) {
    return message([&] { made(rock + more); });
  };
  EXPECT_THAT(said("[source]\nat = [[10, 0, 5]]\n[survey]\nstations = [[20, 0, 0]]"),
              AllOf(HasSubstr("source.at: shot 1"), HasSubstr("up 5 m lies outside the mesh"),
                    HasSubstr("-60 to 0")));
  EXPECT_THAT(said("[source]\nat = [[10, 0, 0]]\n[survey]\nstations = [[20, 0, 0], [300, 0, 0]]"),
              AllOf(HasSubstr("survey.stations"), HasSubstr("station 2: easting 300 m lies outside")));
  EXPECT_THAT(said("[source]\nat = [[10, 0, 0]]\n[survey]\nstations = [[20, 4, 0]]"),
              AllOf(HasSubstr("survey"), HasSubstr("off the plane"), HasSubstr("more cells")));
  EXPECT_THAT(said("[source]\nat = [[10, 0, 0]]\nfile = \"x.csv\"\n"), HasSubstr("source.at"));
  EXPECT_THAT(said("[survey]\nstations = [[20, 0, 0]]"),
              AllOf(HasSubstr("source.first"), HasSubstr("or a file")));
  EXPECT_THAT(said("[source]\nat = [[10, 0, 0]]\n[survey]\nstations = [[20, 0, 0]]", R"(
[mesh]
box = [0, 200, -5, 5, -60, 0]
shape = [100, 1, 30]
[model.background]
density = 2000
[simulation]
physics = "traveltime"
)"),
              HasSubstr("no velocity_p"));
  const std::string island = R"(
[mesh]
box = [0, 200, -5, 5, -60, 0]
shape = [100, 1, 30]
[[model.body]]
kind = "box"
box = [0, 50, -5, 5, -60, 0]
velocity_p = 2000
[[model.body]]
kind = "box"
box = [100, 200, -5, 5, -60, 0]
velocity_p = 2000
[simulation]
physics = "traveltime"
)";
  EXPECT_THAT(said("[source]\nat = [[10, 0, 0]]\n[survey]\nstations = [[20, 0, 0], [150, 0, 0]]", island),
              AllOf(HasSubstr("station 2"), HasSubstr("air lies all around between it and shot 1")));
  EXPECT_THAT(said("[source]\nat = [[70, 0, 0]]\n[survey]\nstations = [[20, 0, 0]]", island),
              AllOf(HasSubstr("shot 1"), HasSubstr("lies in air")));
}

TEST(TravelTimeJobs, RefusePicksThatCannotBe) {
  const std::string folder = testing::TempDir();
  const auto said = [&](const char* name, const std::string& text) {
    std::ofstream(folder + name) << text;
    return message([&] {
      physics().make(Config::parse(std::string(mesh_and_rock) + "[source]\nfile = \"" + name + "\"\n",
                                   "job.toml", folder),
                     {});
    });
  };
  EXPECT_THAT(said("a.csv", "shot_easting,receiver_easting,travel_time\n10,20,-1\n"), HasSubstr("a.csv:2"));
  EXPECT_THAT(said("b.csv", "shot_easting,travel_time\n10,1\n"), HasSubstr("easting"));
  EXPECT_THAT(said("c.csv", "shot_easting,receiver_easting,travel_time,travel_time_uncertainty\n10,20,1,0\n"),
              AllOf(HasSubstr("c.csv:2"), HasSubstr("above zero")));
  EXPECT_THAT(said("d.sgt", "2\n#x z\n0 0\n5 0\n1\n#s g t\n1 3 0.1\n"),
              AllOf(HasSubstr("d.sgt:7"), HasSubstr("no shot or geophone 3"), HasSubstr("1 to 2")));
  EXPECT_THAT(said("e.sgt", "2\n#x z\n0 0\n5 0\n2\n#s g t\n1 2 0.1\n"), HasSubstr("1 of 2 travel times"));
  EXPECT_THAT(said("f.sgt", "2\n#x z\n0 0\n5 0\n1\n#s g\n1 2\n"), HasSubstr("no column t"));
  const std::string geophones =
      "5\n#x z\n0 0\n5 0\n9 0\n20 0\n30 0\n4\n#s g t/ms\n1 2 3\n1 3 5\n1 4 10\n1 5 ";
  EXPECT_THAT(said("h.sgt", geophones + "-9999\n"),
              AllOf(HasSubstr("source.file: t: "), HasSubstr("(value 4) is far from all others")));
  EXPECT_EQ(said("i.sgt", geophones + "15\n"), "no error");
  EXPECT_THAT(said("g.csv", "shot_easting,receiver_easting\n10,400\n"),
              AllOf(HasSubstr("source.file"), HasSubstr("easting 400 m lies outside the mesh")));
}

TEST(TravelTimeJobs, HaveTheSameBitsOnAnyNumberOfThreadsAndGoOnFromACheckpoint) {
  const auto p = test::rough_rock(7, 9);
  Runtime one, four;
  one.threads = 1, four.threads = 4;
  const auto whole = travel_times(p, one).values;
  EXPECT_EQ(travel_times(p, four).values, whole);

  class StopsAfter final : public Progress {
   public:
    void advance(std::uint64_t) override { ++shots_; }
    bool cancelled() const override { return shots_ >= 3; }

   private:
    std::atomic<int> shots_{0};
  } stops;
  one.checkpoint.file = testing::TempDir() + "times.checkpoint";
  one.checkpoint.interval = 0;
  one.progress = &stops;
  EXPECT_THROW(travel_times(p, one), Cancelled);
  one.progress = nullptr;
  one.checkpoint.resume = true;
  const auto resumed = travel_times(p, one);
  EXPECT_EQ(resumed.values, whole);
  EXPECT_THAT(resumed.notes, testing::ElementsAre(HasSubstr("of 7 shots done")));
}

TEST(TravelTimeJobs, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(test::rough_rock(2, 2));
}

}  // namespace
}  // namespace terrane::traveltime
