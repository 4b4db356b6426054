// Snapshots of acoustic waves: what they show, when, and in which files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "devices/device.hpp"
#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/acoustic/march/passes.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::acoustic {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

/// A rough box that records what nine nodes of each of its snapshots show.
Problem watched(Equation equation, Snapshots& snapshots, std::vector<std::size_t>& seen) {
  auto p = test::rough_rock(equation, {20, 18, 22}, 0.08);
  p.layers.points = 5;
  p.exact_time = false;
  p.order = 4;
  snapshots.interval = 0.012;
  snapshots.stride = 3;
  snapshots.box = {35, 200, 20, 165, 18, 182};
  const auto shown = snapshots.nodes(p.grid);
  const auto east = shown.places(p.grid, 2), north = shown.places(p.grid, 1), up = shown.places(p.grid, 0);
  p.shots[0].receivers.clear();
  for (std::size_t n = 5; n < east.size() * north.size() * up.size(); n += 23) {
    seen.push_back(n);
    p.shots[0].receivers.push_back(
        {east[n % east.size()], north[n / east.size() % north.size()], up[n / east.size() / north.size()]});
  }
  p.settle();
  snapshots.settle(p);
  return p;
}

struct Film {
  std::vector<double> traces;
  std::vector<std::vector<float>> frames;
};

template <class T>
Film film_of(const Problem& p, const Snapshots& snapshots, Device::Kind kind, const Passes& passes,
             const std::vector<double>& change = {}) {
  Stream stream(resolve({kind, -1}), false, 1);
  Alone alone;
  Engine<T> engine(p, stream, alone);
  engine.use_passes(passes);
  Film film;
  const Watch watch{snapshots, [&](std::size_t n, std::span<const float> values) {
                      EXPECT_EQ(n, film.frames.size());
                      film.frames.emplace_back(values.begin(), values.end());
                    }};
  const auto series = p.source_series();
  film.traces = change.empty() ? engine.model(p.shots[0], series, nullptr, &watch)
                               : engine.born(p.shots[0], series, change, nullptr, &watch);
  if (change.empty()) {
    EXPECT_EQ(film.traces, engine.model(p.shots[0], series)) << "a look changed them";
  }
  return film;
}

/// Frames hold at the nodes of receivers what these record at the same step.
void expect_what_is_heard(const Film& film, const Problem& p, const Snapshots& snapshots,
                          const std::vector<std::size_t>& seen) {
  ASSERT_EQ(film.frames.size(), snapshots.count(p));
  ASSERT_GT(film.frames.size(), 4U);
  double apart = 0, most = 0;
  for (std::size_t f = 0; f < film.frames.size(); ++f) {
    ASSERT_EQ(film.frames[f].size(), static_cast<std::size_t>(snapshots.nodes(p.grid).box().count()));
    const std::size_t step = (f + 1) * snapshots.every;
    EXPECT_NEAR(snapshots.times(p)[f], static_cast<double>(step) * p.step, 1e-12);
    for (std::size_t r = 0; r < seen.size(); ++r) {
      const double recorded = film.traces[step * seen.size() + r];
      most = std::max(most, std::abs(recorded));
      apart = std::max(apart, std::abs(recorded - static_cast<double>(film.frames[f][seen[r]])));
    }
  }
  EXPECT_GT(most, 0);
  EXPECT_LT(apart, 1e-6 * most);
}

TEST(AcousticSnapshots, ShowWhatReceiversHearAtTheirNodesInEveryRock) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    Snapshots snapshots;
    std::vector<std::size_t> seen;
    const auto p = watched(equation, snapshots, seen);
    const auto change = test::Chance(6).list(p.velocity.size());
    Passes three{3, 8, {}, {}};
    for (const std::size_t a : {0, 1}) three.lag[a] = 2 * p.points();
    std::vector<std::vector<float>> first;
    for (const bool born : {false, equation == Equation::constant_density || equation == Equation::vti})
      for (const auto& [kind, passes] :
           {std::pair{Device::Kind::cpu, Passes{}},
            std::pair{Device::Kind::cpu, equation == Equation::tti ? Passes{} : three},
            std::pair{Device::Kind::debug, Passes{}}}) {
        const auto film = film_of<float>(p, snapshots, kind, passes, born ? change : std::vector<double>());
        expect_what_is_heard(film, p, snapshots, seen);
        if (born) continue;
        if (first.empty()) first = film.frames;
        EXPECT_EQ(film.frames, first) << "the same bits in passes, and on the debug device";
      }
  }
}

class AcousticSnapshotsOn : public testing::TestWithParam<Device> {};

