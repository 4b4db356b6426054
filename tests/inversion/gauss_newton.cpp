// Data that are no linear function of the model.
#include "terrane/inversion/loop/gauss_newton.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

#include "inversion/problems.hpp"
#include "inversion/resistive_ground.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"

namespace terrane::inversion {
namespace {

/// G m, as if it were no linear function.
class Straight final : public Forward {
 public:
  explicit Straight(std::shared_ptr<const solve::LinearOperator> g) : g_(std::move(g)) {}
  std::size_t rows() const override { return g_->rows(); }
  std::size_t columns() const override { return g_->columns(); }
  Linearised at(std::span<const double> model, Progress*) const override {
    Linearised here{std::vector<double>(rows()), g_, {}};
    g_->apply(model, here.data);
    return here;
  }

 private:
  std::shared_ptr<const solve::LinearOperator> g_;
};

Problem made_nonlinear(const Problem& linear) {
  auto p = linear;
  p.forward = std::make_shared<Straight>(p.g);
  p.g.reset();
  return p;
}

double distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    most = worse(most, std::fabs(a[c] - b[c]));
    size = std::max(size, std::fabs(b[c]));
  }
  return most / size;
}

Settings exact() {
  auto s = reference_settings();
  s.misfit_tolerance = 1e-9;
  s.jacobian_in_memory = false;
  return s;
}

/// Physics that has no numbers for any model.
class Nowhere final : public Forward {
 public:
  std::size_t rows() const override { return 2; }
  std::size_t columns() const override { return 3; }
  Linearised at(std::span<const double>, Progress*) const override {
    return {{0, std::nan("")}, nullptr, {}};
  }
};

TEST(Logarithms, OfAModelWithoutFieldsHaveNoJacobian) {
  const LogarithmForward of(std::make_shared<Nowhere>());
  EXPECT_EQ(of.at(std::vector<double>(3, 0.5)).jacobian, nullptr);
}

TEST(GaussNewton, OfALinearProblemFindsTheModelThatLinearInversionFinds) {
  const auto linear = problem(mesh_a(), read_columns("p1_data.csv"));
  const auto p = made_nonlinear(linear);
  auto s = exact();
  const auto right = invert(linear, s), found = invert(p, s);
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.beta, right.beta, 1e-6 * right.beta);
  EXPECT_NEAR(found.phi_d, found.target, 1e-8 * found.target);
  EXPECT_LT(distance_of(found.model, right.model), 1e-6);
  EXPECT_LE(found.iterations.size(), 6u);
  s.choice = Choice::fixed;
  s.beta = 3 * right.beta;
  EXPECT_LT(distance_of(invert(p, s).model, invert(linear, s).model), 1e-8);
}

TEST(GaussNewton, OfALinearProblemKeepsToBoundsAndReferenceAsLinearInversionDoes) {
  auto linear = problem(mesh_a(), read_columns("p1_data.csv"));
  linear.bounds = {std::vector<double>(linear.mesh.size(), 0.0),
                   std::vector<double>(linear.mesh.size(), 250.0)};
  linear.reference.assign(linear.mesh.size(), 10.0);
  auto s = exact();
  s.misfit_tolerance = 0.02;
  s.beta = invert(linear, s).beta;
  s.choice = Choice::fixed;
  s.reference_in_gradients = false;
  s.tolerance = 1e-7;
  const auto right = invert(linear, s), found = invert(made_nonlinear(linear), s);
  EXPECT_GT(found.on_bounds, 100u);
  EXPECT_LT(distance_of(found.model, right.model), 1e-3);
  EXPECT_NEAR(found.phi_d, right.phi_d, 1e-3 * right.phi_d);
  for (const double m : found.model) EXPECT_TRUE(m >= 0 && m <= 250);
}

TEST(GaussNewton, CompactModelsOfALinearProblemAreThoseOfLinearInversion) {
  auto p =
      problem(TensorMesh::regular({-500, 500, -500, 500, -500, 0}, {10, 10, 5}), read_columns("p3_data.csv"));
  auto s = exact();
  s.misfit_tolerance = 0.02;
  s.tolerance = 1e-6;
  s.norms.p = {1, 1, 1, 1};
  s.chi = 4;  // coarse cells
  const auto linear = invert(p, s), steps = invert(made_nonlinear(p), s);
  EXPECT_TRUE(linear.converged) << linear.reason;
  EXPECT_TRUE(steps.converged) << steps.reason;
  EXPECT_LT(distance_of(steps.model, linear.model), 0.02);
}

