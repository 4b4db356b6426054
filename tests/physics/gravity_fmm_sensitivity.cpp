// Sensitivities by fast multipoles: one matrix near the exact one, with an exact transpose.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "support/tree_problem.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/sensitivity/fmm_operator.hpp"

namespace terrane::gravity {
namespace {

using test::random_between;
using test::relative_difference;
using test::tree_kinds;
using test::tree_problem;

TEST(FmmSensitivity, HasTheDotProductOfItsTranspose) {
  for (const auto& channels : tree_kinds) {
    const auto source = tree_problem(channels, 700);
    const FmmSensitivity fmm(*source, 1e-4);
    EXPECT_LT(solve::dot_product_test(fmm, random_between(-1, 1, fmm.columns(), 4),
                                      random_between(-1, 1, fmm.rows(), 5)),
              1e-13);
  }
}

TEST(FmmSensitivity, EveryEntryOfItsTransposeIsThatOfTheMatrix) {
  const auto source = tree_problem({Channel::g_u, Channel::g_en}, 300);
  const FmmSensitivity fmm(*source, 1e-4);
  std::vector<double> column(fmm.rows()), row(fmm.columns());
  for (const std::size_t j : {3U, 4321U, 9000U}) {
    std::vector<double> unit(fmm.columns());
    unit[j] = 1;
    fmm.apply(unit, column);
    for (const std::size_t i : {0U, 150U, 299U, 300U, 555U}) {
      std::vector<double> datum(fmm.rows());
      datum[i] = 1;
      fmm.apply_transpose(datum, row);
      EXPECT_NEAR(row[j] / column[i], 1, 1e-9) << i << " " << j;
    }
  }
}

TEST(FmmSensitivity, AgreesWithTheMatrixToItsAccuracy) {
  for (const auto& channels : tree_kinds) {
    const auto source = tree_problem(channels, 300);
    const solve::DenseOperator<double> dense(*source);
    for (const double accuracy : {1e-3, 1e-7}) {
      const FmmSensitivity fmm(*source, accuracy);
      const auto m = random_between(0, 1, fmm.columns(), 6);
      const auto d = random_between(-1, 1, fmm.rows(), 7);
      std::vector<double> a(fmm.rows()), b(fmm.rows()), at(fmm.columns()), bt(fmm.columns());
      dense.apply(m, a);
      fmm.apply(m, b);
      double most = 0, off = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        most = std::max(most, std::fabs(a[i]));
        off = worse(off, std::fabs(a[i] - b[i]));
      }
      EXPECT_LT(off, 2 * accuracy * most) << accuracy;
      dense.apply_transpose(d, at);
      fmm.apply_transpose(d, bt);
      EXPECT_LT(relative_difference(bt, at), 30 * accuracy) << accuracy;  // of d of both signs
    }
  }
}

TEST(FmmSensitivity, ItsDiagonalServesToPrecondition) {
  const auto source = tree_problem({Channel::g_u, Channel::g_uu}, 300);
  const FmmSensitivity fmm(*source, 1e-5);
  const solve::DenseOperator<double> dense(*source);
  const auto w = random_between(0.5, 1, fmm.rows(), 8);
  std::vector<double> a(fmm.columns()), b(fmm.columns());
  dense.weighted_diagonal(w, a);
  fmm.weighted_diagonal(w, b);
  double most = 0;
  for (std::size_t j = 0; j < a.size(); ++j) most = worse(most, std::fabs(b[j] / a[j] - 1));
  EXPECT_LT(most, 0.3);
}

TEST(FmmSensitivity, HasTheSameBitsForAnyNumberOfThreadsAndRanks) {
  const auto source = tree_problem({Channel::g_u, Channel::g_uu}, 400);
  const auto m = random_between(-1, 1, source->columns(), 9), d = random_between(-1, 1, source->rows(), 10);
  const FmmSensitivity whole(*source, 1e-5, 1);
  ASSERT_EQ(whole.parts(), 4U);
  std::vector<double> sums(whole.parts() * whole.rows()), back(whole.columns()), squares(whole.columns()),
      weight(whole.rows(), 1.0);
  whole.apply_parts({0, whole.parts()}, m, sums);
  whole.apply_transpose(d, back);
  whole.weighted_diagonal(weight, squares);
  for (const std::size_t ranks : {1U, 2U, 3U}) {
    std::vector<double> shared_sums(sums.size()), shared_back(back.size()), shared_squares(back.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const FmmSensitivity share(*source, 1e-5, static_cast<int>(ranks) + 1, nullptr, {rank, ranks});
      const auto held = share.held();
      share.apply_parts(
          held, m, std::span(shared_sums).subspan(held.first * share.rows(), held.size() * share.rows()));
      share.transpose_parts(held, d, shared_back);
      share.diagonal_parts(held, weight, shared_squares);
    }
    EXPECT_EQ(shared_sums, sums);
    EXPECT_EQ(shared_back, back);
    EXPECT_EQ(shared_squares, squares);
  }
}

// Never less, and not far more.
TEST(FmmSensitivity, TakesNoMoreMemoryThanIsForeseen) {
  const struct {
    std::size_t stations;
    double accuracy;
    std::vector<Channel> channels;
  } cases[] = {{40, 1e-6, tree_kinds[3]}, {700, 1e-4, tree_kinds[0]}, {3000, 1e-3, tree_kinds[1]}};
  for (const auto& one : cases) {
    const auto source = tree_problem(one.channels, one.stations);
    const double foreseen = FmmSensitivity::cost(*source, one.accuracy, 1).bytes,
                 taken = FmmSensitivity(*source, one.accuracy, 1).bytes();
    EXPECT_LT(taken, foreseen) << one.stations;
    EXPECT_GT(taken, 0.3 * foreseen) << one.stations;
  }
}

TEST(FmmSensitivity, AStationOfItsOwnAndACellOfItsOwnAreServed) {
  PrismSet cells;
  cells.push_back({-5, 5, -5, 5, -20, -10});
  const auto source = std::make_shared<SensitivityColumns>(
      cells, KeptStations{{0.0}, {0.0}, {10.0}},
      std::vector<Observable>{Observable::of(Channel::g_u, default_gravitational_constant)}, 1e-9);
  const FmmSensitivity fmm(*source, 1e-6);
  std::vector<double> a(1), b(1), row(1);
  fmm.apply(std::vector<double>{2.0}, a);
  fmm.apply_transpose(std::vector<double>{2.0}, b);
  solve::DenseOperator<double>(*source).row(0, row);
  EXPECT_NEAR(a[0] / (2 * row[0]), 1, 1e-6);
  EXPECT_EQ(a[0], b[0]);
}

TEST(FmmSensitivity, FinerThanSinglePrecisionIsRefused) {
  EXPECT_THROW(FmmSensitivity(*tree_problem({Channel::g_u}, 10), 1e-9), InputError);
}

}  // namespace
}  // namespace terrane::gravity
