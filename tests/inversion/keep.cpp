// An inversion that is stopped and goes on; regional fields; outliers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "inversion/problems.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/inversion/data/robust.hpp"

namespace terrane::inversion {
namespace {

/// Stops the work when it has been asked so many times whether it should.
class Impatient final : public Progress {
 public:
  explicit Impatient(int patience) : left_(patience) {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

double largest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = worse(most, std::fabs(a[i] - b[i]));
  return most;
}

class StoppedInversion : public ::testing::Test {
 protected:
  void SetUp() override { settings_.file = folder_ / "inversion.checkpoint"; }

  Keeper keeper(bool resume, const std::string& problem = "p1") {
    settings_.resume = resume;
    settings_.interval = 1e9;  // the last one alone
    return {settings_, {{"problem", problem}}};
  }
  /// Stops again and again, and compares with a run that was not stopped.
  void expect_same_bits(const Problem& p, const Settings& s, int patience) {
    const auto whole = invert(p, s);
    std::filesystem::remove(settings_.file);
    int stops = 0;
    std::optional<Outcome> out;
    while (!out) {
      auto kept = keeper(stops > 0);
      Impatient progress(patience);
      try {
        out = invert(p, s, {}, &progress, &kept);
      } catch (const Cancelled&) {
        ASSERT_LT(++stops, 300) << "it never ends";
        patience += 2;  // the longest step must fit
      }
    }
    EXPECT_GT(stops, 1);
    EXPECT_EQ(out->model, whole.model);
    EXPECT_EQ(out->beta, whole.beta);
    EXPECT_EQ(out->predicted, whole.predicted);
    EXPECT_EQ(out->reason, whole.reason);
    EXPECT_EQ(out->products, whole.products);
    ASSERT_EQ(out->iterations.size(), whole.iterations.size());
    for (std::size_t i = 0; i < whole.iterations.size(); ++i) {
      EXPECT_EQ(out->iterations[i].what, whole.iterations[i].what);
      EXPECT_EQ(out->iterations[i].phi_d, whole.iterations[i].phi_d);
      EXPECT_EQ(out->iterations[i].products, whole.iterations[i].products);
    }
    EXPECT_EQ(out->curve.size(), whole.curve.size());
  }

  testing_support::TemporaryFolder folder_;  // of this test alone: others run beside it
  CheckpointSettings settings_;
};

Settings quick() {
  auto s = reference_settings();
  s.tolerance = 1e-3;
  return s;
}

TEST_F(StoppedInversion, GoesOnWithTheSameBitsWithinLanczos) {
  expect_same_bits(problem(mesh_a(), read_columns("p1_data.csv")), quick(), 5);
}

TEST_F(StoppedInversion, GoesOnWithTheSameBitsWithinBounds) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 400.0)};
  expect_same_bits(p, quick(), 20);
}

TEST_F(StoppedInversion, GoesOnWithTheSameBitsWhileNormsAreReweighted) {
  auto p = problem(mesh_a(), read_columns("p3_data.csv"));
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 500.0)};
  auto s = quick();
  s.norms.p = {0, 1, 1, 1};
  s.epsilon = 0.2;
  expect_same_bits(p, s, 60);
}

TEST_F(StoppedInversion, GoesOnWithTheSameBitsAmongOutliersAndWithATrend) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  for (std::size_t i = 7; i < p.data.size(); i += 40) p.data[i] += 15 * p.sigma[i];
  auto s = quick();
  s.huber = 1.5;
  s.trend = Trend::plane;
  expect_same_bits(p, s, 25);
}

TEST_F(StoppedInversion, RefusesTheCheckpointOfAnotherAndSaysWhenThereIsNone) {
  const auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  Impatient soon(4);
  auto first = keeper(false);
  EXPECT_THROW(invert(p, quick(), {}, &soon, &first), Cancelled);
  ASSERT_TRUE(std::filesystem::exists(settings_.file));
  auto other = keeper(true, "p2");
  try {
    invert(p, quick(), {}, nullptr, &other);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("problem"));
  }
  std::filesystem::remove(settings_.file);
  auto none = keeper(true);
  invert(p, quick(), {}, nullptr, &none);
  EXPECT_THAT(none.warnings, ::testing::ElementsAre(::testing::HasSubstr("starts afresh")));
}