TEST_P(AcousticSnapshotsOn, ADeviceShowWhatReceiversHearInEveryRock) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const std::size_t every : {7, 8}) {  // steps are graphs of two
      SCOPED_TRACE(testing::Message() << static_cast<int>(equation) << ' ' << every);
      Snapshots snapshots;
      std::vector<std::size_t> seen;
      const auto p = watched(equation, snapshots, seen);
      snapshots.every = every;
      expect_what_is_heard(film_of<float>(p, snapshots, GetParam().kind, {}), p, snapshots, seen);
    }
}

TERRANE_ON_EVERY_DEVICE(AcousticSnapshotsOn);

TEST(AcousticSnapshots, TakenAfterAnOddNumberOfStepsLeaveTheWaveAsItIs) {
  Snapshots snapshots;
  std::vector<std::size_t> seen;
  const auto p = watched(Equation::constant_density, snapshots, seen);
  for (const std::size_t every : {1, 7, 9, 16}) {
    snapshots.every = every;
    for (const auto kind : {Device::Kind::cpu, Device::Kind::debug})
      EXPECT_EQ(film_of<float>(p, snapshots, kind, {}).frames.size(), (p.steps() - 1) / every);
  }
}

TEST(AcousticSnapshots, ShowTheNodesOfTheBoxAloneAndOfAFlatOneTheNearest) {
  const auto grid = test::even_box({11, 8, 21}, 10, 2000, -100).grid;
  Snapshots s;
  EXPECT_THAT(s.nodes(grid).count, ElementsAre(11, 8, 21));
  s.stride = 4;
  EXPECT_THAT(s.nodes(grid).count, ElementsAre(3, 2, 6));
  s.stride = 1;
  s.box = {-51, 20, -66, -66, -1000, -90};
  auto shown = s.nodes(grid);
  EXPECT_THAT(shown.first, ElementsAre(0, 3, 5));
  EXPECT_THAT(shown.count, ElementsAre(2, 1, 8));
  EXPECT_THAT(shown.places(grid, 1), ElementsAre(-70));
  // Between the outermost node and the side, half a cell beyond it, there is none.
  for (const int stride : {1, 2})
    for (const auto& [west, east] : {std::pair{102.0, 400.0}, {-400.0, -102.0}}) {
      s = {};
      s.stride = stride;
      s.box = {west, east, -1000, 1000, -1000, 1000};
      EXPECT_EQ(s.nodes(grid).box().count(), 0) << stride << ' ' << west;
    }
  // Each node is of one part, wherever the parts meet.
  s = {};
  s.stride = 3;
  s.box = {-75, 1000, -1000, 1000, -85, 1000};
  shown = s.nodes(grid);
  for (const int axis : {0, 1}) {
    Index sum = 0;
    for (const auto& [from, to] : {std::pair<Index, Index>{-4, 3}, {3, 4}, {4, 7}, {7, 15}})
      sum += shown.within(grid.box().with(axis, from, to)).count();
    EXPECT_EQ(sum, shown.box().count());
  }
}

const char* const job_of_snapshots = R"([mesh]
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
stations = [[150, 0, -15]]
[source]
at = [[300, 0, -15], [200, 0, -15], [400, 0, -15]]
frequency = 12
[simulation]
physics = "acoustic"
end = 0.3
)";

std::unique_ptr<terrane::Simulation> job_with(const std::string& snapshots, const std::string& more = "") {
  return Simulation::from_job(
      Config::parse(job_of_snapshots + more + (snapshots.empty() ? "" : "[snapshots]\n" + snapshots)), {});
}

Runtime on_cpu_beside(const std::filesystem::path& checkpoint = {}) {
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  runtime.checkpoint = {checkpoint, 0, 0, false};
  return runtime;
}

/// Of each variable its values.
std::map<std::string, Values> all_values_of(const Dataset& data) {
  std::map<std::string, Values> all;
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) all[v.name] = v.values;
  return all;
}

