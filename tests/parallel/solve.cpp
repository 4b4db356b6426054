#include <gtest/gtest.h>

#include "../support/networks.hpp"
#include "ranks.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::solve {
namespace {

struct Solved {
  SolveReport report;
  std::vector<double> x;
};

/// in_halves: of a SplitNetwork, and q where b and v of the finest level are.
Solved solved_on(Comm& comm, Device::Kind kind, const earths::Problem& problem, Index together,
                 bool in_halves = false) {
  Stream stream({kind, -1}, false, 2);
  const SharedGrid<double> grid(problem.points(), comm, stream.device());
  const auto network = problem.on(stream, grid.part());
  SharedMemory memory;
  Multigrid<float> multigrid(stream, network, problem.spacing, grid, together, Transfers::quickest,
                             in_halves ? InTurn{&memory, true, 0} : InTurn{});
  Field<double> b(stream, grid.part()), x(stream, grid.part());
  b.upload(stream, earths::dipole(problem), problem.points());
  const auto precondition = [&](Stream& s, const Field<double>& r, Field<double>& z, double scale) {
    multigrid.apply(s, r, z, scale);
  };
  auto report = in_halves
                    ? conjugate_gradients(stream, split(stream, problem.on(stream, grid.part()), multigrid),
                                          b, x, precondition, {}, &grid, &memory)
                    : conjugate_gradients(stream, network, b, x, precondition, {}, &grid);
  return {report, grid.gather(stream, x)};
}

TEST(SolveOnRanks, ConjugateGradientsWithMultigridHaveTheSameBitsAsOneProcess) {
  const auto comm = test::ranks(test::Order::reversed);
  struct Case {
    earths::Problem problem;
    Device::Kind kind;
    Index together;
  };
  for (const auto& [problem, kind, together] :
       {Case{earths::land(18, 1.3), Device::Kind::cpu, 900},
        Case{earths::random_earth({12, 14, 70}, 1.1, 3), Device::Kind::debug, 3000}}) {
    Alone alone;
    const auto here = solved_on(alone, Device::Kind::cpu, problem, 0),
               there = solved_on(*comm, kind, problem, together),
               halves = solved_on(*comm, kind, problem, together, true);
    EXPECT_TRUE(here.report.converged()) << here.report.text();
    for (const auto* other : {&there, &halves}) {
      EXPECT_EQ(other->report.iterations, here.report.iterations);
      EXPECT_EQ(other->report.history, here.report.history);
      EXPECT_EQ(other->x, here.x);
    }
  }
}

TEST(SolveOnRanks, ComplexCyclesHaveTheSameBitsHoweverManyLevelsAreShared) {
  const auto comm = test::ranks(test::Order::as_started);
  const auto problem = earths::random_earth({14, 18, 40}, 1.1, 5);
  const auto count = static_cast<std::size_t>(problem.points().count());
  const auto values = earths::random_values(2 * count, 1), random = earths::random_values(count, 2);
  std::vector<double> storage;
  for (const double value : random) storage.push_back(std::abs(value));
  const auto cycle = [&](Comm& ranks, Index together) {
    Stream stream({Device::Kind::cpu, -1}, false, 2);
    const SharedGrid<double> grid(problem.points(), ranks, stream.device());
    auto network = problem.on(stream, grid.part());
    network.storage = Field<double>(stream, grid.part());
    network.storage.upload(stream, storage, problem.points());
    network.shift = 300;
    Multigrid<Complex<float>> multigrid(stream, network, problem.spacing, grid, together);
    Field<Complex<double>> r(stream, grid.part()), z(stream, grid.part());
    r.upload(stream, values, problem.points());
    multigrid.apply(stream, r, z);
    return grid.gather(stream, z);
  };
  Alone alone;
  const auto here = cycle(alone, 0);
  for (const Index together : {1, 500, 1'000'000}) EXPECT_EQ(cycle(*comm, together), here) << together;
  double most = 0;
  for (const double value : here) most = std::max(most, std::abs(value));
  EXPECT_GT(most, 0);
}

}  // namespace
}  // namespace terrane::solve