TEST_F(StoppedInversion, IsKeptByTheTimeItTookWhateverWasExpected) {
  const auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  const auto stopped_with = [&](double interval, double least_run) {
    std::filesystem::remove(settings_.file);
    settings_.interval = interval;
    settings_.least_run = least_run;
    Keeper kept(settings_, {{"problem", "p1"}});
    Impatient soon(4);
    EXPECT_THROW(invert(p, quick(), {}, &soon, &kept), Cancelled);
    return std::filesystem::exists(settings_.file);
  };
  EXPECT_TRUE(stopped_with(0, 600));     // the interval has passed
  EXPECT_FALSE(stopped_with(300, 600));  // it has hardly begun, and the job does not say how often
  EXPECT_TRUE(stopped_with(300, 0));     // the job does
  EXPECT_FALSE(stopped_with(CheckpointSettings::never, CheckpointSettings::never));
}

// ---- regional fields ----

/// A plane, or a curved surface, over the stations.
std::vector<double> regional(const Problem& p, bool curved) {
  std::vector<double> d;
  for (std::size_t i = 0; i < p.easting.size(); ++i) {
    const double x = p.easting[i] / 500, y = p.northing[i] / 500;
    d.push_back(3 - 2 * x + 1.5 * y + (curved ? 0.8 * x * x - 1.1 * x * y + 0.4 * y * y : 0));
  }
  return d;
}

TEST(Trend, ARegionalFieldInTheDataChangesNoModel) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  for (const bool curved : {false, true}) {
    auto s = reference_settings();
    s.tolerance = 1e-8;
    s.trend = curved ? Trend::quadratic : Trend::plane;
    const auto without = invert(p, s);
    auto q = p;
    const auto more = regional(p, curved);
    for (std::size_t i = 0; i < more.size(); ++i) q.data[i] += more[i];
    const auto with = invert(q, s);
    EXPECT_TRUE(with.converged);
    EXPECT_LT(largest_gap(with.model, without.model), 1e-6);
    auto difference = with.trend;
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= without.trend[i];
    EXPECT_LT(largest_gap(difference, more), 1e-9);
    EXPECT_NEAR(with.phi_d, with.target, 1e-3);
    EXPECT_NEAR(with.target, 400 - (curved ? 6 : 3), 1e-12);
  }
}

TEST(Trend, TheOperatorBesideItIsALinearOneWithItsTransposeAndDiagonal) {
  const auto p = problem(mesh_b(), read_columns("p2_data.csv"), {"g_u_mgal", "g_uu_eotvos"});
  std::vector<double> weight;
  for (const double s : p.sigma) weight.push_back(1 / s);
  weight[5] = 0;
  const Trends trends(Trend::quadratic, p.sets, p.easting, p.northing, weight);
  EXPECT_EQ(trends.columns(), 12U);
  const Detrended g(p.g, trends);
  std::vector<double> model(g.columns()), data(g.rows()), diagonal(g.columns()), squares(weight);
  for (std::size_t c = 0; c < model.size(); ++c) model[c] = std::sin(0.3 * static_cast<double>(c));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::cos(0.7 * static_cast<double>(i));
  EXPECT_LT(solve::dot_product_test(g, model, data), 1e-12);
  for (double& w : squares) w *= w;
  g.weighted_diagonal(squares, diagonal);
  for (const std::size_t c : {std::size_t{100}, std::size_t{3000}, model.size() - 1}) {
    std::vector<double> one(g.columns()), column(g.rows());
    one[c] = 1;
    g.apply(one, column);
    double sum = 0;
    for (std::size_t i = 0; i < column.size(); ++i) sum += squares[i] * column[i] * column[i];
    EXPECT_NEAR(diagonal[c], sum, 1e-9 * sum);
  }
}

