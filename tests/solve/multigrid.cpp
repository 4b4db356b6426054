// The multigrid cycle and conjugate gradients on networks of conductances, on every device of this machine.
#include "terrane/solve/multigrid/multigrid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "devices/device.hpp"
#include "support/networks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::solve {
namespace {

using namespace earths;

struct Solved {
  SolveReport report;
  std::vector<double> x;
};

template <class T>
Solved solve_by_multigrid(const Problem& problem, const std::vector<double>& right, Device device,
                          int threads = 0, const Stopping& stopping = {}) {
  Stream stream(device, false, threads);
  const auto network = problem.on(stream);
  Multigrid<T> multigrid(stream, network, problem.spacing);
  Field<double> b(stream, problem.points()), x(stream, problem.points());
  b.upload(stream, right);
  auto report = conjugate_gradients(
      stream, network, b, x,
      [&](Stream& s, const Field<double>& r, Field<double>& z, double scale) {
        multigrid.apply(s, r, z, scale);
      },
      stopping);
  return {report, x.download(stream)};
}

constexpr Device cpu{Device::Kind::cpu, -1};

class SolveOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(SolveOn);

TEST_P(SolveOn, TheCycleIsSymmetricAndPositive) {
  Stream stream(GetParam());
  for (const auto& problem : {land(16, 1.3), random_earth({9, 14, 11}, 1.0, 3)}) {
    const auto network = problem.on(stream);
    Multigrid<double> multigrid(stream, network, problem.spacing);
    const auto count = static_cast<std::size_t>(problem.points().count());
    Field<double> r(stream, problem.points()), z(stream, problem.points());
    const auto cycle = [&](const std::vector<double>& values) {
      r.upload(stream, values);
      multigrid.apply(stream, r, z);
      return z.download(stream);
    };
    const auto x = random_values(count, 1), y = random_values(count, 2);
    const auto bx = cycle(x), by = cycle(y);
    const double yx = std::inner_product(y.begin(), y.end(), bx.begin(), 0.0),
                 xy = std::inner_product(x.begin(), x.end(), by.begin(), 0.0),
                 xx = std::inner_product(x.begin(), x.end(), bx.begin(), 0.0),
                 yy = std::inner_product(y.begin(), y.end(), by.begin(), 0.0);
    EXPECT_GT(xx, 0);
    EXPECT_NEAR(yx, xy, 1e-13 * std::sqrt(xx * yy));
  }
}

/// A x = b by elimination, of all points.
std::vector<double> by_elimination(const Problem& problem, std::vector<double> b) {
  const auto box = problem.points();
  const auto count = static_cast<std::size_t>(box.count());
  std::vector<double> a(count * count, 0.0);
  const auto number = [&](Index k, Index j, Index i) {
    return static_cast<std::size_t>((k * problem.n[1] + j) * problem.n[2] + i);
  };
  for (Index k = 0; k < problem.n[0]; ++k)
    for (Index j = 0; j < problem.n[1]; ++j)
      for (Index i = 0; i < problem.n[2]; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
          for (Index side = 0; side < 2; ++side) {
            const Index p[3] = {k + (axis == 0 ? side : 0), j + (axis == 1 ? side : 0),
                                i + (axis == 2 ? side : 0)};
            const Index q[3] = {k + (axis == 0 ? 2 * side - 1 : 0), j + (axis == 1 ? 2 * side - 1 : 0),
                                i + (axis == 2 ? 2 * side - 1 : 0)};
            const double link = problem.link[axis][problem.place(p[0], p[1], p[2])];
            const auto row = number(k, j, i);
            a[row * count + row] += link;
            if (box.contains(q[0], q[1], q[2])) a[row * count + number(q[0], q[1], q[2])] -= link;
          }
  for (std::size_t pivot = 0; pivot < count; ++pivot)
    for (std::size_t row = pivot + 1; row < count; ++row) {
      const double factor = a[row * count + pivot] / a[pivot * count + pivot];
      if (factor == 0) continue;
      for (std::size_t column = pivot; column < count; ++column)
        a[row * count + column] -= factor * a[pivot * count + column];
      b[row] -= factor * b[pivot];
    }
  for (std::size_t row = count; row-- > 0;) {
    for (std::size_t column = row + 1; column < count; ++column)
      b[row] -= a[row * count + column] * b[column];
    b[row] /= a[row * count + row];
  }
  return b;
}

TEST_P(SolveOn, SolvesAsEliminationDoesOnOddGridsWithNaturalEnds) {
  for (const std::array<int, 3> cells : {std::array{6, 5, 9}, {2, 8, 5}, {3, 2, 2}, {2, 2, 2}}) {
    auto problem = random_earth(cells, 1.0, 7);
    // A natural surface, and a natural wall in the west.
    problem.spacing[0].natural_high = problem.spacing[2].natural_low = true;
    for (Index j = 0; j < problem.n[1]; ++j)
      for (Index i = 0; i < problem.n[2]; ++i) problem.link[0][problem.place(problem.n[0], j, i)] = 0;
    for (Index k = 0; k < problem.n[0]; ++k)
      for (Index j = 0; j < problem.n[1]; ++j) problem.link[2][problem.place(k, j, 0)] = 0;
    const auto b = random_values(static_cast<std::size_t>(problem.points().count()), 5);
    const auto expected = by_elimination(problem, b);
    const auto solved = solve_by_multigrid<double>(problem, b, GetParam(), 0, {.relative = 1e-13});
    EXPECT_TRUE(solved.report.converged()) << solved.report.text();
    const double most = std::abs(*std::max_element(
        expected.begin(), expected.end(), [](double p, double q) { return std::abs(p) < std::abs(q); }));
    for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_NEAR(solved.x[n], expected[n], 1e-9 * most);
  }
}

TEST(Multigrid, TakesNothingFromSpacingsBeyondNaturalEndsAndRefusesOthersThatAreNoLength) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto problem = random_earth({6, 5, 9}, 1.0, 7);
  Stream stream(cpu);
  const auto network = problem.on(stream);
  auto& axis = problem.spacing[0];
  axis.natural_high = true;
  const auto levels = Multigrid<double>(stream, network, problem.spacing).levels();
  for (const double nothing : {0.0, -1.0, nan}) {
    axis.spacing.back() = nothing;
    EXPECT_EQ(Multigrid<double>(stream, network, problem.spacing).levels(), levels) << nothing;
  }
  for (const double wrong : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    axis.spacing[1] = wrong;
    EXPECT_THROW(Multigrid<double>(stream, network, problem.spacing), InputError) << wrong;
  }
}

TEST_P(SolveOn, BitsAreThoseOfTheProcessorsOnAnyNumberOfThreads) {
  const auto problem = land(20, 1.3);
  const auto b = dipole(problem);
  const auto one = solve_by_multigrid<float>(problem, b, cpu, 1);
  EXPECT_TRUE(one.report.converged());
  for (int threads : {2, 3, 5}) EXPECT_EQ(solve_by_multigrid<float>(problem, b, cpu, threads).x, one.x);
  const auto there = solve_by_multigrid<float>(problem, b, GetParam());
  if (GetParam().kind == Device::Kind::debug) EXPECT_EQ(there.x, one.x);
  else EXPECT_EQ(there.report.iterations, one.report.iterations);
}

TEST_P(SolveOn, OneKernelAlongAllAxesBetweenLevelsGivesTheBitsOfOnePerAxis) {
  if (GetParam().kind == Device::Kind::cuda) GTEST_SKIP() << "nvcc fuses products with sums as it likes";
  Stream stream(GetParam());
  for (const auto& problem : {land(18, 1.3), random_earth({13, 6, 40}, 1.1, 3)}) {
    auto network = problem.on(stream);
    const auto count = static_cast<std::size_t>(problem.points().count());
    network.storage = Field<double>(stream, problem.points());
    network.storage.upload(stream, std::vector<double>(count, 20.0));
    network.shift = 3;
    const auto values = random_values(2 * count, 1);
    const auto cycle = [&](Transfers transfers) {
      Multigrid<Complex<float>> multigrid(stream, network, problem.spacing, transfers);
      Field<Complex<double>> r(stream, problem.points()), z(stream, problem.points());
      r.upload(stream, values);
      multigrid.apply(stream, r, z);
      return z.download(stream);
    };
    const auto plain = cycle(Transfers::axis_by_axis);
    EXPECT_EQ(cycle(Transfers::together), plain);
    EXPECT_EQ(cycle(Transfers::together_flat), plain);
    EXPECT_EQ(cycle(Transfers::in_passes), plain);
    EXPECT_NE(plain, std::vector<double>(2 * count, 0.0));
  }
}

TEST(Multigrid, TwoPassesOverALevelGiveTheBitsOfAllStepsOneByOneOnAnyNumberOfThreads) {
  // Enough points for several threads, in blocks of planes, and of rows where there are few planes.
  for (const auto& problem : {random_earth({40, 26, 31}, 1.1, 3), random_earth({5, 90, 70}, 1.0, 4),
                              random_earth({37, 20, 24}, 1.4, 5)}) {
    const auto values = random_values(static_cast<std::size_t>(problem.points().count()), 1);
    const auto cycle = [&](Transfers transfers, int threads, auto number, bool lent = false) {
      Stream stream(cpu, false, threads);
      SharedMemory memory;
      Multigrid<decltype(number)> multigrid(stream, problem.on(stream), problem.spacing, transfers,
                                            lent ? InTurn{&memory, true, 0} : InTurn{});
      Field<double> r(stream, problem.points()), z(stream, problem.points());
      r.upload(stream, values);
      for (int times = 0; times < (lent ? 2 : 1); ++times) multigrid.apply(stream, r, z);
      return z.download(stream);
    };
    const auto single = cycle(Transfers::axis_by_axis, 1, float{}),
               twice = cycle(Transfers::axis_by_axis, 1, double{});
    for (int threads : {1, 2, 3, 7}) {
      EXPECT_EQ(cycle(Transfers::in_passes, threads, float{}), single) << threads;
      EXPECT_EQ(cycle(Transfers::in_passes, threads, float{}, true), single) << threads;
      EXPECT_EQ(cycle(Transfers::in_passes, threads, double{}), twice) << threads;
    }
  }
}

TEST(SplitNetworks, JoinToTheBitsOfDoublePrecision) {
  std::mt19937_64 generator(2);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-126, 126);
  std::vector<double> all{0, 1, -1, 1 / 3., std::ldexp(1 - 0x1p-25, 3), std::nextafter(1., 2), 0x1p-126};
  for (int n = 0; n < 10000; ++n) all.push_back(std::ldexp(mantissa(generator), exponent(generator)));
  for (const double value : all) {
    const auto rounded = static_cast<float>(value);
    EXPECT_EQ(detail::joined(rounded, detail::steps_between(rounded, value)), value);
  }
  for (const double value : {1e-39, 1e-60}) {  // below the range of float: rounded
    const auto rounded = static_cast<float>(value);
    const double joined = detail::joined(rounded, detail::steps_between(rounded, value));
    EXPECT_NEAR(joined, value, 0x1p-150);
  }
}

