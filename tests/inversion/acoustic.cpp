// Velocities, and their changes, from recorded waves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "support/acoustic_box.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/inversion/loop/gauss_newton.hpp"
#include "terrane/inversion/loop/invert.hpp"
#include "terrane/physics/acoustic/inverse/waves.hpp"
#include "terrane/physics/acoustic/operators.hpp"

namespace terrane::inversion {
namespace {

using namespace acoustic::inverse;

acoustic::Settings in_double() {
  acoustic::Settings settings;
  settings.double_precision = true;
  settings.keeping = acoustic::Keeping::store;
  settings.kept_in = acoustic::KeptIn::memory;
  return settings;
}

/// Two shots that send from above to receivers below, with pressures and velocities.
acoustic::Problem two_shots() {
  auto p = test::rough_box({24, 1, 26}, 0.2);
  p.record = {acoustic::Component::pressure, acoustic::Component::velocity_up};
  p.shots.push_back(p.shots[0]);
  p.shots[1].sources[0][0] += 60;
  p.settle();
  return p;
}

std::shared_ptr<const Shots> shots_of(const acoustic::Problem& p, std::size_t every = 1) {
  Runtime runtime;
  runtime.device = {Device::Kind::cpu, -1};
  return std::make_shared<const Shots>(p, in_double(), every, runtime);
}

/// Changes of cells that layers do not go on from.
std::vector<double> inside(const acoustic::Problem& p, double size) {
  auto change = test::Chance(5).list(p.velocity.size());
  const auto box = p.grid.box();
  for (Index k = 0, n = 0; k < box.last[0]; ++k)
    for (Index i = 0; i < box.last[2]; ++i, ++n) {
      const bool within = k > 0 && k + 1 < box.last[0] && i > 0 && i + 1 < box.last[2];
      change[static_cast<std::size_t>(n)] *= within ? size : 0;
    }
  return change;
}

// Gathers come back in single precision, the operators' in double.
TEST(RecordedWaves, HaveTheGathersAndTheGradientOfTheOperatorsOfTheirPhysics) {
  const auto p = two_shots();
  const auto shots = shots_of(p);
  acoustic::Operators right(p, true, {Device::Kind::cpu, -1});
  auto observed = right.model();
  for (double& value : observed) value *= 0.7;
  const auto wanted = right.misfit(observed);

  const std::size_t each = observed.size() / p.shots.size();
  std::vector<std::vector<double>> gathers;
  for (std::size_t s = 0; s < p.shots.size(); ++s)
    gathers.emplace_back(observed.begin() + static_cast<std::ptrdiff_t>(s * each),
                         observed.begin() + static_cast<std::ptrdiff_t>((s + 1) * each));
  auto residual = shots->model(p.velocity);
  const auto data = shots->rows_of(gathers);
  EXPECT_EQ(shots->gathers_of(data), gathers);
  double misfit = 0;
  for (std::size_t n = 0; n < data.size(); ++n) {
    residual[n] -= data[n];
    misfit += 0.5 * residual[n] * residual[n];
  }
  EXPECT_NEAR(misfit, wanted.value, 1e-6 * wanted.value);
  std::vector<double> gradient(p.velocity.size());
  Born(shots, p.velocity).apply_transpose(residual, gradient);
  double most = 0, wrong = 0;
  for (std::size_t n = 0; n < gradient.size(); ++n) {
    wrong = worse(wrong, std::fabs(gradient[n] - wanted.gradient[n]));
    most = std::max(most, std::fabs(wanted.gradient[n]));
  }
  EXPECT_LT(wrong, 1e-6 * most);
}

TEST(RecordedWaves, OfSomeSamplesAndCellsHaveAJacobianThatIsTheirTangentAndItsTranspose) {
  const auto p = two_shots();
  const auto shots = shots_of(p, 3);
  std::vector<std::uint32_t> active;
  for (std::uint32_t c = 0; c < p.velocity.size(); ++c)
    if (c % 5 != 2) active.push_back(c);
  const auto of_active = [&](const std::vector<double>& all) {
    std::vector<double> some;
    for (const auto c : active) some.push_back(all[c]);
    return some;
  };
  const Waves waves(shots, active);
  const auto v = of_active(p.velocity), change = of_active(inside(p, 40));
  const auto here = waves.at(v);
  std::vector<double> linear(waves.rows()), back(waves.columns());
  here.jacobian->apply(change, linear);
  const auto remainder = [&](double part) {
    auto moved = v;
    for (std::size_t c = 0; c < v.size(); ++c) moved[c] += part * change[c];
    const auto there = waves.at(moved);
    double sum = 0;
    for (std::size_t i = 0; i < linear.size(); ++i)
      sum += std::pow(there.data[i] - here.data[i] - part * linear[i], 2);
    return std::sqrt(sum);
  };
  EXPECT_NEAR(remainder(1) / remainder(0.5), 4, 0.3);
  const auto r = test::Chance(3).list(waves.rows());
  here.jacobian->apply_transpose(r, back);
  EXPECT_NEAR(solve::dot(linear, r) / solve::dot(change, back), 1, 1e-6);
}

/// Shots above and receivers below, over rock of 2000 m/s, and the same with a fast body in its middle.
struct Crosswise {
  acoustic::Problem rock, truth;
  TensorMesh mesh;
  Crosswise() : mesh({0, 1}, {0, 1}, {0, 1}) {
    constexpr Index size = 20;
    rock = test::even_box({size, 1, size}, 10, 2000, 5);
    rock.wavelet.frequency = 20;
    rock.end = 0.22;
    rock.step = 1.6e-3;
    test::all_sides(rock, acoustic::Boundary::cpml);
    for (const double east : {25.0, 100.0, 175.0}) {
      acoustic::Shot shot;
      shot.sources = {{east, 5, 185}};
      for (double at = 15; at < 200; at += 20) shot.receivers.push_back({at, 5, 15});
      rock.shots.push_back(shot);
    }
    rock.settle();
    truth = rock;
    std::vector<double> faces;
    for (Index n = 0; n <= size; ++n) faces.push_back(10 * static_cast<double>(n));
    mesh = TensorMesh(faces, {0, 10}, faces);
    for (std::size_t c = 0; c < truth.velocity.size(); ++c) {
      const double e = 10 * static_cast<double>(c % size) + 5 - 110,
                   u = 10 * static_cast<double>(c / size) + 5 - 90;
      truth.velocity[c] *= 1 + 0.08 * std::exp(-(e * e + u * u) / 800);
    }
  }
  /// Those that layers do not go on from.
  static std::vector<std::uint32_t> inner() {
    std::vector<std::uint32_t> cells;
    for (std::uint32_t k = 1; k < 19; ++k)
      for (std::uint32_t i = 1; i < 19; ++i) cells.push_back(20 * k + i);
    return cells;
  }
  Problem problem(const std::shared_ptr<const Shots>& shots, std::vector<double> data, double sigma) const {
    Problem p;
    p.mesh = mesh;
    p.active = inner();
    p.data = std::move(data);
    p.sigma.assign(p.data.size(),
                   sigma * solve::norm(p.data) / std::sqrt(static_cast<double>(p.data.size())));
    p.sets = {{"pressure", "Pa", 0, p.data.size()}};
    p.forward = std::make_shared<LogarithmForward>(std::make_shared<Waves>(shots, p.active));
    p.reference.assign(p.active.size(), std::log(2000));
    return p;
  }
};

Settings few_products(int products) {
  Settings settings;
  settings.alphas = Alphas::from_lengths({30, 30, 30});
  settings.weighting = Weighting::none;
  settings.jacobian_in_memory = false;
  settings.most_products = products;
  settings.threads = 2;
  return settings;
}

TEST(RecordedWaves, FindTheBodyThatTheyWentThrough) {
  const Crosswise box;
  const auto shots = shots_of(box.rock, 2);
  const auto observed = shots->model(box.truth.velocity);
  const auto found = invert(box.problem(shots, observed, 0.01), few_products(12));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_LT(found.phi_d, found.iterations.front().phi_d / 100);
  const auto highest = box.inner()[static_cast<std::size_t>(
      std::max_element(found.model.begin(), found.model.end()) - found.model.begin())];
  EXPECT_NEAR(10 * static_cast<double>(highest % 20) + 5, 110, 11);
  EXPECT_NEAR(10 * static_cast<double>(highest / 20) + 5, 90, 21);
  EXPECT_GT(std::exp(*std::max_element(found.model.begin(), found.model.end())), 2060);
  double along = 0, here = 0, there = 0;  // the correlation of the change
  for (std::size_t c = 0; c < found.model.size(); ++c) {
    const double a = found.model[c] - std::log(2000), b = std::log(box.truth.velocity[box.inner()[c]] / 2000);
    along += a * b, here += a * a, there += b * b;
  }
  EXPECT_GT(along / std::sqrt(here * there), 0.75);
}

// Sources and receivers stand a cell or two beside the sides: what these have wrong no cell within can
// explain.
TEST(RecordedWaves, AreExplainedWhereTheSidesAreWrongTooByCellsThatFollowThoseBesideThem) {
  Crosswise box;
  for (std::size_t c = 0; c < box.truth.velocity.size(); ++c)
    box.truth.velocity[c] *= 1 + 0.05 * (static_cast<double>(c % 20) - 9.5) / 9.5;
  const auto shots = shots_of(box.rock, 4);
  const auto observed = shots->model(box.truth.velocity);
  std::vector<std::uint32_t> active;
  const auto followers = followers_at_sides(box.rock, active);
  EXPECT_EQ(active, box.inner());
  ASSERT_EQ(followers.size(), 400U - active.size());
  auto p = box.problem(shots, observed, 0.04);
  auto three_steps = few_products(6);
  three_steps.most_steps = 3;
  const auto fixed = invert(p, three_steps);
  p.forward = std::make_shared<LogarithmForward>(std::make_shared<Waves>(shots, active, followers));
  const auto found = invert(p, three_steps);
  EXPECT_LT(found.phi_d / found.target, 1.05) << found.reason;
  EXPECT_GT(fixed.phi_d / fixed.target, 1.5) << fixed.reason;
}

TEST(RecordedWaves, HaveAJacobianWithFollowersAndItsTranspose) {
  auto p = two_shots();
  std::vector<std::uint32_t> active;
  for (std::uint32_t c = 0; c < p.velocity.size(); ++c)
    if (c % 5 != 2) active.push_back(c);
  const auto followers = followers_at_sides(p, active);
  ASSERT_GT(followers.size(), 20U);
  const Waves waves(shots_of(p, 3), active, followers);
  std::vector<double> v;
  for (const auto c : active) v.push_back(1.01 * p.velocity[c]);
  const auto all = waves.velocity(v);
  for (const auto& f : followers) EXPECT_NEAR(all[f.cell], 1.01 * p.velocity[f.cell], 1e-9);
  const auto here = waves.at(v);
  const auto change = test::Chance(4).list(v.size()), r = test::Chance(3).list(waves.rows());
  std::vector<double> linear(waves.rows()), back(v.size());
  here.jacobian->apply(change, linear);
  here.jacobian->apply_transpose(r, back);
  EXPECT_NEAR(solve::dot(linear, r) / solve::dot(change, back), 1, 1e-6);
}

TEST(RecordedWaves, ThatAreHalfAPeriodLateAreCounted) {
  const Crosswise box;
  const auto shots = shots_of(box.rock, 2);
  const auto observed = shots->model(box.rock.velocity);
  const std::size_t receivers = 10, samples = shots->samples(), trace = samples * receivers;
  const auto late = [&](std::size_t shot, std::size_t by) {
    auto computed = observed;
    for (std::size_t n = samples; n-- > 0;)
      for (std::size_t r = 0; r < receivers; ++r)
        computed[shot * trace + n * receivers + r] =
            n < by ? 0 : observed[shot * trace + (n - by) * receivers + r];
    return lags_of(*shots, computed, observed);
  };
  EXPECT_EQ(late(0, 0).traces, 30U);
  EXPECT_EQ(late(0, 0).far, 0U);
  const auto some = late(1, 8);  // 8 samples of 3.2 ms; half a period is 25 ms
  EXPECT_EQ(some.far, 10U);
  EXPECT_NEAR(some.largest, 8 * shots->sample_step(), 1e-12);
  EXPECT_EQ(late(1, 6).far, 0U);
}

/// Asked so often, it says stop.
class StopsAfter final : public Progress {
 public:
  explicit StopsAfter(int left) : left_(left) {}
  bool cancelled() const override { return --left_ < 0; }

