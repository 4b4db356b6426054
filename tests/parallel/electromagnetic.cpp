#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/heap.hpp"
#include "../support/land.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electromagnetic {
namespace {

struct Shared {
  solve::SolveReport report;
  double divergence;
  std::array<std::vector<double>, 3> field;
};

/// A dipole in the middle, one edge long, whose field the ranks of comm share; a few iterations.
Shared shared_field(Comm& comm, Device::Kind kind, const test::Land& earth, bool rough, Index together) {
  Stream stream(resolve({kind, -1}, comm.on_node().index), false, 2);
  MaxwellSolver<float> solver(stream, earth.mesh, {&earth.sigma, &earth.sigma, &earth.sigma}, &comm,
                              together);
  solver.set_rough(rough);
  solver.set_frequency(3);
  auto b = solver.vector();
  auto x = solver.vector();
  const auto whole = solver.metric().edges(2);
  const auto count = static_cast<std::size_t>(whole.count());
  std::vector<double> values(2 * count);
  const Index m = earth.cells / 2;
  View<double, 3>(values.data() + count, whole)(m - 2, m - 1, m) = -2e-3;
  b.e[2].upload(stream, values, whole);
  solver.complete(b);
  Shared found{solver.solve(b, x, {.relative = 0.02}), solver.divergence(b, x), {}};
  for (int a = 0; a < 3; ++a) found.field[static_cast<std::size_t>(a)] = solver.gather(x, a);
  return found;
}

TEST(ElectromagneticOnRanks, OneFieldThatTheyShareTakesTheSameIterationsAndHasTheSameBits) {
  const auto comm = test::ranks(test::Order::reversed);
  struct Case {
    test::Land earth;
    Device::Kind kind;
    bool rough;
    Index together;
  };
  for (const auto& [earth, kind, rough, together] :
       {Case{test::land(16, 1.3), Device::Kind::cpu, false, 1500},
        Case{test::land(12, 1.3, test::Earth::random), Device::Kind::debug, true, 600}}) {
    Alone alone;
    const auto here = shared_field(alone, Device::Kind::cpu, earth, rough, 0),
               there = shared_field(*comm, kind, earth, rough, together);
    EXPECT_GE(here.report.iterations, 2);
    EXPECT_TRUE(here.report.converged()) << here.report.text();
    EXPECT_EQ(there.report.iterations, here.report.iterations);
    EXPECT_EQ(there.report.history, here.report.history);
    EXPECT_EQ(there.divergence, here.divergence);
    EXPECT_EQ(there.field, here.field);
  }
}

TEST(ElectromagneticOnRanks, AFieldThatDevicesShareByDirectMessagesHasTheBitsOfOneDevice) {
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  const auto earth = test::land(12, 1.3);
  Alone alone;
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    const auto here = shared_field(alone, device.kind, earth, false, 0),
               there = shared_field(*comm, device.kind, earth, false, 600);
    EXPECT_GE(here.report.iterations, 2);
    EXPECT_EQ(there.report.history, here.report.history) << to_string(device);
    EXPECT_EQ(there.field, here.field) << to_string(device);
  }
}

Problem three_sources(std::vector<double> frequencies) {
  const auto earth = test::land(10, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  problem.sources = {{Source::Kind::electric_dipole, {{3, 40, -20}}, {1, 2, 0}},
                     {Source::Kind::magnetic_dipole, {{30, 0, 20}}, {0, 0, 100}},
                     {Source::Kind::plane_wave, {}, {1, 0.5, 0}}};
  problem.frequencies = std::move(frequencies);
  problem.receivers = {{310, 20, -5}, {-210, 130, 5}};
  problem.components = {{false, 2}, {true, 0}};
  return problem;
}

/// Of one process and of all ranks; rank 0 returns them.
std::array<Outcome, 2> outcomes(const Problem& problem, Comm& comm) {
  Runtime alone, shared;
  alone.device.kind = shared.device.kind = Device::Kind::cpu;
  shared.comm = &comm;
  Device device;
  return {forward_on_ranks(problem, alone, device), forward_on_ranks(problem, shared, device)};
}

TEST(ElectromagneticOnRanks, HasTheSameBitsAsOneProcess) {
  const auto comm = test::ranks(test::Order::reversed);
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  const auto [here, there] = outcomes(three_sources({0.3, 8}), *comm);
  EXPECT_EQ(here.data, there.data);
  ASSERT_EQ(there.solves.size(), 6U);
  for (std::size_t n = 0; n < 6; ++n) {
    EXPECT_EQ(here.solves[n].iterations, there.solves[n].iterations);
    EXPECT_TRUE(there.solves[n].converged());
  }
  dismiss(*comm);
}

TEST(ElectromagneticOnRanks, FieldsThatRanksShareHaveTheSameBitsAtReceiversAndInAllCells) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  auto problem = three_sources({3});
  problem.electric_volume = problem.edge_volume = true;
  problem.parameters.ranks_per_field = 2;  // on five ranks three of them share one
  problem.parameters.tolerance = 1e-4;
  const auto [here, there] = outcomes(problem, *comm);
  EXPECT_EQ(here.data, there.data);
  EXPECT_EQ(here.volume, there.volume);
  ASSERT_EQ(there.solves.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(here.solves[n].iterations, there.solves[n].iterations);
    EXPECT_EQ(here.solves[n].residual, there.solves[n].residual);
    EXPECT_EQ(here.solves[n].divergence, there.solves[n].divergence);
    EXPECT_TRUE(there.solves[n].converged());
  }
  dismiss(*comm);
}