TEST_P(SolveOn, SplitNetworksTakeTheSameStepsToTheSameSolution) {
  Stream stream(GetParam());
  const auto problem = random_earth({19, 26, 23}, 1.3, 7);
  const auto values = random_values(static_cast<std::size_t>(problem.points().count()), 1);
  Multigrid<float> multigrid(stream, problem.on(stream), problem.spacing);
  const auto whole = problem.on(stream);
  const auto split = solve::split(stream, problem.on(stream), multigrid);
  const auto solved = [&](const auto& network) {
    Field<double> b(stream, problem.points()), x(stream, problem.points());
    b.upload(stream, values);
    const auto precondition = [&](Stream& s, const Field<double>& r, Field<double>& z, double scale) {
      multigrid.apply(s, r, z, scale);
    };
    const auto report = conjugate_gradients(stream, network, b, x, precondition);
    EXPECT_TRUE(report.converged());
    Field<double> q(stream, problem.points());
    apply(stream, network, x, q);
    return std::tuple{report.history, x.download(stream), q.download(stream)};
  };
  const auto [history, x, q] = solved(whole);
  const auto [split_history, split_x, split_q] = solved(split);
  if (GetParam().kind == Device::Kind::cuda) {  // nvcc fuses products with sums as it likes
    EXPECT_EQ(split_history.size(), history.size());
    const auto apart = [](const std::vector<double>& u, const std::vector<double>& v) {
      double square = 0;
      for (std::size_t n = 0; n < v.size(); ++n) square += (u[n] - v[n]) * (u[n] - v[n]);
      return std::sqrt(square);
    };
    const std::vector<double> nothing(x.size(), 0.0);
    EXPECT_LT(apart(split_q, q), 1e-6 * apart(q, nothing));  // of x to 1e-8
    EXPECT_LT(apart(split_x, x), 1e-6 * apart(x, nothing));
    return;
  }
  EXPECT_EQ(split_history, history);
  EXPECT_EQ(split_x, x);
  EXPECT_EQ(split_q, q);
}