TEST(AcousticSnapshots, OfAJobAreInItsFilesAndOnTheDiskUntilThen) {
  const TemporaryFolder folder;
  const auto simulation = job_with("every = 0.05\nshot = 2\nstride = 2\n", "sample = \"5 ms\"\n");
  const auto held = simulation->run(on_cpu_beside());
  const auto* film = held.data.find("snapshot_pressure");
  ASSERT_NE(film, nullptr);
  EXPECT_THAT(held.data.shape(*film), ElementsAre(6, 20, 1, 30));
  EXPECT_THAT(film->long_name, HasSubstr("shot 2"));
  // The first picture, at 0.05 s, has the wave near the second source, at easting 200.
  const auto& values = std::get<std::vector<float>>(film->values);
  const auto largest = std::max_element(values.begin(), values.begin() + 600,
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
  EXPECT_NEAR(static_cast<double>((largest - values.begin()) % 30) * 20 + 5, 200, 60);
  EXPECT_THAT(simulation->check(on_cpu_beside()).text(), HasSubstr("6 of 20 × 1 × 30 nodes"));
  const auto plain = job_with("", "sample = \"5 ms\"\n")->run(on_cpu_beside());
  EXPECT_EQ(all_values_of(plain.data)["pressure"], all_values_of(held.data)["pressure"]);
  EXPECT_EQ(plain.data.find("snapshot_pressure"), nullptr);
  {
    const auto kept = simulation->run(on_cpu_beside(folder / "a.checkpoint"));
    EXPECT_EQ(size(kept.data.find("snapshot_pressure")->values), 0U);
    EXPECT_EQ(all_values_of(to_dataset(kept)), all_values_of(held.data));
    for (const char* name : {"a.nc", "a.segy"}) {
      write_result(folder / name, kept);
      write_result(folder / (std::string("held_") + name), held);
    }
  }
  EXPECT_EQ(all_values_of(io::read_dataset(folder / "a.nc")),
            all_values_of(io::read_dataset(folder / "held_a.nc")));
  // The first 3200 bytes are text, with the second in which it was written.
  const auto after_text = [&](const char* name) {
    return testing_support::bytes_of(folder / name).substr(3200);
  };
  EXPECT_EQ(after_text("a.segy"), after_text("held_a.segy"));
}

/// Stops a run after two shots and a half.
class StopsInTheThird final : public Progress {
 public:
  void advance(std::uint64_t amount) override { done_ += amount; }
  bool cancelled() const override { return done_ > 2560; }

 private:
  std::uint64_t done_ = 0;
};

TEST(AcousticSnapshots, OfAShotThatWasDoneBeforeARunWasStoppedAreInItsCheckpoint) {
  const TemporaryFolder folder;
  for (const char* const shot : {"shot = 1\n", "shot = 3\n"}) {
    const auto simulation = job_with("every = 0.05\n" + std::string(shot));
    const auto whole = simulation->run(on_cpu_beside());
    auto runtime = on_cpu_beside(folder / "a.checkpoint");
    StopsInTheThird user;
    runtime.progress = &user;
    EXPECT_THROW(simulation->run(runtime), Cancelled);
    ASSERT_TRUE(std::filesystem::exists(runtime.checkpoint.file));
    runtime.progress = nullptr;
    runtime.checkpoint.resume = true;
    const auto resumed = simulation->run(runtime);
    EXPECT_EQ(all_values_of(to_dataset(resumed)), all_values_of(whole.data));
    EXPECT_THAT(resumed.report.text(), HasSubstr("resumed from"));
    const auto other = job_with("every = 0.06\n" + std::string(shot));
    EXPECT_THAT(message([&] { other->run(runtime); }), HasSubstr("was made for other snapshots"));
    std::filesystem::remove(runtime.checkpoint.file);
  }
}

TEST(AcousticSnapshots, ThatCannotBeSayWhereAndWhatNext) {
  EXPECT_THAT(message([] { job_with("every = 9\n"); }),
              AllOf(HasSubstr("snapshots"), HasSubstr("one every 9 s"), HasSubstr("takes 0.30")));
  EXPECT_THAT(message([] { job_with("every = 0.1\nshot = 4\n"); }), HasSubstr("Allowed: 1 to 3."));
  EXPECT_THAT(message([] { job_with("every = 0.1\nbox = [700, 800, -5, 5, -400, 0]\n"); }),
              AllOf(HasSubstr("no node of the mesh is in the box"), HasSubstr("0 to 600 m along easting")));
  EXPECT_THAT(message([] { job_with("every = 0.1\nquantity = \"velocity\"\n"); }), HasSubstr("quantity"));
  EXPECT_THAT(message([] { job_with("every = 0.1\n", "kind = \"migration\"\nsmoothing = 50\n"); }),
              AllOf(HasSubstr("a migration takes no snapshots"), HasSubstr("modelling")));
  std::string text = "[snapshots]\nevery = 1e-9\n" + std::string(job_of_snapshots) + "step = 1e-9\n";
  text.replace(text.find("end = 0.3"), 9, "end = 0.0999");
  text.replace(text.find("[60, 1, 40]"), 11, "[120, 1, 80]");
  const auto endless = Simulation::from_job(Config::parse(text), {});
  EXPECT_THAT(message([&] { endless->check(on_cpu_beside("a.checkpoint")); }),
              AllOf(HasSubstr("snapshots want"), HasSubstr("are free"), HasSubstr("stride")));
}

}  // namespace
}  // namespace terrane::acoustic
