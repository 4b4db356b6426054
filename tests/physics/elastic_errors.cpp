// Errors that runs state, against runs on elements that end at interfaces, within matched layers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/files.hpp"
#include "terrane/physics/elastic/simulation.hpp"
#include "terrane/physics/elastic/trace_errors.hpp"

namespace terrane::elastic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

Runtime on_cpu() {
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  return runtime;
}

std::unique_ptr<terrane::Simulation> waves_of(const std::string& text) {
  return Simulation::from_job(Config::parse(text, "job.toml", "."), on_cpu());
}

/// Faces at these places, and between them elements of at most `width`.
std::string faces_at(std::vector<double> places, double width) {
  std::sort(places.begin(), places.end());
  std::string text = fmt::format("[{}", places.front());
  for (std::size_t n = 1; n < places.size(); ++n) {
    const double from = places[n - 1], length = places[n] - from, pieces = std::ceil(length / width - 1e-9);
    for (double k = 1; k <= pieces; ++k) text += fmt::format(", {}", from + length * k / pieces);
  }
  return text + "]";
}

/// A layer over faster rock, with a box in it; the shortest wave is 100 m long.
struct GroundWithBox {
  std::array<double, 4> sides{-240, 400, -240, 240};  // west, east, south, north
  double depth = 420, interface = -150, box = 150, top_of_box = -80;
  std::array<double, 3> source{0, 0, -80};
  std::vector<std::array<double, 3>> receivers;
  double end = 0.65;

  /// aligned: whether faces of elements lie at interfaces; more: keys of [simulation]
  std::string job(bool aligned, const std::string& more) const {
    std::string text = "[mesh]\nkind = \"tensor\"\n";
    std::vector<double> east{sides[0], sides[1]}, north{sides[2], sides[3]}, up{-depth, 0};
    if (aligned) {
      if (box > 0) east.push_back(box), north.insert(north.end(), {-60, 60}), up.push_back(top_of_box);
      up.push_back(interface);
    }
    text += fmt::format("easting = {}\nnorthing = {}\nup = {}\n", faces_at(east, 80), faces_at(north, 80),
                        faces_at(up, 80));
    text += fmt::format(
        "[model]\ntransfer = \"average\"\n[model.background]\nvelocity_p = 1800\nvelocity_s = 1000\ndensity "
        "= 2000\n[[model.body]]\nkind = \"layer\"\ntop = {}\nbottom = -1e5\nvelocity_p = 2900\nvelocity_s = "
        "1600\ndensity = 2300\n",
        interface);
    if (box > 0)
      text += fmt::format(
          "[[model.body]]\nkind = \"box\"\nbox = [{}, {}, -60, 60, {}, {}]\nvelocity_p = 2700\nvelocity_s = "
          "1500\ndensity = 2200\n",
          box, sides[1], interface, top_of_box);
    text += "[survey]\nkind = \"list\"\nstations = [";
    for (const auto& at : receivers) text += fmt::format("[{}, {}, {}], ", at[0], at[1], at[2]);
    return text + fmt::format(
                      "]\n[source]\nat = [{}, {}, {}]\nforce = [3e9, -2e9, 4e9]\nfrequency = 4\ndelay = 0.3\n"
                      "[simulation]\nphysics = \"elastic\"\nend = {}\nquantity = \"velocity\"\n{}\n",
                      source[0], source[1], source[2], end, more);
  }
};

/// A value of a displacement at another time than its samples'.
double interpolated(const std::vector<double>& times, const double* values, double time) {
  const double index = (time - times[0]) / (times[1] - times[0]);
  const auto first = std::min(static_cast<std::size_t>(std::max(index - 1, 0.0)), times.size() - 4);
  double sum = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    double weight = 1;
    for (std::size_t m = 0; m < 4; ++m)
      if (m != n)
        weight *=
            (index - static_cast<double>(first + m)) / (static_cast<double>(n) - static_cast<double>(m));
    sum += weight * values[first + n];
  }
  return sum;
}

