// Sensitivities by the tree: one matrix near the exact one, with an exact transpose.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "support/tree_problem.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/physics/gravity/tree/harmonic_series.hpp"

namespace terrane::gravity {
namespace {

using test::random_between;
using test::relative_difference;
using test::scaled_norm;
using test::tree_kinds;
using test::tree_problem;

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

/// One after the other, each on so many threads.
void run_steps(const Steps& steps, int threads) {
  for (const auto& tasks : steps) for_each(tasks.count, threads, tasks.run);
}

// As in millions of cells: clusters in many pieces, across many chunks, which gather from many tiles in turn.
TEST(TreeSensitivity, ClustersThatManyTasksShareAreThoseOfOneTask) {
  for (const auto& channels : {tree_kinds[0], tree_kinds[3]}) {
    const auto source = tree_problem(channels, 300);
    const std::size_t rows = source->rows(), columns = source->columns();
    std::vector<std::uint32_t> all(columns);
    std::iota(all.begin(), all.end(), 0U);
    const auto m = random_between(-1, 1, columns, 13), d = random_between(-1, 1, rows, 14);
    Progress silent;
    // One task each; pieces and chunks that split clusters, at places of their own.
    const TaskSizes whole{columns, columns, rows}, cut{300, 170, 2};
    const CellTree one(source->cells(), all, *source, 1e-5, 1, silent, whole),
        many(source->cells(), all, *source, 1e-5, 1, silent, cut);
    EXPECT_GT(many.bytes(), one.bytes());  // for its pieces
    std::vector<double> forth(rows), back(columns), square(columns), w(rows, 1.0);
    run_steps(one.product(m, forth), 1);
    run_steps(one.transpose(d, back), 1);
    run_steps(one.diagonal(w, square), 1);
    std::vector<double> a(rows), at(columns), squares(columns), b(rows), bt(columns);
    run_steps(many.product(m, a), 1);
    run_steps(many.transpose(d, at), 1);
    run_steps(many.diagonal(w, squares), 1);
    EXPECT_LT(relative_difference(a, forth), 1e-13);
    EXPECT_LT(relative_difference(at, back), 1e-13);
    EXPECT_EQ(squares, square);
    run_steps(many.product(m, b), 3);
    run_steps(many.transpose(d, bt), 3);
    EXPECT_EQ(b, a);
    EXPECT_EQ(bt, at);
    EXPECT_NEAR(std::inner_product(d.begin(), d.end(), a.begin(), 0.0),
                std::inner_product(m.begin(), m.end(), at.begin(), 0.0),
                1e-12 * scaled_norm(d) * scaled_norm(a));
    const solve::DenseOperator<double> dense(*source);
    dense.apply(m, forth);
    dense.apply_transpose(d, back);
    EXPECT_LT(relative_difference(a, forth), 1e-3);
    EXPECT_LT(relative_difference(at, back), 3e-4);
  }
}

// Never less, and not far more: few stations are served by few clusters.
TEST(TreeSensitivity, TakesNoMoreMemoryThanIsForeseen) {
  const struct {
    std::size_t stations;
    double accuracy;
    std::vector<Channel> channels;
  } cases[] = {{40, 1e-3, tree_kinds[1]},
               {40, 1e-6, tree_kinds[3]},
               {700, 1e-4, tree_kinds[0]},
               {3000, 1e-3, tree_kinds[1]}};
  for (const auto& one : cases) {
    const auto source = tree_problem(one.channels, one.stations);
    const auto foreseen = TreeSensitivity::cost(*source, one.accuracy, 1);
    const double taken = TreeSensitivity(*source, one.accuracy, 1).bytes();
    EXPECT_LT(taken, foreseen.bytes) << one.stations;
    EXPECT_GT(taken, 0.5 * foreseen.bytes) << one.stations;
    double on_device = 0;
    tree_sensitivity_on_device({Device::Kind::debug, -1}, *source, one.accuracy, 1, nullptr, {}, &on_device);
    EXPECT_LT(on_device, foreseen.bytes_on_device) << one.stations;
    EXPECT_GT(on_device, 0.5 * foreseen.bytes_on_device) << one.stations;
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

/// A cluster of random prisms, expanded about its middle, and a tile of stations around it.
struct ClusterAndTile {
  static constexpr int order = 7, tail = 11;
  double coefficients[coefficient_count(order)] = {};
  Expansion at{{10, -20, -300}, 180, coefficients};
  StationTile tile;

  ClusterAndTile() {
    const std::size_t n = 37;
    const auto random = random_between(0, 1, 6 * n + 3 * tail, 11);
    std::vector<double> low[3], high[3], density(n, 1.0);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t i = 0; i < n; ++i) {
        low[a].push_back(at.centre[a] + 160 * random[2 * (a * n + i)] - 90);
        high[a].push_back(low[a].back() + 10 + 10 * random[2 * (a * n + i) + 1]);
      }
    for (std::size_t i = 0; i < n; ++i) density[i] = 1.0 + static_cast<double>(i);
    expansion_kernels().gather({{low[0].data(), low[1].data(), low[2].data()},
                                {high[0].data(), high[1].data(), high[2].data()},
                                density.data()},
                               nullptr, n, at.centre, at.scale, order, coefficients, nullptr);
    tile.count = tail;
    double* const to[3] = {tile.x, tile.y, tile.z};
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t s = 0; s < 16; ++s)
        to[a][s] = at.centre[a] + (s % 2 == 0 ? 400 : -400) +
                   100 * random[6 * n + a * tail + std::min<std::size_t>(s, tail - 1)];
    tile.x[0] = at.centre[0];  // straight above it
    tile.y[0] = at.centre[1];
  }
};

TEST(HarmonicSeries, OfEveryChannelIsItsCartesianExpansion) {
  const ClusterAndTile c;
  for (const int order : {0, 1, 2, c.order}) {
    std::vector<double> expected(channel_count * tile_size), found(channel_count * tile_size);
    expansion_kernels().evaluate(c.at, order, true, c.tile, expected.data());
    const int top = c.order + 2;
    std::vector<double> numbers(static_cast<std::size_t>(channel_count * series_count(top)));
    for (std::size_t o = 0; o < channel_count; ++o)
      make_series(Observable::of(static_cast<Channel>(o), 1).weight, c.at.scale, order, c.coefficients, top,
                  numbers.data() + o * static_cast<std::size_t>(series_count(top)));
    const Series series{
        {c.at.centre[0], c.at.centre[1], c.at.centre[2]}, c.at.scale, top, channel_count, numbers.data()};
    expansion_kernels().add_series(series, order + 2, c.tile, found.data());
    for (std::size_t o = 0; o < channel_count; ++o) {
      double most = 0, off = 0;
      for (std::size_t s = 0; s < c.tail; ++s) {
        most = worse(most, std::fabs(expected[o * tile_size + s]));
        off = worse(off, std::fabs(found[o * tile_size + s] - expected[o * tile_size + s]));
      }
      EXPECT_LT(off, 1e-13 * most) << "order " << order << ", channel " << o;
    }
  }
}

TEST(HarmonicSeries, GathersFromStationsByItsTranspose) {
  const ClusterAndTile c;
  std::vector<Observable> observables;  // four: three together, and one
  for (const auto channel : {Channel::potential, Channel::g_e, Channel::g_uu, Channel::g_nu})
    observables.push_back(Observable::of(channel, 2));
  observables[3].weight[1] = -30;
  const int top = c.order + 2, served = c.order + 1;
  const auto count = static_cast<std::size_t>(series_count(top));
  std::vector<double> numbers(4 * count), sums(4 * tile_size), weights(4 * 16), collected(4 * count),
      back(static_cast<std::size_t>(coefficient_count(c.order)));
  const auto random = random_between(-1, 1, 4 * c.tail, 12);
  for (std::size_t o = 0; o < 4; ++o) {
    make_series(observables[o].weight, c.at.scale, c.order, c.coefficients, top, numbers.data() + o * count);
    std::copy_n(random.data() + o * c.tail, c.tail, weights.data() + o * 16);
  }
  Series series{{c.at.centre[0], c.at.centre[1], c.at.centre[2]}, c.at.scale, top, 4, numbers.data()};
  expansion_kernels().add_series(series, served, c.tile, sums.data());
  const std::vector<ServedTile> tiles{{&c.tile, served, weights.data()}, {&c.tile, top, weights.data()}};
  expansion_kernels().add_series(series, top, c.tile, sums.data());
  expansion_kernels().collect_series(series, tiles, 16, collected.data());
  for (std::size_t o = 0; o < 4; ++o)
    add_transposed_series(observables[o].weight, c.at.scale, c.order, collected.data() + o * count, top,
                          back.data());
  double forth = 0, size = 0, transposed = 0;
  for (std::size_t o = 0; o < 4; ++o)
    for (std::size_t s = 0; s < c.tail; ++s) {
      forth += weights[o * 16 + s] * sums[o * tile_size + s];
      size += std::fabs(weights[o * 16 + s] * sums[o * tile_size + s]);
    }
  for (std::size_t k = 0; k < back.size(); ++k) transposed += back[k] * c.coefficients[k];
  EXPECT_NEAR(transposed, forth, 1e-13 * size);
}

TEST(TreeSensitivity, FinerThanSinglePrecisionIsRefused) {
  EXPECT_THROW(TreeSensitivity(*tree_problem({Channel::g_u}, 10), 1e-9), InputError);
}

}  // namespace
}  // namespace terrane::gravity
