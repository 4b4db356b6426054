// Two models that share their structure.
#include "terrane/inversion/joint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "inversion/problems.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/magnetic/main_field.hpp"

namespace terrane::inversion {
namespace {

std::vector<double> waves(std::size_t n, double rate) {
  std::vector<double> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(std::sin(rate * static_cast<double>(i)) + 0.3);
  return v;
}

/// Three quarters of mesh B: cells are missing inside, too.
std::vector<std::uint32_t> some_of(const TensorMesh& mesh) {
  std::vector<std::uint32_t> active;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 4 != 1 || c < mesh.size() / 2) active.push_back(static_cast<std::uint32_t>(c));
  return active;
}

TEST(CrossGradient, IsTheSameFormOfBothModels) {
  const auto mesh = mesh_b();
  const auto active = some_of(mesh);
  const auto a = waves(active.size(), 0.7), b = waves(active.size(), 0.31);
  const double one = CrossGradient(mesh, active, b).value(a), two = CrossGradient(mesh, active, a).value(b);
  EXPECT_GT(one, 0);
  EXPECT_NEAR(one, two, 1e-12 * one);
  EXPECT_NEAR(CrossGradient(mesh, active, b, 2.5).value(a), 2.5 * one, 1e-12 * one);
}

TEST(CrossGradient, ItsGradientPassesTaylorsTest) {
  const auto mesh = mesh_b();
  const auto active = some_of(mesh);
  const std::size_t n = active.size();
  const auto other = waves(n, 0.31), m = waves(n, 0.7), d = waves(n, 1.3);
  const CrossGradient c(mesh, active, other);
  std::vector<double> gradient(n);
  c.add_apply(m, gradient);  // half of it
  const double slope = 2 * solve::dot(gradient, d), value = c.value(m);
  double before = 0;
  for (const double h : {1e-1, 1e-2, 1e-3, 1e-4}) {
    auto moved = m;
    for (std::size_t i = 0; i < n; ++i) moved[i] += h * d[i];
    const double first = std::fabs(c.value(moved) - value),
                 second = std::fabs(c.value(moved) - value - h * slope);
    EXPECT_LT(second, first);
    if (before > 0) {
      EXPECT_NEAR(before / second, 100, 2) << "the rest falls with the square of the step, at " << h;
    }
    before = second;
  }
}

TEST(CrossGradient, HasItsDiagonal) {
  const auto mesh = mesh_b();
  const auto active = some_of(mesh);
  const CrossGradient c(mesh, active, waves(active.size(), 0.31), 3);
  std::vector<double> diagonal(c.size());
  c.add_diagonal(diagonal);
  for (const std::size_t at : {std::size_t{0}, std::size_t{500}, c.size() / 2, c.size() - 1}) {
    std::vector<double> one(c.size());
    one[at] = 1;
    EXPECT_NEAR(diagonal[at], c.value(one), 1e-12 * diagonal[at] + 1e-12);
  }
}

TEST(CrossGradient, ModelsThatAreFunctionsOfEachOtherHaveNone) {
  const auto mesh = mesh_a();
  std::vector<double> a, b, across;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const auto p = mesh.prism(c);
    a.push_back(0.002 * p.west - 0.001 * p.south + 0.003 * p.bottom);
    b.push_back(7 - 40 * a.back());
    across.push_back(0.001 * p.west + 0.002 * p.south);
  }
  EXPECT_LT(CrossGradient(mesh, {}, b).value(a), 1e-20 * CrossGradient(mesh, {}, across).value(a) + 1e-12);
  const std::vector<double> flat(mesh.size(), 5.0);
  EXPECT_EQ(CrossGradient(mesh, {}, flat).value(a), 0);
  // |∇a × ∇b|² of two slopes, over the cells that have neighbours on all sides.
  const double cross[3] = {0.001 * 0 - 0.003 * 0.002, 0.003 * 0.001 - 0.002 * 0,
                           0.002 * 0.002 + 0.001 * 0.001};
  const double square = cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
  EXPECT_GT(CrossGradient(mesh, {}, across).value(a), 0.8 * square * 1000 * 1000 * 500);
  EXPECT_LT(CrossGradient(mesh, {}, across).value(a), square * 1000 * 1000 * 500);
}

/// A dense and magnetized block: g_u from few stations, total-field anomalies from many.
struct Block {
  TensorMesh mesh;
  std::vector<double> truth;  ///< 1 in the block
  Problem gravity, magnetic;

