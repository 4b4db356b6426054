// Runs over several shots: checkpoints, data that are given, jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/physics/acoustic/simulation.hpp"

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
  for (double& m : settings.change) m *= 2e-9;
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
  EXPECT_THAT(message([&] { run_shots(other, settings, runtime); }), HasSubstr("was made for other rock"));
}

TEST(AcousticRun, DataThatAreGivenMakeTheImageOfThoseThatAreMadeHere) {
  auto p = four_shots();
  p.exact_time = false;  // or the data pass through both transforms
  auto settings = migration(p);
  const auto made = run_shots(p, settings, on_cpu());
  for (const auto& gather : made.gathers) settings.data.emplace_back(gather.begin(), gather.end());
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
  runtime.threads = 8;  // too few rows for so many
  EXPECT_EQ(simulation.check(runtime).find("steps_at_once"), nullptr);
}

/// The largest pressure at each of the two receivers of the job in this rock.
std::array<double, 2> peaks(const std::string& rock, const std::string& properties) {
  auto text = with("velocity_p = 2000", "velocity_p = 2000\n" + properties);
  text.replace(text.find("end = 0.4"), 9, "end = 0.4\nrock = \"" + rock + "\"");
  const auto result = read(text)->run(on_cpu());
  const auto& values = std::get<std::vector<float>>(result.data.find("pressure")->values);
  std::array<double, 2> most{};
  for (std::size_t n = 0; n < values.size(); ++n)
    most[n % 2] = std::max(most[n % 2], std::abs(static_cast<double>(values[n])));
  return most;
}

TEST(AcousticRun, AJobTakesTheRockOfItsModel) {
  const auto plain = peaks("constant_density", "");
  EXPECT_NEAR(peaks("variable_density", "density = 2300")[0] / plain[0], 1, 0.02);
  EXPECT_NEAR(peaks("vti", "")[0] / plain[0], 1, 1e-4);
  const auto upright = peaks("tti", "epsilon = 0.2\ndelta = 0.05"),
             leaning = peaks("tti", "epsilon = 0.2\ndelta = 0.05\ntilt = 40\ntilt_azimuth = 90");
  EXPECT_NEAR(upright[0] / upright[1], 1, 1e-3);
  EXPECT_GT(std::abs(leaning[0] / upright[0] - 1), 0.02);
}

TEST(AcousticRun, JobsThatCannotBeSayWhereAndWhatNext) {
  EXPECT_THAT(message([] { read(with("end = 0.4", "end = 0.4\nrock = \"variable_density\"")); }),
              AllOf(HasSubstr("has no density"), HasSubstr("constant_density")));
  EXPECT_THAT(message([] { peaks("vti", "epsilon = 0.05\ndelta = 0.1"); }), HasSubstr("is less than delta"));
  EXPECT_THAT(
      message([] {
        read(with("end = 0.4", "end = 0.4\nrock = \"vti\"\nkind = \"migration\"\nwavefield = \"boundary\""));
      }),
      AllOf(HasSubstr("simulation.wavefield"), HasSubstr("checkpoints")));
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
              HasSubstr("cells have no velocity_p"));
}

}  // namespace
}  // namespace terrane::acoustic