TEST_P(SolveOn, IterationsWithTheDiagonalAreThoseOfAnyPreconditioner) {
  // In one pass, sums are added up as their terms are computed.
  Stream stream(GetParam());
  const auto problem = random_earth({13, 6, 40}, 1.1, 3);
  const auto network = problem.on(stream);
  const auto diagonal = jacobi(stream, network);
  const Stopping stopping{.most_iterations = 40};
  Field<double> b(stream, problem.points());
  b.upload(stream, random_values(static_cast<std::size_t>(problem.points().count()), 5));
  Field<double> quick(stream, problem.points()), slow(stream, problem.points());
  const auto one = conjugate_gradients(stream, network, b, quick, diagonal, stopping);
  const auto other = conjugate_gradients(stream, network, b, slow, Preconditioner(diagonal), stopping);
  EXPECT_EQ(one.history, other.history);
  EXPECT_EQ(one.iterations, 40);
  EXPECT_EQ(quick.download(stream), slow.download(stream));
}

TEST_P(SolveOn, NetworksOfProductsCycleAsTheirConductancesDo) {
  Stream stream(GetParam());
  const std::vector<double> h[3] = {stretched(18, 1.4), stretched(9, 1.0), stretched(26, 1.2)};
  ProductNetwork products;
  std::array<AxisSpacing, 3> spacing;
  for (std::size_t a = 0; a < 3; ++a) {
    spacing[a].spacing = h[a];
    for (const double width : h[a]) products.along[a].push_back(1 / width);
    for (std::size_t n = 0; n + 1 < h[a].size(); ++n)
      products.across[a].push_back((h[a][n] + h[a][n + 1]) / 2);
  }
  // Natural ends of the axis north.
  spacing[1].natural_low = spacing[1].natural_high = true;
  products.along[1].front() = products.along[1].back() = 0;
  const auto size = [&](std::size_t a) { return static_cast<Index>(h[a].size()) - 1; };
  const auto points = index_box(size(0), size(1), size(2));
  const auto count = static_cast<std::size_t>(points.count());
  Network<double> network;
  for (std::size_t a = 0; a < 3; ++a) {
    network.link[a] = link_field<double>(stream, points);
    const auto box = points.grown(static_cast<int>(a), 0, 1);
    std::vector<double> values;
    for (Index k = 0; k < box.last[0]; ++k)
      for (Index j = 0; j < box.last[1]; ++j)
        for (Index i = 0; i < box.last[2]; ++i) {
          const Index q[3] = {k, j, i};
          double link = 1;
          for (std::size_t x = 0; x < 3; ++x)
            link *= (x == a ? products.along : products.across)[x][static_cast<std::size_t>(q[x])];
          values.push_back(link);
        }
    network.link[a].upload(stream, values, box);
  }
  std::vector<double> stored;
  for (const double value : random_values(count, 2)) stored.push_back(1e3 * value * value);
  Field<double> storage(stream, points);
  storage.upload(stream, stored);
  network.storage = Field<double>(stream, points);
  network.storage.upload(stream, stored);
  network.shift = products.shift = 0.7;
  products.part = points;
  products.storage = &storage;

  Field<Complex<double>> r(stream, points), z(stream, points);
  r.upload(stream, random_values(2 * count, 1));
  const auto cycle = [&](auto&& multigrid) {
    multigrid.apply(stream, r, z);
    return z.download(stream);
  };
  const auto plain = cycle(Multigrid<Complex<double>>(stream, network, spacing, Transfers::axis_by_axis));
  double most = 0;
  for (const double value : plain) most = std::max(most, std::abs(value));
  EXPECT_GT(most, 0);
  const auto in_single = [&](Transfers transfers) {
    return cycle(Multigrid<Complex<float>>(stream, products, spacing, nullptr, 0, transfers));
  };
  if (GetParam().kind != Device::Kind::cuda) {
    EXPECT_EQ(in_single(Transfers::in_passes), in_single(Transfers::axis_by_axis));
  }
  for (const auto transfers :
       {Transfers::axis_by_axis, Transfers::together, Transfers::together_flat, Transfers::in_passes}) {
    const auto twice = cycle(Multigrid<Complex<double>>(stream, products, spacing, nullptr, 0, transfers));
    const auto single = in_single(transfers);
    for (std::size_t n = 0; n < plain.size(); ++n) {
      ASSERT_NEAR(twice[n], plain[n], 1e-13 * most);
      ASSERT_NEAR(single[n], plain[n], 1e-5 * most);
    }
  }
}

