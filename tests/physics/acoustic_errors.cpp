// Errors that runs of modelling state, against closed forms.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "terrane/physics/acoustic/companion.hpp"
#include "terrane/physics/acoustic/dispersion.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

namespace terrane::acoustic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

Runtime on_one_thread() {
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  runtime.threads = 1;
  return runtime;
}

std::unique_ptr<terrane::Simulation> simulation_of(const std::string& text) {
  return Simulation::from_job(Config::parse(text, "job.toml", "."), on_one_thread());
}

/// The wave of a line source in two dimensions, ∫ s(t − r/v cosh u) du / 2π, at the steps of the problem.
std::vector<double> cylindrical(const Problem& p, double r, double velocity) {
  const auto course = p.wavelet.course();
  const double last = std::acosh(std::max(1.0, p.end * velocity / r));
  constexpr int parts = 600;
  std::vector<double> values;
  for (std::size_t n = 0; n < p.steps(); ++n) {
    double sum = 0;
    for (int k = 0; k <= parts; ++k)
      sum += (k == 0 ? 0.5 : 1) *
             course(static_cast<double>(n) * p.step - r / velocity * std::cosh(last * k / parts));
    values.push_back(sum * last / parts / (2 * std::numbers::pi));
  }
  return values;
}

/// A line source in rock of 2000 m/s; below `plane` the rock has three times the density, and therefore
/// reflects half of a wave, whatever its angle.
struct Points {
  Place source{};
  std::vector<Place> receivers;
  double plane = -1e9;
  bool surface = false;

  std::string job(const std::string& simulation = "verify = \"estimate\"") const {
    std::string text = "[model.background]\nvelocity_p = 2000\ndensity = 1000\n";
    if (plane > -1e6)
      text += fmt::format(
          "[[model.body]]\nkind = \"layer\"\ntop = {}\nbottom = -1e4\nvelocity_p = 2000\ndensity = 3000\n"
          "[mesh]\nbox = [-160, 160, -4, 4, -340, 0]\ncell = 8\n",
          plane);
    text += "[survey]\nkind = \"list\"\nstations = [";
    for (const auto& at : receivers) text += fmt::format("[{}, {}, {}], ", at[0], at[1], at[2]);
    return text + fmt::format(
                      "]\n[source]\nat = [[{}, {}, {}]]\nfrequency = 20\n[boundary]\ntop = \"{}\"\n"
                      "[simulation]\nphysics = \"acoustic\"\nend = 0.3\n{}{}\n",
                      source[0], source[1], source[2], surface ? "free_surface" : "cpml",
                      plane > -1e6 ? "equation = \"variable_density\"\n" : "", simulation);
  }

  /// The pressure of a receiver at the steps of the problem.
  std::vector<double> pressure(const Problem& p, const Place& at) const {
    auto sum = cylindrical(p, test::distance(source, at), 2000);
    const auto add = [&](double factor, double image_up) {
      const auto image = cylindrical(p, test::distance({source[0], 0, image_up}, at), 2000);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += factor * image[n];
    };
    if (surface) add(-1, -source[2]);
    if (plane > -1e6) add(0.5, 2 * plane - source[2]);
    return sum;
  }
};

Points random_points(std::uint64_t seed, double deepest) {
  test::Chance chance(seed);
  Points points;
  const auto place = [&](double top) {
    return Place{120 * chance(), 0, top - (top - deepest) * (1 + chance()) / 2};
  };
  points.source = place(-20);
  while (points.receivers.size() < 4)
    if (const auto at = place(-20); test::distance(at, points.source) > 40) points.receivers.push_back(at);
  return points;
}

/// Appends stated over true error of each trace to `ratios`.
void judge(const Points& points, std::vector<double>& ratios) {
  const auto simulation = simulation_of(points.job());
  const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
  const auto result = simulation->run(on_one_thread());
  const auto& found = std::get<std::vector<float>>(result.data.find("pressure")->values);
  const auto& stated = result.data.real("pressure_error");
  const std::size_t count = points.receivers.size();
  ASSERT_EQ(stated.size(), count);
  for (std::size_t r = 0; r < count; ++r) {
    const auto paper = points.pressure(p, points.receivers[r]);
    double squares = 0;
    for (std::size_t n = 0; n < paper.size(); ++n) squares += std::pow(found[n * count + r] - paper[n], 2);
    ratios.push_back(stated[r] / std::sqrt(squares / static_cast<double>(paper.size())));
  }
}

void expect_good(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[ratios.size() / 2];
  EXPECT_GT(median, 0.5);
  EXPECT_LT(median, 3);
  EXPECT_GT(ratios[ratios.size() / 20], 0.5);
}

TEST(AcousticErrors, OfAPointInOneRockAndBelowAFreeSurfaceAreThoseStated) {
  for (const bool surface : {false, true}) {
    SCOPED_TRACE(surface);
    std::vector<double> ratios;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      auto points = random_points(seed, -200);
      points.surface = surface;
      judge(points, ratios);
    }
    expect_good(ratios);
  }
}