TEST(GaussNewton, DoesNotDependOnTheFirstModelNorOnTheCooling) {
  const ResistiveGround ground;
  const auto p = ground.problem();
  auto s = ground.settings();
  s.misfit_tolerance = 1e-3;
  s.tolerance = 1e-6;
  const auto one = invert(p, s);
  auto other = p;
  other.start.assign(p.columns(), std::log(40.0));
  s.cooling = 0.4;
  const auto two = invert(other, s);
  EXPECT_TRUE(one.converged && two.converged);
  EXPECT_LT(distance_of(two.model, one.model), 0.01);
}

TEST(GaussNewton, TheGradientOfTheObjectiveIsThatOfDifferences) {
  const ResistiveGround ground;
  auto p = ground.problem();
  auto m = p.reference, away = m;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (std::size_t c = 0; c < m.size(); ++c) {
    m[c] += 0.3 * std::sin(0.7 * static_cast<double>(c));
    away[c] = normal(random);
  }
  const Regulariser regulariser(p.mesh, p.active, ground.settings().alphas);
  std::vector<double> weight;
  for (const double sigma : p.sigma) weight.push_back(1 / sigma);
  const auto at = [&](const std::vector<double>& model) {
    const auto here = p.forward->at(model);
    const Objective objective{here.jacobian.get(), p.data, weight, &regulariser, p.reference};
    return std::pair{value_at(here.data, model, objective), gradient_at(here.data, model, objective, 0.02)};
  };
  const auto [value, gradient] = at(m);
  const double slope = solve::dot(gradient, away);
  double before = 0;
  for (const double h : {1e-2, 1e-3}) {
    auto plus = m, minus = m;
    for (std::size_t c = 0; c < m.size(); ++c) {
      plus[c] += h * away[c];
      minus[c] -= h * away[c];
    }
    const double off = std::fabs((at(plus).first.phi(0.02) - at(minus).first.phi(0.02)) / (2 * h) - slope) /
                       std::fabs(slope);
    if (before > 0) {
      EXPECT_LT(off, 1e-4);
      EXPECT_LT(off, 0.1 * before);
    }
    before = off;
  }
}

TEST(GaussNewton, AConductiveBlockIsFoundWhereItIs) {
  const ResistiveGround ground;
  const auto found = invert(ground.problem(), ground.settings());
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.phi_d / found.target, 1, 0.021);
  EXPECT_LE(found.forwards, 10);
  const auto& mesh = ground.mesh;
  double mass = 0, east = 0, up = 0, least = INFINITY;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto b = mesh.prism(c);
    ASSERT_TRUE(std::isfinite(found.model[c])) << c;
    const double low = std::max(0.0, ground.reference() - found.model[c]) * b.volume();
    mass += low;
    east += low * 0.5 * (b.west + b.east);
    up += low * 0.5 * (b.bottom + b.top);
    least = std::min(least, std::exp(found.model[c]));
  }
  EXPECT_NEAR(east / mass, ground.block_east(), 10);
  EXPECT_NEAR(up / mass, ground.block_up(), 10);
  EXPECT_LT(least, 40);
  EXPECT_GT(least, 4);
}

TEST(GaussNewton, HasTheSameBitsOnOneTwoAndThreeThreads) {
  const ResistiveGround ground;
  auto s = ground.settings();
  s.most_steps = 2;
  s.threads = 1;
  const auto one = invert(ground.problem(1), s);
  for (const int threads : {2, 3}) {
    s.threads = threads;
    EXPECT_EQ(invert(ground.problem(threads), s).model, one.model) << threads;
  }
}

/// One datum tanh m of one cell. It counts its models, and those whose entries of J are asked for.
class OneThatSaturates final : public Forward {
 public:
  std::size_t rows() const override { return 1; }
  std::size_t columns() const override { return 1; }
  Linearised at(std::span<const double> model, Progress*) const override {
    ++models;
    const double slope = 1 / (std::cosh(model[0]) * std::cosh(model[0]));
    Linearised here{{std::tanh(model[0])}, in_memory(1, 1, {slope}, 1), {}};
    here.entries = [this, slope](std::vector<std::string>& warnings, Progress*) {
      ++stored;
      warnings.emplace_back("entries");
      return in_memory(1, 1, {slope}, 1);
    };
    return here;
  }
  mutable int models = 0, stored = 0;
};