/// Stated over true error of each trace; those without motion are left out.
std::vector<double> ratios_of(const Result& run, const Result& truth) {
  const auto &found = run.data.real("velocity"), &right = truth.data.real("velocity"),
             &stated = run.data.real("velocity_error"), &at = run.data.real("time"),
             &its = truth.data.real("time");
  std::vector<double> ratios;
  for (std::size_t trace = 0; trace < stated.size(); ++trace) {
    double squares = 0;
    for (std::size_t n = 0; n < at.size(); ++n)
      squares +=
          std::pow(found[trace * at.size() + n] - interpolated(its, &right[trace * its.size()], at[n]), 2);
    ratios.push_back(stated[trace] / std::sqrt(squares / static_cast<double>(at.size())));
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

void expect_honest(const std::vector<double>& ratios) {
  ASSERT_GT(ratios.size(), 5u);
  EXPECT_GT(ratios[ratios.size() / 20], 0.5);
  EXPECT_GT(ratios[ratios.size() / 2], 0.5);
  EXPECT_LT(ratios[ratios.size() / 2], 3);
}

std::vector<std::array<double, 3>> random_receivers(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> east(60, 350), north(-150, 150), up(-100, 0);
  std::vector<std::array<double, 3>> all;
  while (all.size() < count) all.push_back({east(random), north(random), up(random)});
  return all;
}

TEST(ElasticErrors, TheCompanionHasFacesAtInterfacesAndMovesSidesThatReflect) {
  std::vector<double> faces;
  for (int n = 0; n <= 12; ++n) faces.push_back(10 * n);
  const TensorMesh cells(faces, {0, 10, 20, 30}, faces);
  std::vector<double> slowest;
  for (std::size_t n = 0; n < cells.size(); ++n) slowest.push_back(n / 36 < 6 ? 3000 : 1000);
  OpenSides moved{true, false, false, false, true, false};
  const auto wide = wider_cells(cells, {{{}, {}, {60, 93}}}, slowest, moved);
  const auto has = [](const std::vector<double>& all, double place) {
    return std::any_of(all.begin(), all.end(), [&](double x) { return std::fabs(x - place) < 1e-9; });
  };
  const auto widest = [](const std::vector<double>& all) {
    double most = 0;
    for (std::size_t n = 1; n < all.size(); ++n) most = std::max(most, all[n] - all[n - 1]);
    return most;
  };
  EXPECT_EQ(wide.cells.easting().front(), -10);
  EXPECT_EQ(wide.within.easting().front(), 0);
  EXPECT_EQ(wide.cells.easting().back(), 120);
  EXPECT_EQ(wide.cells.n_east(), 9u);
  EXPECT_EQ(wide.cells.n_north(), 2u);
  EXPECT_TRUE(has(wide.cells.up(), 60));
  EXPECT_TRUE(has(wide.cells.up(), 93));
  EXPECT_EQ(wide.cells.up().front(), -10);
  EXPECT_EQ(wide.cells.up().back(), 120);
  EXPECT_LE(widest(wide.cells.easting()), 16 + 1e-9);
  EXPECT_GT(widest(wide.cells.up()), 20);  // in the faster rock
  EXPECT_LE(widest(wide.cells.up()), 32 + 1e-9);
}

TEST(ElasticErrors, ACheckForetellsTheCompanionAndOtherRunsHaveNone) {
  GroundWithBox ground;
  ground.receivers = random_receivers(2, 2);
  const auto plan = waves_of(ground.job(false, "verify = \"estimate\""))->check(on_cpu()),
             other = waves_of(ground.job(false, ""))->check(on_cpu());
  EXPECT_GT(plan.number("companion_elements"), 100);
  EXPECT_LT(plan.number("companion_elements"), plan.number("elements"));
  EXPECT_GT(plan.memory_bytes, other.memory_bytes);
  EXPECT_LT(static_cast<double>(plan.memory_bytes), 1.2 * static_cast<double>(other.memory_bytes));
  EXPECT_EQ(other.find("companion_elements"), nullptr);
}

TEST(ElasticErrors, LeaveTracesAsTheyAreAndWarnAboveTheAccuracy) {
  GroundWithBox ground;
  ground.receivers = random_receivers(3, 2);
  ground.end = 0.3;
  const auto with = waves_of(ground.job(false, "verify = \"estimate\"\naccuracy = 1e-4"))->run(on_cpu()),
             without = waves_of(ground.job(false, ""))->run(on_cpu());
  EXPECT_EQ(with.data.real("velocity"), without.data.real("velocity"));
  EXPECT_EQ(without.data.find("velocity_error"), nullptr);
  const auto* errors = with.data.find("velocity_error");
  ASSERT_NE(errors, nullptr);
  EXPECT_EQ(errors->dimensions, (std::vector<std::string>{"receiver", "component"}));
  EXPECT_EQ(errors->unit, "m/s");
  EXPECT_THAT(with.report.warnings.back(),
              AllOf(HasSubstr("velocity of receiver 1, east"), HasSubstr("0.01 % is asked for")));
}

TEST(ElasticErrors, AreNotStatedWithTheReasonWhereNoSecondRunIsPossible) {
  GroundWithBox ground;
  ground.receivers = random_receivers(4, 1);
  ground.end = 0.05;
  const auto layers = ground.job(false, "verify = \"estimate\"") +
                      "[elements]\nkind = \"layers\"\ncolumns = [8, 6]\n[[elements.layer]]\nbottom = -420\n"
                      "rows = 6\n";
  const auto result = waves_of(layers)->run(on_cpu());
  EXPECT_TRUE(std::isnan(result.data.real("velocity_error").front()));
  EXPECT_EQ(result.attributes.at("error_from"), "not resolved");
  EXPECT_THAT(result.report.warnings.back(), HasSubstr("[elements]"));
  EXPECT_THAT(message([&] { waves_of(ground.job(false, "verify = \"refine\"")); }),
              AllOf(HasSubstr("simulation.verify"), HasSubstr("estimate")));
}

TEST(ElasticErrors, AreNotStatedForBodiesAndSurfacesThatAreNotFlat) {
  GroundWithBox ground;
  ground.receivers = random_receivers(5, 1);
  ground.end = 0.05;
  const auto sphere = ground.job(false, "verify = \"estimate\"");
  const auto body = sphere.find("[survey]");
  const auto plan = waves_of(sphere.substr(0, body) +
                             "[[model.body]]\nkind = \"sphere\"\ncentre = [100, 0, -200]\nradius = 60\n"
                             "velocity_s = 1200\n" +
                             sphere.substr(body))
                        ->check(on_cpu());
  EXPECT_EQ(plan.find("companion_elements"), nullptr);
  EXPECT_THAT(plan.warnings.back(), HasSubstr("neither boxes nor flat layers"));
}

TEST(ElasticErrors, OfSidesAndInterfacesInElementsAreThoseStated) {
  GroundWithBox ground;
  ground.sides = {-240, 360, -240, 240}, ground.depth = 320, ground.interface = -110, ground.box = 0;
  ground.receivers = {{100, 20, 0}, {180, -40, 0}, {220, 60, -30}};
  ground.end = 0.45;
  const auto run = waves_of(ground.job(false, "verify = \"estimate\""))->run(on_cpu()),
             truth = waves_of(ground.job(true, "boundary = \"pml\"\nboundary_elements = 2"))->run(on_cpu());
  expect_honest(ratios_of(run, truth));
}

}  // namespace
}  // namespace terrane::elastic