 private:
  mutable int left_;
};

TEST(RecordedWaves, ThatWereLeftInTheMiddleGoOnToTheSameVelocities) {
  const Crosswise box;
  const auto shots = shots_of(box.rock, 4);
  const auto p = box.problem(shots, shots->model(box.truth.velocity), 0.05);
  const auto s = few_products(5);
  const auto whole = invert(p, s);
  const testing_support::TemporaryFolder folder;
  CheckpointSettings settings;
  settings.file = folder / "waves.checkpoint";
  settings.interval = 1e9;
  std::optional<Outcome> out;
  int stops = 0, resumed = 0;
  for (int patience = 10; !out; patience += 3) {
    settings.resume = stops > 0 && std::filesystem::exists(settings.file);
    resumed += settings.resume;
    Keeper keeper(settings, {{"problem", "waves"}});
    StopsAfter progress(patience);
    try {
      out = invert(p, s, {}, &progress, &keeper);
    } catch (const Cancelled&) {
      ASSERT_LT(++stops, 50);
    }
  }
  EXPECT_GT(resumed, 0);
  EXPECT_GT(whole.iterations.size(), 2U);
  EXPECT_EQ(out->model, whole.model);
  EXPECT_EQ(out->forwards, whole.forwards);
}

TEST(RecordedWaves, ThatScatteredOnceAreExplainedByTheChangeThatLeastSquaresFind) {
  const Crosswise box;
  const auto shots = shots_of(box.rock);
  std::vector<double> change;
  for (const double v : box.truth.velocity) change.push_back(1 / (v * v) - 1 / 4e6);
  auto p = box.problem(shots, shots->born(box.rock.velocity, change), 0.05);
  p.forward.reset();
  p.g = scattering(shots, box.rock.velocity, p.active);
  p.reference.clear();
  const auto found = invert(p, few_products(20));
  EXPECT_LT(found.phi_d, 1.1 * static_cast<double>(p.data.size()));  // 5 % of the gathers are left
  const auto highest = box.inner()[static_cast<std::size_t>(
      std::max_element(found.model.begin(), found.model.end()) - found.model.begin())];
  EXPECT_NEAR(10 * static_cast<double>(highest % 20) + 5, 110, 11);
}

TEST(RecordedWaves, HaveNoJacobianForARockThatTheStepsDoNotBear) {
  const Crosswise box;
  const auto here = Waves(shots_of(box.rock), {}).at(std::vector<double>(box.rock.velocity.size(), 20000.0));
  EXPECT_EQ(here.jacobian, nullptr);
}

}  // namespace
}  // namespace terrane::inversion
