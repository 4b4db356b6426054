// Errors that runs state beside temperatures, against the point source of Carslaw & Jaeger (1959, §10.4).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/files.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/heat/simulation.hpp"

namespace terrane::heat::errors_of_tests {
namespace {

using testing::HasSubstr;

constexpr double k = 2, capacity = 2.3e6, watts = 500, end = 3e6;

std::unique_ptr<terrane::Simulation> heater(const std::array<double, 3>& at, const std::string& stations,
                                            const std::string& simulation) {
  const auto text = fmt::format(
      "[mesh]\nkind = \"regular\"\nbox = [-7, 7, -7, 7, -7, 7]\nshape = [20, 20, 20]\n[model.background]\n"
      "thermal_conductivity = {}\nheat_capacity = {}\n[source]\nat = [{}, {}, {}]\npower = "
      "{}\n[survey]\nkind = "
      "\"list\"\nstations = [{}]\n[simulation]\nphysics = \"heat\"\nend = {}\n{}\n",
      k, capacity, at[0], at[1], at[2], watts, stations, end, simulation);
  return Simulation::from_job(Config::parse(text, "job.toml", "."), {});
}

TEST(ErrorsOfTemperatures, HoldAroundAPointSource) {
  std::mt19937 random(36);
  const auto draw = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  const std::array<double, 3> at{draw(-0.3, 0.3), draw(-0.3, 0.3), draw(-0.3, 0.3)};
  const std::vector<double> radii{2.2, 2.6, 3.1, 3.9, 4.8};
  std::string stations;
  for (const double r : radii) {
    const double up = draw(-1, 1), angle = draw(0, 6.28), flat = std::sqrt(1 - up * up);
    stations += fmt::format("[{}, {}, {}],", at[0] + r * flat * std::cos(angle),
                            at[1] + r * flat * std::sin(angle), at[2] + r * up);
  }
  const auto result = heater(at, stations, "verify = \"estimate\"")->run();
  const auto &found = result.data.real("temperature"), &error = result.data.real("temperature_error"),
             &time = result.data.real("time");
  std::size_t within = 0, all = 0;
  std::vector<double> ratios;
  for (std::size_t n = 0; n < found.size(); ++n) {
    const double t = time[n / radii.size()], r = radii[n % radii.size()];
    if (t < 0.1 * end) continue;
    const double truth =
        watts / (4 * 3.14159265358979 * k * r) * std::erfc(r / std::sqrt(4 * k / capacity * t));
    const double real = std::abs(found[n] - truth);
    within += real <= 2 * error[n] ? 1 : 0;
    ++all;
    ratios.push_back(error[n] / std::max(real, 1e-6));
  }
  EXPECT_GE(static_cast<double>(within), 0.95 * static_cast<double>(all));
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                   ratios.end());
  EXPECT_GE(ratios[ratios.size() / 2], 0.5);
  EXPECT_LE(ratios[ratios.size() / 2], 4);
  EXPECT_THAT(result.report.text(), HasSubstr("at 95 % of data (asked 1 %)"));
}

TEST(ErrorsOfTemperatures, AreNotStatedWhereTheMeshDoesNotHoldABody) {
  const auto body =
      "[[model.body]]\nkind = \"box\"\nbox = [1.4, 2.1, -3, 3, -3, 3]\nthermal_conductivity = 9\n";
  const auto result = heater({0, 0, 0}, "[3, 0, 0]", fmt::format("verify = \"estimate\"\n{}", body))->run();
  for (const double error : result.data.real("temperature_error")) EXPECT_TRUE(std::isnan(error));
  EXPECT_THAT(result.report.warnings, testing::Contains(HasSubstr("it is 0.7 m across in cells of 0.7 m")));
  EXPECT_EQ(result.attributes.at("error_from"), "not resolved");
}

TEST(ErrorsOfTemperatures, ChangeNoBitOfThemAndAreOutlined) {
  const std::string stations = "[2.5, 0, 0], [0, 3.3, 0.2]";
  const auto with = heater({0, 0, 0}, stations, "verify = \"estimate\"");
  EXPECT_EQ(with->run().data.real("temperature"),
            heater({0, 0, 0}, stations, "")->run().data.real("temperature"));
  EXPECT_NE(with->outline().data.find("temperature_error"), nullptr);
  EXPECT_THAT(with->check().text(), HasSubstr("a second run on "));
}

TEST(RefinedTemperatures, AreNearerToThePointSourceAndSayWhatIsKept) {
  const std::array<double, 3> at{0.1, -0.2, 0.15};
  const double r = 3;
  const auto worst = [&](const Result& result) {
    const auto &found = result.data.real("temperature"), &time = result.data.real("time");
    double most = 0;
    for (std::size_t n = 0; n < found.size(); ++n)
      if (time[n] > 0.7 * end)
        most = std::max(most, std::abs(found[n] / (watts / (4 * 3.14159265358979 * k * r) *
                                                   std::erfc(r / std::sqrt(4 * k / capacity * time[n]))) -
                                       1));
    return most;
  };
  const auto station = fmt::format("[{}, {}, {}]", at[0] + r, at[1], at[2]);
  const auto first = heater(at, station, "verify = \"estimate\"")->run();
  const auto made = heater(at, station, "verify = \"refine\"\naccuracy = 0.02\nmost_cells = 40000");
  const auto refined = made->run();
  EXPECT_GE(refined.report.number("rounds"), 1);
  EXPECT_LT(worst(refined), 0.8 * worst(first));
  EXPECT_THAT(refined.report.text(), HasSubstr("kept: "));
  EXPECT_EQ(refined.data.find("temperature_at_end")->dimensions.size(), 3U);
}

}  // namespace
}  // namespace terrane::heat::errors_of_tests