#ifdef TERRANE_HEAP_IS_COUNTED
TEST(ElectromagneticOnRanks, TheFieldThatTheyShareTakesNoMoreMemoryThanForeseen) {
  const auto comm = test::ranks();
  const auto earth = test::land(56, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.parameters.rough = Rough::never;
  const double before = test::bytes_on_the_heap();
  Stream stream({Device::Kind::cpu, -1}, false, 1);
  MaxwellSolver<float> solver(stream, earth.mesh, {&earth.sigma, &earth.sigma, &earth.sigma}, comm.get());
  solver.set_frequency(1);
  auto b = solver.vector();
  auto x = solver.vector();
  const auto whole = solver.metric().edges(2);
  std::vector<double> values(2 * static_cast<std::size_t>(whole.count()));
  values[values.size() / 4] = 1e-3;
  b.e[2].upload(stream, values, whole);
  values = std::vector<double>();  // gives the memory back
  solver.complete(b);
  solver.solve(b, x, {.most_iterations = 1});
  double held[1] = {test::bytes_on_the_heap() - before};
  const bool counted = comm->highest(held[0] > 0 ? 0 : 1) == 0;
  comm->sum(held);
  if (!counted) GTEST_SKIP() << "this build has another heap";
  const double foreseen = problem.field_memory_on_ranks(comm->size());
  EXPECT_LT(held[0], foreseen);
  EXPECT_GT(held[0], 0.8 * foreseen);  // 0.83 to 0.99 measured on 2 to 8 ranks, 0.90 to 1.004 of 112³ cells
}
#endif

Sharing shared(const Problem& problem, int ranks, int on_node, double bytes, double gpu = 0) {
  return share_ranks(solves_of(problem), {ranks, on_node, bytes, gpu});
}

TEST(ElectromagneticOnRanks, ShareAFieldWhereTheyAreMoreThanSolvesOrMemoryTakesFewer) {
  auto problem = three_sources({0.3, 8});
  const auto of_cells = [&](int along) {
    auto made = problem;
    const auto faces = test::stretched_faces(along, 1);
    made.mesh = TensorMesh(faces, faces, faces);
    return made;
  };
  const auto small = of_cells(60);
  const double one = small.memory(1, 0), model = small.memory(0, 1);
  EXPECT_EQ(shared(problem, 4, 4, 1e12).fields_at_once, 4);
  EXPECT_EQ(shared(problem, 8, 8, 1e12).fields_at_once, 6);
  const double of_two = small.field_memory_on_ranks(2);
  EXPECT_GT(of_two, 1.2 * one);
  EXPECT_EQ(shared(small, 4, 4, 2.05 * of_two + 4 * model).fields_at_once, 2);
  EXPECT_EQ(shared(small, 4, 2, 1.1 * of_two + 2 * model).fields_at_once, 2);  // two machines
  EXPECT_EQ(shared(small, 4, 4, 1).fields_at_once, 1);  // and is refused for its memory
  // On GPUs the memory of each counts, and of the host the models alone.
  const auto large = of_cells(240), middle = of_cells(125);
  const double most = large.field_memory(true), host = large.memory(0, 1);
  EXPECT_EQ(shared(large, 4, 4, 4.1 * host, 1.1 * most).fields_at_once, 4);
  EXPECT_EQ(shared(large, 4, 4, 4.1 * host, 0.57 * most).fields_at_once, 2);
  EXPECT_EQ(shared(large, 4, 4, 4.1 * host, 0.57 * most).reason,
            "the memory of the GPUs takes no more of them");
  EXPECT_EQ(shared(large, 4, 4, 4.1 * host, 0.51 * most).fields_at_once, 1);  // layers and whole levels
  EXPECT_EQ(shared(large, 4, 2, 4.1 * host, 0.32 * most).fields_at_once, 1);
  EXPECT_EQ(shared(large, 4, 2, 4.1 * host, 0.57 * most).fields_at_once, 2);  // as on one
  // Through NCCL, which all ranks together have and groups of them have not, they hold more levels whole.
  EXPECT_GT(part_of_field(large, 1, 4, 2), 1.3 * part_of_field(large, 1, 4, 4));
  EXPECT_EQ(part_of_field(large, 2, 4, 2), part_of_field(large, 2, 4, 4));
  EXPECT_EQ(shared(large, 3, 3, 4.1 * host, 0.7 * most).fields_at_once,
            1);  // one rank would have a whole one
  EXPECT_EQ(shared(large, 4, 4, 0.9 * host, 1.1 * most).fields_at_once, 1);
  // They share a field where it is large enough that this is quicker.
  EXPECT_EQ(shared(middle, 12, 12, 1e12, 1e12).fields_at_once, 12);
  EXPECT_THAT(shared(middle, 12, 12, 1e12, 1e12).reason, ::testing::HasSubstr("as quick on one GPU"));
  EXPECT_EQ(shared(middle, 12, 12, 1e12, 0.9 * middle.field_memory(true)).fields_at_once, 6);
  EXPECT_EQ(shared(large, 12, 12, 1e12, 1e12).fields_at_once, 6);
  EXPECT_EQ(shared(large, 8, 8, 1e12, 1e12).fields_at_once,
            8);  // two would share, and six wait for them
  problem.parameters.ranks_per_field = 3;
  EXPECT_EQ(shared(problem, 8, 8, 1e12).fields_at_once, 2);
  EXPECT_EQ(shared(problem, 2, 2, 1e12).fields_at_once, 1);
}

}  // namespace
}  // namespace terrane::electromagnetic
