// Sensitivities by the tree: one matrix near the exact one, with an exact transpose.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"

namespace terrane::gravity {
namespace {

std::vector<double> random_between(double low, double high, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

/// Cells of an uneven mesh, and stations scattered over hills above it; some above corners of cells.
std::shared_ptr<const SensitivityColumns> tree_problem(const std::vector<Channel>& channels,
                                                       std::size_t stations, double accuracy = 1e-9) {
  std::vector<double> east{0}, up{-600, -450, -340, -250, -180, -120, -75, -40, -15, 0};
  for (int i = 0; i < 40; ++i) east.push_back(east.back() + 25 + (i % 3) * 10);
  const TensorMesh mesh(east, east, up);
  PrismSet cells;
  for (std::size_t c = 0; c < mesh.size(); ++c)
    if (c % 11 != 3) cells.push_back(mesh.prism(c));
  KeptStations at{random_between(-200, east.back() + 200, stations, 1),
                  random_between(-200, east.back() + 200, stations, 2), random_between(5, 80, stations, 3)};
  at.easting[0] = east[7];
  at.northing[0] = east[9];
  at.up[0] = 1;
  std::vector<Observable> observables;
  for (const auto c : channels) observables.push_back(Observable::of(c, default_gravitational_constant));
  return std::make_shared<SensitivityColumns>(cells, at, observables, accuracy);
}

double scaled_norm(std::span<const double> a) {
  double sum = 0;
  for (const double v : a) sum += v * v * 1e20;
  return std::sqrt(sum) * 1e-10;
}

/// ‖a − b‖ / ‖b‖
double relative_difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return worse(0, scaled_norm(difference) / scaled_norm(b));
}

const std::vector<std::vector<Channel>> tree_kinds{
    {Channel::g_u}, {Channel::g_e}, {Channel::g_uu}, {Channel::g_u, Channel::g_uu, Channel::g_en}};

TEST(TreeSensitivity, HasTheDotProductOfItsTranspose) {
  for (const auto& channels : tree_kinds) {
    const auto source = tree_problem(channels, 700);
    const TreeSensitivity tree(*source, 1e-6);
    EXPECT_LT(solve::dot_product_test(tree, random_between(-1, 1, tree.columns(), 4),
                                      random_between(-1, 1, tree.rows(), 5)),
              1e-12);
  }
}

TEST(TreeSensitivity, AgreesWithTheMatrixToItsAccuracy) {
  for (const auto& channels : tree_kinds)
    for (const double accuracy : {1e-3, 1e-5, 1e-7}) {
      const auto source = tree_problem(channels, 300);
      const TreeSensitivity tree(*source, accuracy);
      const solve::DenseOperator<double> dense(*source);
      const auto m = random_between(0, 1, tree.columns(), 6);
      const auto d = random_between(-1, 1, tree.rows(), 7);
      std::vector<double> a(tree.rows()), b(tree.rows()), at(tree.columns()), bt(tree.columns());
      dense.apply(m, a);
      tree.apply(m, b);
      double most = 0, off = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::fabs(a[i]));
        off = worse(off, std::fabs(a[i] - b[i]));
      }
      EXPECT_LT(off, 2 * accuracy * most) << accuracy;
      dense.apply_transpose(d, at);
      tree.apply_transpose(d, bt);
      EXPECT_LT(relative_difference(bt, at), 30 * accuracy) << accuracy;  // of d of both signs
    }
}

TEST(TreeSensitivity, ItsDiagonalServesToPrecondition) {
  const auto source = tree_problem({Channel::g_u, Channel::g_uu}, 300);
  const TreeSensitivity tree(*source, 1e-5);
  const solve::DenseOperator<double> dense(*source);
  const auto w = random_between(0.5, 1, tree.rows(), 8);
  std::vector<double> a(tree.columns()), b(tree.columns());
  dense.weighted_diagonal(w, a);
  tree.weighted_diagonal(w, b);
  double most = 0;
  for (std::size_t j = 0; j < a.size(); ++j) most = worse(most, std::fabs(b[j] / a[j] - 1));
  EXPECT_LT(most, 0.3);
}

TEST(TreeSensitivity, HasTheSameBitsForAnyNumberOfThreads) {
  const auto source = tree_problem({Channel::g_u}, 700);
  const auto m = random_between(-1, 1, source->columns(), 9), d = random_between(-1, 1, source->rows(), 10);
  std::vector<std::vector<double>> forth, back, squares;
  for (const int threads : {1, 2, 3}) {
    const TreeSensitivity tree(*source, 1e-5, threads);
    tree.apply(m, forth.emplace_back(tree.rows()));
    tree.apply_transpose(d, back.emplace_back(tree.columns()));
    tree.weighted_diagonal(std::vector<double>(tree.rows(), 1.0), squares.emplace_back(tree.columns()));
  }
  for (const std::size_t t : {1U, 2U}) {
    EXPECT_EQ(forth[t], forth[0]);
    EXPECT_EQ(back[t], back[0]);
    EXPECT_EQ(squares[t], squares[0]);
  }
}

TEST(TreeSensitivity, BlocksOfTwoAndThreeRanksHaveTheBitsOfOne) {
  const auto source = tree_problem({Channel::g_u, Channel::g_uu}, 300);
  const TreeSensitivity whole(*source, 1e-5);
  ASSERT_EQ(whole.parts(), 8U);
  const auto m = random_between(-1, 1, source->columns(), 9), d = random_between(-1, 1, source->rows(), 10);
  std::vector<double> sums(whole.parts() * whole.rows()), back(whole.columns());
  whole.apply_parts({0, whole.parts()}, m, sums);
  whole.apply_transpose(d, back);
  for (const std::size_t ranks : {2U, 3U}) {
    std::vector<double> shared_sums(sums.size()), shared_back(back.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const TreeSensitivity share(*source, 1e-5, 1, nullptr, {rank, ranks});
      const auto held = share.held();
      EXPECT_LT(share.bytes(), whole.bytes());
      share.apply_parts(
          held, m, std::span(shared_sums).subspan(held.first * share.rows(), held.size() * share.rows()));
      share.transpose_parts(held, d, shared_back);
    }
    EXPECT_EQ(shared_sums, sums);
    EXPECT_EQ(shared_back, back);
  }
}

TEST(TreeSensitivity, AStationOfItsOwnAndACellOfItsOwnAreServed) {
  PrismSet cells;
  cells.push_back({-5, 5, -5, 5, -20, -10});
  const auto source = std::make_shared<SensitivityColumns>(
      cells, KeptStations{{0.0}, {0.0}, {10.0}},
      std::vector<Observable>{Observable::of(Channel::g_u, default_gravitational_constant)}, 1e-9);
  const TreeSensitivity tree(*source, 1e-6);
  std::vector<double> a(1), b(1), row(1);
  tree.apply(std::vector<double>{2.0}, a);
  tree.apply_transpose(std::vector<double>{2.0}, b);
  solve::DenseOperator<double>(*source).row(0, row);
  EXPECT_NEAR(a[0] / (2 * row[0]), 1, 1e-6);
  EXPECT_EQ(a[0], b[0]);
}

TEST(TreeSensitivity, FinerThanSinglePrecisionIsRefused) {
  EXPECT_THROW(TreeSensitivity(*tree_problem({Channel::g_u}, 10), 1e-9), InputError);
}

}  // namespace
}  // namespace terrane::gravity
