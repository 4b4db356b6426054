// Velocities from travel times.
#include "support/travel_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "support/files.hpp"
#include "terrane/inversion/job/job.hpp"
#include "terrane/physics/traveltime/inverse/first_arrivals.hpp"
#include "terrane/physics/traveltime/inverse/inverse.hpp"
#include "terrane/physics/traveltime/physics.hpp"

namespace terrane::traveltime::inverse {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> all;
  for (std::size_t n = 0; n < count; ++n) all.push_back(normal(random));
  return all;
}

TEST(VelocitiesFromTravelTimes, HaveAnExactTransposeAndTheDerivativeOfTheTimes) {
  const auto problem = test::rough_rock(4, 6);
  std::vector<std::uint32_t> active;
  for (std::uint32_t c = 0; c < problem.mesh.size(); ++c)
    if (problem.velocity[c] > 0 && c % 5 != 0) active.push_back(c);
  std::vector<double> velocity;
  for (const auto c : active) velocity.push_back(problem.velocity[c]);
  const auto change = random_numbers(active.size(), 1);
  std::vector<std::vector<double>> transposed, products;
  for (const int threads : {1, 3}) {
    const FirstArrivals times(make_picks(problem, active, threads));
    const auto here = times.at(velocity);
    EXPECT_LT(solve::dot_product_test(*here.jacobian, change, random_numbers(times.rows(), 2)), 1e-13);
    products.emplace_back(times.rows()), transposed.emplace_back(active.size());
    here.jacobian->apply(change, products.back());
    here.jacobian->apply_transpose(random_numbers(times.rows(), 2), transposed.back());
    auto more = velocity, less = velocity;
    constexpr double step = 1e-3;
    for (std::size_t c = 0; c < change.size(); ++c) more[c] += step * change[c], less[c] -= step * change[c];
    const auto up = times.at(more).data, down = times.at(less).data;
    for (std::size_t n = 0; n < up.size(); ++n)
      EXPECT_NEAR(products.back()[n], (up[n] - down[n]) / (2 * step), 1e-10) << "of some 1e-6 s per m/s";
    std::vector<double> diagonal(active.size()), row(active.size());
    here.jacobian->weighted_diagonal(std::vector<double>(times.rows(), 1.0), diagonal);
    double sum = 0, entries = 0;
    for (const double d : diagonal) sum += d;
    for (std::size_t i = 0; i < times.rows(); ++i) {
      here.jacobian->row(i, row);
      for (const double r : row) entries += r * r;
    }
    EXPECT_NEAR(sum, entries, 1e-12 * entries);
  }
  EXPECT_EQ(products[0], products[1]);
  EXPECT_EQ(transposed[0], transposed[1]);
}

/// The truth of the example and the job that finds it.
class BetweenBoreholes : public testing::Test {
 protected:
  BetweenBoreholes() : folder_(testing::TempDir()) {
    const auto example = inverse().examples.front();
    const auto truth = physics().make(Config::parse(example.truth, "truth.toml", folder_), {});
    const auto data = truth->run().data;
    std::ofstream file(folder_ + "picks.csv");
    file << "shot_easting,shot_up,receiver_easting,receiver_up,travel_time_observed\n";
    const auto noise = random_numbers(data.real("travel_time").size(), 4);
    for (std::size_t n = 0; n < noise.size(); ++n)
      file << data.real("shot_easting")[n] << ',' << data.real("shot_up")[n] << ',' << data.real("easting")[n]
           << ',' << data.real("up")[n] << ',' << data.real("travel_time")[n] + 5e-5 * noise[n] << '\n';
    job_ = example.job;
  }
  std::unique_ptr<terrane::Simulation> made(const std::string& text) const {
    return inverse().job.make(Config::parse(text, "job.toml", folder_), {});
  }
  std::string folder_, job_;
};

TEST_F(BetweenBoreholes, FindASlowLayerAndAFastBody) {
  auto job = made(job_);
  const auto result = job->run();
  const auto& inversion = dynamic_cast<const inversion::InversionJob&>(*job);
  EXPECT_LT(inversion.outcome().chi_squared.front(), 1.1);
  const auto model = inversion.model();
  const auto& velocity = model.cells.front().values;
  const auto mean = [&](double west, double east, double bottom, double top) {
    double sum = 0, count = 0;
    for (std::size_t n = 0; n < velocity.size(); ++n) {
      const auto p = model.mesh.prism(n);
      if (p.west < west || p.east > east || p.bottom < bottom || p.top > top) continue;
      sum += velocity[n], ++count;
    }
    return sum / count;
  };
  EXPECT_NEAR(mean(2, 18, -13, -11), 1700, 100);
  EXPECT_GT(mean(7, 12, -23, -18), 2180);
  EXPECT_NEAR(mean(2, 18, -8, -4), 2000, 60);
  EXPECT_EQ(result.data.real("travel_time_observed").size(), 225u);
}

TEST_F(BetweenBoreholes, BeginWithTheMedianVelocityAndAPlannedMeshWhereTheJobSaysNothing) {
  const auto plan = made(R"(
[source]
file = "picks.csv"
[simulation]
physics = "traveltime"
[inversion]
percent = [1]
)")
                        ->check();
  EXPECT_THAT(plan.notes, testing::Contains(HasSubstr("median of distance over time")));
  EXPECT_THAT(plan.notes, testing::Contains(HasSubstr("one cell across")));
}

TEST_F(BetweenBoreholes, SayWhatIsMissing) {
  auto without = job_;
  without.replace(without.find("floor = [1e-4]"), 14, "");
  EXPECT_THAT(message([&] { made(without); }), AllOf(HasSubstr("inversion"), HasSubstr("floor")));
  auto no_file = job_;
  no_file.replace(no_file.find("file = \"picks.csv\""), 18,
                  "at = [[0, 0, -2]]\n[survey]\nstations = [[20, 0, -2]]\n#");
  EXPECT_THAT(message([&] { made(no_file); }),
              AllOf(HasSubstr("source.file"), HasSubstr("travel_time_observed")));
  auto accuracy = job_;
  accuracy.replace(accuracy.find("physics = "), 0, "verify = \"estimate\"\n");
  EXPECT_THAT(message([&] { made(accuracy); }), HasSubstr("verify"));
}

}  // namespace
}  // namespace terrane::traveltime::inverse