TEST(AcousticErrors, OfAPlaneBetweenFacesOfCellsAreThoseStated) {
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    auto points = random_points(10 + seed, -200);
    points.plane = -250 - 4 * test::Chance(seed)();
    judge(points, ratios);
  }
  expect_good(ratios);
}

TEST(AcousticErrors, SlownessOfShortWavesIsThatOfTheDifferences) {
  auto p = test::even_box({20, 20, 20}, 10, 2000);
  p.exact_time = false;
  p.step = 1e-6;
  for (const auto equation : {Equation::constant_density, Equation::variable_density, Equation::tti}) {
    const auto scheme = differences(8, Coefficients::taylor, equation);
    for (const double kh : {0.4, 0.8, 1.1}) {
      // A wave of wavenumber k' on the grid has the frequency v K(k')/h.
      const double k = wavenumber_on_grid(scheme, kh) / 10;
      const double error = slowness_error(p, scheme, {0, 0, 1}, 2000, 2000 * k);
      EXPECT_NEAR(error, kh / 10 / k - 1, 0.1 * (kh / 10 / k - 1) + 1e-9) << kh;
      const double across = slowness_error(p, scheme, {0, M_SQRT1_2, M_SQRT1_2}, 2000, 2000 * k);
      EXPECT_LT(across, error);
    }
  }
  // Steps make waves too fast, by (ω Δt)²/24.
  p.step = 1e-3;
  EXPECT_NEAR(slowness_error(p, differences(16), {1, 0, 0}, 2000, 100), -1e-2 / 24, 1e-6);
}

TEST(AcousticErrors, TheCompanionHasTheSameBoxAndTheMeanOfTheMedium) {
  const auto p = test::rough_rock(Equation::variable_density);
  auto other = settings_of_companion(p);
  take_means(p, other);
  EXPECT_EQ(other.grid.nodes, (std::array<Index, 3>{17, 15, 16}));
  for (std::size_t a = 0; a < 3; ++a) {
    const auto width = [&](const Grid& g) { return static_cast<double>(g.nodes[a]) * g.spacing[a]; };
    EXPECT_NEAR(width(other.grid), width(p.grid), 1e-9);
    EXPECT_NEAR(other.grid.first[a] - other.grid.spacing[a] / 2, p.grid.first[a] - p.grid.spacing[a] / 2,
                1e-9);
  }
  const auto mean = [](const std::vector<double>& values, double power) {
    double sum = 0;
    for (const double v : values) sum += std::pow(v, power);
    return sum / static_cast<double>(values.size());
  };
  EXPECT_NEAR(mean(other.velocity, -2) / mean(p.velocity, -2), 1, 1e-12);
  EXPECT_NEAR(mean(other.density, 1) / mean(p.density, 1), 1, 1e-12);
}

TEST(AcousticErrors, ACheckForetellsDispersionAndACompanion) {
  const auto points = random_points(3, -200);
  const auto plan = simulation_of(points.job())->check(on_one_thread());
  EXPECT_GT(plan.number("dispersion_error"), 0);
  EXPECT_LT(plan.number("dispersion_error"), 0.02);
  EXPECT_GT(plan.number("dispersion_error_at_end"), plan.number("dispersion_error"));
  EXPECT_GT(plan.number("companion_nodes"), 100);
  EXPECT_EQ(simulation_of(points.job(""))->check(on_one_thread()).find("companion_nodes"), nullptr);
}

TEST(AcousticErrors, AreNotStatedWithTheReasonWhereNoSecondRunIsPossible) {
  auto points = random_points(3, -200);
  auto text = points.job();
  text.replace(text.find("\"cpml\""), 6, "\"wall\"");
  const auto result = simulation_of(text)->run(on_one_thread());
  EXPECT_TRUE(std::isnan(result.data.real("pressure_error").front()));
  EXPECT_EQ(result.attributes.at("error_from"), "not resolved");
  EXPECT_THAT(result.report.warnings.back(), HasSubstr("walls"));
  EXPECT_THAT(message([&] { simulation_of(points.job("verify = \"refine\"")); }),
              AllOf(HasSubstr("simulation.verify"), HasSubstr("estimate")));
  EXPECT_THAT(
      message([&] { simulation_of(points.job("kind = \"born\"\nsmoothing = 50\nverify = \"estimate\"")); }),
      AllOf(HasSubstr("simulation.verify"), HasSubstr("kind = \"modelling\"")));
}

TEST(AcousticErrors, OfARunDoNotChangeItsTraces) {
  const auto points = random_points(5, -150);
  const auto with = simulation_of(points.job("verify = \"estimate\"\nsample = 0.004"))->run(on_one_thread()),
             without = simulation_of(points.job("sample = 0.004"))->run(on_one_thread());
  EXPECT_EQ(std::get<std::vector<float>>(with.data.find("pressure")->values),
            std::get<std::vector<float>>(without.data.find("pressure")->values));
  EXPECT_EQ(without.data.find("pressure_error"), nullptr);
}

}  // namespace
}  // namespace terrane::acoustic