  Block() {
    std::vector<double> side, down;
    for (int i = 0; i <= 14; ++i) side.push_back(-350 + 50 * i);
    for (int i = 0; i <= 8; ++i) down.push_back(-400 + 50 * i);
    mesh = TensorMesh(side, side, down);
    truth.assign(mesh.size(), 0.0);
    for (std::size_t k = 3; k < 6; ++k)
      for (std::size_t j = 4; j < 9; ++j)
        for (std::size_t i = 5; i < 10; ++i) truth[mesh.index(i, j, k)] = 1;
    gravity = made(gravity::Observable::of(gravity::Channel::g_u, default_gravitational_constant * 1e5), 300,
                   5, 0.04, 3);
    auto nano = magnetic::observable(magnetic::Channel::tmi, {50'000e-9, 60, 10});
    for (double& w : nano.weight) w *= 1e9;
    magnetic = made(nano, 0.05, 15, 2, 5);
    gravity.bounds = {std::vector<double>(mesh.size(), 0.0), std::vector<double>(mesh.size(), 1000.0)};
    magnetic.bounds = {std::vector<double>(mesh.size(), 0.0), std::vector<double>(mesh.size(), 1.0)};
  }

  Problem made(const gravity::Observable& observable, double contrast, int side, double sigma,
               unsigned seed) const {
    Problem p;
    p.mesh = mesh;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        p.easting.push_back(-340 + 680.0 * x / (side - 1));
        p.northing.push_back(-340 + 680.0 * y / (side - 1));
        p.up.push_back(10);
      }
    PrismSet cells;
    for (std::size_t c = 0; c < mesh.size(); ++c) cells.push_back(mesh.prism(c));
    p.g = std::make_shared<solve::DenseOperator<double>>(
        gravity::SensitivityColumns(std::move(cells), {p.easting, p.northing, p.up}, {observable}, 1e-9));
    auto model = truth;
    for (double& m : model) m *= contrast;
    p.data.resize(p.g->rows());
    p.g->apply(model, p.data);
    p.sigma.assign(p.data.size(), sigma);
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, sigma);
    for (double& d : p.data) d += noise(random);
    p.sets = {{"d", "", 0, p.data.size()}};
    return p;
  }

  /// How far a model is from the truth of this contrast, relative to it.
  double error(const std::vector<double>& model, double contrast) const {
    double off = 0, size = 0;
    for (std::size_t c = 0; c < truth.size(); ++c) {
      off += std::pow(model[c] / contrast - truth[c], 2);
      size += truth[c];
    }
    return std::sqrt(off / size);
  }
};

TEST(JointInversion, FindsABodyBetterThanEitherFieldAlone) {
  const Block block;
  Settings density, susceptibility;
  density.alphas = susceptibility.alphas = Alphas::from_lengths({150, 150, 150});
  susceptibility.exponent = 3;
  density.tolerance = susceptibility.tolerance = 1e-3;
  const auto out =
      invert_jointly({&block.gravity, &block.magnetic}, {&density, &susceptibility}, {.coupling = 3});
  const double contrasts[2] = {300, 0.05};
  for (std::size_t p = 0; p < 2; ++p) {
    const double apart = block.error(out.apart[p].model, contrasts[p]),
                 together = block.error(out.together[p].model, contrasts[p]);
    EXPECT_LT(together, p == 0 ? 0.98 * apart : apart) << p;
    EXPECT_NEAR(out.together[p].phi_d / out.together[p].target, 1, 0.03);
  }
  EXPECT_LT(out.cross_gradient, 0.1);
  EXPECT_TRUE(out.converged);
}

TEST(JointInversion, WithoutCouplingEachModelIsWhatItIsAlone) {
  const Block block;
  Settings s;
  s.alphas = Alphas::from_lengths({150, 150, 150});
  const auto out = invert_jointly({&block.gravity, &block.magnetic}, {&s, &s}, {.coupling = 0});
  EXPECT_EQ(out.together[0].model, invert(block.gravity, s).model);
  EXPECT_EQ(out.together[1].model, out.apart[1].model);
  EXPECT_TRUE(out.rounds.empty());
}

TEST(JointInversion, RefusesModelsOfDifferentCells) {
  const Block block;
  auto other = block.magnetic;
  other.mesh = mesh_a();
  const Settings s;
  EXPECT_THROW(invert_jointly({&block.gravity, &other}, {&s, &s}, {}), InputError);
  other = block.magnetic;
  other.active = {0, 1, 2};
  EXPECT_THROW(invert_jointly({&block.gravity, &other}, {&s, &s}, {}), InputError);
}

}  // namespace
}  // namespace terrane::inversion