// electromagnetic/reference/iterations.csv: DC with grounded walls to 1e-8, and Jacobi beside it.
TEST(ConjugateGradients, TakeAsManyIterationsAsMeasuredOnAnyStretching) {
  struct Row {
    int cells;
    double stretch;
    int iterations, jacobi;
  };
  for (const auto& row : {Row{32, 1.0, 8, 141}, {32, 1.3, 8, 220}, {32, 1.5, 7, 348}, {48, 1.3, 9, 459}}) {
    const auto problem = land(row.cells, row.stretch);
    const auto b = dipole(problem);
    for (const auto& report : {solve_by_multigrid<double>(problem, b, cpu).report,
                               solve_by_multigrid<float>(problem, b, cpu).report}) {
      EXPECT_TRUE(report.converged()) << report.text();
      EXPECT_NEAR(report.iterations, row.iterations, std::max(1.0, 0.25 * row.iterations)) << row.stretch;
      EXPECT_LT(report.residual, 1e-8);
    }
    if (row.cells > 32) continue;
    Stream stream(cpu);
    const auto network = problem.on(stream);
    Field<double> right(stream, problem.points()), x(stream, problem.points());
    right.upload(stream, b);
    const auto report =
        conjugate_gradients(stream, network, right, x, jacobi(stream, network), {.most_iterations = 2000});
    EXPECT_NEAR(report.iterations, row.jacobi, 0.25 * row.jacobi) << row.stretch;
  }
}