TEST(Trend, StationsOnALineHaveNoSlopeAcrossIt) {
  const std::vector<double> x{0, 1, 2, 3, 4, 5}, y(6, 7.0), weight(6, 1.0);
  const std::vector<DataSet> sets{{"g_u", "mGal", 0, 6}};
  EXPECT_EQ(Trends(Trend::plane, sets, x, y, weight).columns(), 2U);
  EXPECT_EQ(Trends(Trend::constant, sets, x, y, weight).columns(), 1U);
}

// ---- outliers ----

TEST(Huber, NormalNoiseIsWorthItsNumberWhateverTheLimit) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> r(200000);
  for (double& one : r) one = normal(random);
  for (const double c : {0.5, 1.0, 1.5, 2.5, 10.0})
    EXPECT_NEAR(huber_misfit(r, c) / static_cast<double>(r.size()), 1, 0.01) << c;
}

TEST(Huber, AFewWildDataDoNotSpoilTheModel) {
  const auto clean = problem(mesh_a(), read_columns("p1_data.csv"));
  auto wild = clean;
  std::vector<std::size_t> spoilt;
  for (std::size_t i = 11; i < 400; i += 27) spoilt.push_back(i);
  for (const auto i : spoilt) wild.data[i] += (i % 2 == 0 ? 30 : -30) * wild.sigma[i];
  auto s = reference_settings();
  s.tolerance = 1e-4;
  const auto truth = invert(clean, s).model;
  const auto size = *std::max_element(truth.begin(), truth.end());
  const auto squares = invert(wild, s);
  s.huber = 1.5;
  const auto robust = invert(wild, s);
  EXPECT_TRUE(robust.converged) << robust.reason;
  EXPECT_GT(largest_gap(squares.model, truth), 0.5 * size) << "it fits the outliers, or nothing";
  EXPECT_LT(largest_gap(robust.model, truth), 0.15 * size);
  for (const auto i : spoilt) EXPECT_LT(robust.trust[i], 0.2);
  EXPECT_LT(std::count_if(robust.trust.begin(), robust.trust.end(), [](double w) { return w < 0.4; }), 25);
  EXPECT_NEAR(robust.phi_d / robust.target, 1, 0.02);
}

TEST(Huber, ALimitThatNoResidualReachesIsTheSquare) {
  const auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  auto s = reference_settings();
  s.tolerance = 1e-9;
  const auto squares = invert(p, s);
  s.huber = 50;
  const auto robust = invert(p, s);
  EXPECT_LT(largest_gap(robust.model, squares.model), 1e-4);  // of 172 kg/m³
  EXPECT_EQ(*std::min_element(robust.trust.begin(), robust.trust.end()), 1);
}

TEST(Huber, BoundsHoldAmongOutliersToo) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  for (std::size_t i = 11; i < 400; i += 27) p.data[i] += 30 * p.sigma[i];
  p.bounds = {std::vector<double>(p.mesh.size(), 0.0), std::vector<double>(p.mesh.size(), 400.0)};
  auto s = quick();
  s.huber = 1.5;
  const auto out = invert(p, s);
  EXPECT_TRUE(out.converged) << out.reason;
  EXPECT_GE(*std::min_element(out.model.begin(), out.model.end()), 0);
  EXPECT_GT(out.on_bounds, 1000U);
  EXPECT_NEAR(out.phi_d / out.target, 1, 0.2);
}

TEST(InversionInput, TrendsAndOutliersAskForWhatTheyNeed) {
  auto p = problem(mesh_a(), read_columns("p1_data.csv"));
  auto s = quick();
  const auto refusal = [&] {
    try {
      check(p, s);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  s.huber = 0.1;
  EXPECT_THAT(refusal(), ::testing::HasSubstr("0.1 is not 0.5 or more"));
  s.huber = 1.5;
  s.posterior = true;
  EXPECT_THAT(refusal(), ::testing::HasSubstr("inversion.huber"));
  s = quick();
  s.trend = Trend::quadratic;
  for (std::size_t i = 6; i < 400; ++i) p.data[i] = NAN;
  EXPECT_THAT(refusal(), ::testing::HasSubstr("g_u has 6 data for the 6 numbers of its trend"));
}

}  // namespace
}  // namespace terrane::inversion