// A whole Gauss-Newton step from 1.06 goes as far behind atanh 0.3 as it began before it, in terms of the
// datum: φ falls by 0.07 of itself, or 0.04 of what the slope promises. Half of it lowers φ to 0.06.
TEST(GaussNewton, StepsThatGoAsFarBehindTheMinimumAreHalvedAndRefusedModelsNeedNoJacobian) {
  Problem p;
  p.mesh = TensorMesh::regular({-50, 50, -50, 50, -100, 0}, {1, 1, 1});
  const auto forward = std::make_shared<OneThatSaturates>();
  p.forward = forward;
  p.data = {0.3};
  p.sigma = {0.01};
  p.sets = {{"datum", "1", 0, 1}};
  p.reference = {1.06};
  Settings s;
  s.alphas = Alphas::from_lengths({20, 20, 20});
  s.weighting = Weighting::none;
  s.jacobian_in_memory = false;
  s.cooling = 1e-3;
  const auto found = invert(p, s);
  ASSERT_GE(found.iterations.size(), 2U);
  EXPECT_LT(found.iterations[1].phi_d, 0.15 * found.iterations[0].phi_d);
  EXPECT_EQ(found.forwards, forward->models);
  EXPECT_EQ(found.iterations.size(), static_cast<std::size_t>(forward->stored));
  EXPECT_LT(forward->stored, forward->models);
  EXPECT_THAT(found.warnings, ::testing::Contains("entries"));
}

TEST(GaussNewton, ProductsFromPotentialsAndEntriesInMemoryFindTheSameModel) {
  const ResistiveGround ground;
  auto s = ground.settings();
  const auto entries = invert(ground.problem(), s);
  s.jacobian_in_memory = false;
  EXPECT_LT(distance_of(invert(ground.problem(), s).model, entries.model), 1e-6);
}

TEST(GaussNewton, OutliersCountLess) {
  const ResistiveGround ground;
  auto p = ground.problem();
  auto s = ground.settings();
  const auto clean = invert(p, s);
  for (std::size_t n = 5; n < p.data.size(); n += 17) p.data[n] += 1.5;
  const auto squares = invert(p, s);
  s.huber = 1.5;
  const auto robust = invert(p, s);
  EXPECT_TRUE(robust.converged) << robust.reason;
  EXPECT_LT(robust.trust[5], 0.2);
  EXPECT_LT(distance_of(robust.model, clean.model), 0.08);
  EXPECT_GT(distance_of(squares.model, clean.model), 2 * distance_of(robust.model, clean.model));
}

/// Stops when it has been asked so many times whether it should.
class Patience final : public Progress {
 public:
  explicit Patience(int left) : left_(left) {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

TEST(GaussNewton, ThatIsStoppedGoesOnToTheSameBits) {
  const ResistiveGround ground;
  const auto p = ground.problem();
  const auto s = ground.settings();
  const auto whole = invert(p, s);
  const testing_support::TemporaryFolder folder;
  CheckpointSettings settings;
  settings.file = folder / "steps.checkpoint";
  settings.interval = 1e9;
  std::optional<Outcome> out;
  int stops = 0;
  for (int patience = 60; !out; patience += 8) {
    settings.resume = stops > 0 && std::filesystem::exists(settings.file);
    Keeper keeper(settings, {{"problem", "p"}});
    Patience progress(patience);
    try {
      out = invert(p, s, {}, &progress, &keeper);
    } catch (const Cancelled&) {
      ASSERT_LT(++stops, 50);
    }
  }
  EXPECT_GT(stops, 1);
  EXPECT_EQ(out->model, whole.model);
  EXPECT_EQ(out->beta, whole.beta);
  EXPECT_EQ(out->iterations.size(), whole.iterations.size());
  EXPECT_EQ(out->forwards, whole.forwards);
}

TEST(GaussNewton, AReferenceThatFitsIsTheAnswer) {
  const ResistiveGround ground;
  auto p = ground.problem();
  p.data = p.forward->at(p.reference).data;
  const auto found = invert(p, ground.settings());
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.reason, "the reference model fits the data already");
  EXPECT_EQ(found.model, p.reference);
}

TEST(GaussNewton, AReferenceThatFitsIsTheAnswerFromAnotherFirstModelToo) {
  const ResistiveGround ground;
  auto p = ground.problem();
  p.data = p.forward->at(p.reference).data;
  p.start.assign(p.reference.size(), ground.reference() + 0.3);
  for (double& sigma : p.sigma) sigma = 1;
  const auto found = invert(p, ground.settings());
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.model, p.reference);
}