TEST(ConjugateGradients, ConvergeOnEarthsThatDifferByFiveDecadesFromCellToCell) {
  const auto report =
      solve_by_multigrid<float>(random_earth({32, 32, 32}, 1.3, 1), dipole(land(32, 1.3)), cpu).report;
  EXPECT_TRUE(report.converged()) << report.text();
  EXPECT_LE(report.iterations, 30);
}

TEST(ConjugateGradients, ConvergedMeansThatTheResidualOfTheSolutionIsAsSmallAsAsked) {
  // On an earth of eleven decades the carried residual goes on falling where that of the solution does not.
  std::mt19937 generator(2);
  std::uniform_real_distribution<double> decade(-10, 1);
  const auto h = stretched(12, 1.5);
  const auto problem = nodal({h, h, h}, [&](Index, Index, Index) { return std::pow(10, decade(generator)); });
  for (const double relative : {1e-8, 1e-11, 1e-14, 1e-17}) {
    const auto report =
        solve_by_multigrid<float>(problem, dipole(problem), cpu, 0, {.relative = relative}).report;
    if (report.converged()) {
      EXPECT_LE(report.residual, relative);
    } else {
      EXPECT_GT(report.residual, relative) << report.text();
    }
    if (relative == 1e-8) {
      EXPECT_TRUE(report.converged()) << report.text();
    }
    if (relative == 1e-17) {
      EXPECT_EQ(report.reason, Reason::stagnated) << report.text();
    }
  }
}

TEST(ConjugateGradients, SayWhyTheyStopped) {
  auto problem = land(12, 1.0);
  const auto b = dipole(problem);
  EXPECT_EQ(solve_by_multigrid<double>(problem, b, cpu, 0, {.most_iterations = 2}).report.reason,
            Reason::most_iterations);
  {
    Stream stream(cpu);
    const auto network = problem.on(stream);
    Field<double> right(stream, problem.points()), x(stream, problem.points());
    right.upload(stream, b);
    const auto report =
        conjugate_gradients(stream, network, right, x, jacobi(stream, network), {.patience = 2});
    EXPECT_EQ(report.reason, Reason::stagnated);
    EXPECT_GT(report.residual, 1e-8);
  }
  const auto nothing = solve_by_multigrid<double>(problem, std::vector<double>(b.size(), 0.0), cpu);
  EXPECT_EQ(nothing.report.iterations, 0);
  EXPECT_THAT(nothing.x, testing::Each(0.0));
  problem.link[1][problem.place(4, 4, 4)] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve_by_multigrid<double>(problem, b, cpu).report.reason, Reason::not_finite);
  EXPECT_THAT(solve_by_multigrid<double>(problem, b, cpu).report.text(), testing::HasSubstr("not finite"));
}

TEST(Multigrid, CoarsensOnlyShortDirectionsUntilAllAreAlike) {
  Stream stream(cpu);
  const std::vector<double> flat(32, 10.0), wide(16, 100.0);
  const auto problem = nodal({flat, wide, wide}, [](Index, Index, Index) { return 0.01; });
  Multigrid<double> multigrid(stream, problem.on(stream), problem.spacing);
  const auto levels = multigrid.levels();
  ASSERT_GE(levels.size(), 4U);
  EXPECT_LT(levels[1].size(0), levels[0].size(0));
  EXPECT_EQ(levels[1].size(1), levels[0].size(1));
  EXPECT_EQ(levels.back().count(), 1);
  EXPECT_LT(multigrid.operator_complexity(), 2.6);
}

}  // namespace
}  // namespace terrane::solve