TEST(GaussNewton, UncertaintiesThatAreTooSmallEndInAReason) {
  const ResistiveGround ground;
  auto p = ground.problem();
  for (std::size_t n = 0; n < p.data.size(); ++n) p.data[n] += n % 2 == 0 ? 0.5 : -0.5;
  for (double& sigma : p.sigma) sigma = 0.01;
  // Within a tenth of the reference no model has such data.
  p.bounds = {std::vector<double>(p.mesh.size(), ground.reference() - 0.1),
              std::vector<double>(p.mesh.size(), ground.reference() + 0.1)};
  const auto found = invert(p, ground.settings());
  EXPECT_FALSE(found.converged);
  EXPECT_THAT(found.reason, ::testing::HasSubstr("misfit falls no more: uncertainties too small"));
  // Of data that fit to 3 % nothing is blamed.
  auto s = ground.settings();
  s.chi = found.phi_d / 1.03 / static_cast<double>(p.data.size());
  const auto nearly = invert(p, s);
  EXPECT_FALSE(nearly.converged);
  EXPECT_THAT(nearly.reason, ::testing::HasSubstr("falls no more, and is as near to its target"));
}

TEST(GaussNewton, TheModelWrittenIsTheBestOneMet) {
  // Eighteen cells for 400 data: none fits, and the first model, least squares alone, fits best.
  auto linear =
      problem(TensorMesh::regular({-500, 500, -500, 500, -500, 0}, {3, 3, 2}), read_columns("p1_data.csv"));
  auto s = reference_settings();
  s.tolerance = 1e-6;
  s.choice = Choice::fixed;
  s.beta = 1e-16;
  auto p = made_nonlinear(linear);
  p.start = invert(linear, s).model;
  s.choice = Choice::discrepancy;
  s.chi = 1e-3;
  s.most_steps = 1;
  const auto found = invert(p, s);
  ASSERT_EQ(found.iterations.size(), 2U);
  EXPECT_GT(found.iterations[1].phi_d, found.iterations[0].phi_d * (1 + 1e-9));
  EXPECT_EQ(found.model, p.start);
  EXPECT_NEAR(found.phi_d, found.iterations[0].phi_d, 1e-9 * found.phi_d);
  EXPECT_THAT(found.warnings.back(), ::testing::HasSubstr("the model is that of step 0"));
}

TEST(MeasuredArrays, HaveTheSameUncertaintyInBothQuantitiesWhereNothingWasMeasuredToo) {
  using electric::Datum;
  electric::inverse::MeasuredArrays arrays;
  std::vector<double> data, deviation;
  arrays.name = "resistance";
  arrays.values = {0, 2};
  arrays.sigma = {0.001, 0.02};
  arrays.convert({1000, -50});
  arrays.as(Datum::apparent_resistivity, data, deviation);
  EXPECT_EQ(data, (std::vector<double>{0, -100}));
  EXPECT_EQ(deviation, (std::vector<double>{1, 1}));
  arrays.as(Datum::resistance, data, deviation);
  EXPECT_EQ(deviation, arrays.sigma);
  arrays.name = "apparent_resistivity";
  arrays.values = {0, 100};
  arrays.sigma = {4, 5};
  arrays.convert({1000, 50});
  arrays.as(Datum::resistance, data, deviation);
  EXPECT_EQ(deviation, (std::vector<double>{0.004, 0.1}));
  EXPECT_THROW(arrays.as(Datum::log_apparent_resistivity, data, deviation), InputError);
}

TEST(GaussNewton, WhatLinearPhysicsAloneHasIsRefused) {
  const ResistiveGround ground;
  const auto p = ground.problem();
  const auto refused = [&](const std::function<void(Settings&)>& set) {
    auto s = ground.settings();
    set(s);
    EXPECT_THROW(invert(p, s), InputError);
  };
  refused([](Settings& s) { s.posterior = true; });
  refused([](Settings& s) { s.choice = Choice::gcv; });
  refused([](Settings& s) {
    s.norms.p[0] = 1;
    s.most_products = 20;
  });
  refused([](Settings& s) { s.most_steps = 0; });
  refused([](Settings& s) { s.cooling = 1; });
  auto wrong = p;
  wrong.sigma[3] = 0;
  EXPECT_THROW(invert(wrong, ground.settings()), InputError);
  wrong = p;
  wrong.start = {1, 2, 3};
  EXPECT_THROW(invert(wrong, ground.settings()), ShapeError);
}

}  // namespace
}  // namespace terrane::inversion
