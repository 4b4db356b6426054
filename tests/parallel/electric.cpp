#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ranks.hpp"
#include "support/checked_memory.hpp"
#include "support/files.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electric/simulation.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electric {
namespace {

using testing::HasSubstr;

TEST(ElectricOnRanks, HasTheSameBitsAsOneProcessWhetherElectrodesAreSharedOrNodes) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  std::vector<double> flat, deep;
  for (int n = -40; n <= 40; ++n) flat.push_back(5 * n + 0.02 * n * n * n);
  for (int n = -16; n <= 0; ++n) deep.push_back(5 * n - 0.5 * n * n);
  const std::vector<double> narrow(flat.begin() + 28, flat.end() - 28);
  const TensorMesh mesh(flat, narrow, deep);
  Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  for (std::size_t n = mesh.size() / 2; n < mesh.size(); n += 7) medium.conductivity[n] = 0.3;
  Medium chargeable = medium, lagging = medium, uneven = medium;
  chargeable.chargeability.assign(mesh.size(), 0.1);
  for (const double sigma : medium.conductivity) lagging.quadrature.push_back(0.05 * sigma);
  uneven.ground = ground_below(mesh, [](double e, double) { return -0.05 * std::abs(e); });
  auto by_axis = medium;
  by_axis.conductivity_north = medium.conductivity;
  by_axis.conductivity_up.assign(mesh.size(), 0.02);
  Electrodes electrodes;
  for (int n = 0; n < 6; ++n) electrodes.place.push_back({-41.0 + 17 * n, 1.5, -3});
  for (int n = 0; n < 3; ++n) electrodes.arrays.push_back({n + 1, n, n + 2, n + 3});
  for (const auto* earth : {&medium, &chargeable, &lagging, &uneven, &by_axis}) {
    Runtime alone, shared;
    alone.device.kind = shared.device.kind = Device::Kind::cpu;
    shared.comm = comm.get();
    DirectCurrentReport here, there;
    Device device;
    Parameters parameters{.potential = earth == &medium ? Potential::total : Potential::automatic,
                          .volume = {.potential = true, .current = true}};
    if (earth == &by_axis) parameters.boundary(1, true) = Boundary::insulated;
    const auto one = direct_current_on_ranks(mesh, *earth, electrodes, parameters, alone, here, device);
    ASSERT_EQ(one.volume.size(), 4U);
    EXPECT_EQ(here.held_against > 0, earth != &medium && earth != &by_axis) << here.secondary;
    for (const double rho : one.apparent_resistivity) EXPECT_NEAR(rho, 60, 50);
    const bool once = test::checked_memory && earth != &medium;
    for (const int at_once :
         once ? std::vector{2} : std::vector{0, 1, 2}) {  // on five ranks of two and three
      const auto all =
          direct_current_on_ranks(mesh, *earth, electrodes, parameters, shared, there, device, at_once);
      EXPECT_EQ(one.resistance, all.resistance);
      EXPECT_EQ(one.geometric_factor, all.geometric_factor);
      EXPECT_EQ(one.apparent_resistivity, all.apparent_resistivity);
      EXPECT_EQ(one.phase, all.phase);
      EXPECT_EQ(one.chargeability, all.chargeability);
      ASSERT_EQ(all.volume.size(), 4U);
      for (std::size_t n = 0; n < 4; ++n) {
        EXPECT_EQ(one.volume[n].real.size(), 4 * mesh.size());
        EXPECT_EQ(one.volume[n].real, all.volume[n].real);
        EXPECT_EQ(one.volume[n].imaginary, all.volume[n].imaginary);
      }
      EXPECT_EQ(here.sources, there.sources);
      EXPECT_EQ(here.secondary, there.secondary);
      EXPECT_EQ(here.held_against, there.held_against);
      EXPECT_EQ(here.most_iterations(), there.most_iterations());
      EXPECT_TRUE(there.converged());
      there = {};
    }
  }
  dismiss(*comm);
}

TEST(ElectricOnRanks, WhatIsWrongWithAProblemIsAnErrorOnRankZeroAlsoWhereRanksShareAMesh) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  std::vector<double> flat, deep;
  for (int n = -8; n <= 8; ++n) flat.push_back(5 * n);
  for (int n = -8; n <= 0; ++n) deep.push_back(5 * n);
  const TensorMesh mesh(flat, flat, deep);
  Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  const Electrodes electrodes{{{-10, 1, 0}, {-2, 1, 0}, {2, 1, 0}, {10, 1, 0}}, {{0, 3, 1, 2}}};
  Runtime shared;
  shared.device.kind = Device::Kind::cpu;
  shared.comm = comm.get();
  const auto said = [&](const Medium& of, Potential potential) {
    return testing_support::message([&] {
      DirectCurrentReport report;
      Device device;
      const Parameters parameters{.potential = potential};
      direct_current_on_ranks(mesh, of, electrodes, parameters, shared, report, device, 1);
    });
  };
  Medium differs = medium, wrong = medium, uneven = medium;
  differs.conductivity[mesh.index(6, 8, 7)] = 0.02;  // on one side of the first electrode
  wrong.conductivity.back() = -1;
  uneven.ground = ground_below(mesh, [](double, double) { return -12.0; });
  EXPECT_EQ(said(medium, Potential::secondary), "no error");
  EXPECT_THAT(said(wrong, Potential::automatic), HasSubstr("-1 S/m in cell"));
  EXPECT_THAT(said(uneven, Potential::automatic), HasSubstr("electrode 1"));
  EXPECT_THAT(said(differs, Potential::secondary), HasSubstr("the cells around it differ"));
  EXPECT_EQ(said(medium, Potential::automatic), "no error");
  dismiss(*comm);
}

TEST(ElectricOnRanks, SecondsOfCheckAreThoseOfTheTurnsThatElectrodesTake) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  std::vector<double> flat, deep;
  for (int n = -8; n <= 8; ++n) flat.push_back(5 * n);
  for (int n = -8; n <= 0; ++n) deep.push_back(5 * n);
  const TensorMesh mesh(flat, flat, deep);
  Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  Electrodes electrodes;
  for (int n = 0; n < 6; ++n) electrodes.place.push_back({-15.0 + 6 * n, 1, 0});
  for (int n = 0; n < 3; ++n) electrodes.arrays.push_back({n, n + 1, n + 2, n + 3});
  constexpr int sources = 3;  // 2, 3 and 4: current and potential of the first two arrays change places
  auto chargeable = medium;
  chargeable.chargeability.assign(mesh.size(), 0.1);
  for (const bool twice : {false, true})
    for (const int ranks_per_field : {0, 2}) {
      Settings settings;
      settings.parameters.ranks_per_field = ranks_per_field;
      Simulation simulation(mesh, twice ? chargeable : medium, electrodes, settings);
      Runtime runtime;
      runtime.device.kind = Device::Kind::cpu;
      runtime.comm = comm.get();
      const int groups =
          std::max(1, std::min(sources, ranks_per_field == 0 ? comm->size() : comm->size() / 2));
      const int turns = (sources + groups - 1) / groups;
      EXPECT_DOUBLE_EQ(simulation.check(runtime).seconds,
                       turns * (twice ? 2 : 1) * simulation.seconds_of_solve(runtime.device))
          << groups << " groups";
    }
  dismiss(*comm);
}

TEST(ElectricOnRanks, ShareElectrodesWhereMemoryTakesAMeshForEachAndNodesOtherwise) {
  Load load{.solves = 6, .nodes = 6e6, .complex = false, .bytes_of_rank = 8e6, .ranks_per_field = 0};
  const double mesh = bytes_needed(load.nodes), helper = bytes_of_helper(load.nodes);
  const auto shared = [&](int ranks, int on_node, double bytes, double gpu = 0) {
    return share_ranks(solves_of(load), {ranks, on_node, bytes, gpu});
  };
  EXPECT_EQ(shared(4, 4, 1e12).fields_at_once, 4);
  EXPECT_EQ(shared(4, 4, 1e12).reason, "no messages are needed");
  EXPECT_EQ(shared(8, 8, 1e12).fields_at_once, 6);
  EXPECT_EQ(shared(4, 4, 2.1 * mesh + 2 * helper + 4 * load.bytes_of_rank).fields_at_once, 2);
  EXPECT_EQ(shared(4, 2, 1.1 * mesh + helper + 2 * load.bytes_of_rank).fields_at_once, 2);
  EXPECT_EQ(shared(4, 4, 1).fields_at_once, 1);  // and is refused for its memory
  // On GPUs the memory of each counts; and they share a mesh where it is large enough that this is quicker.
  const double of_gpu = bytes_needed(load.nodes, false, true);
  EXPECT_EQ(shared(4, 4, 1e12, 1.1 * of_gpu).fields_at_once, 4);
  EXPECT_EQ(shared(4, 4, 1e12, 0.9 * of_gpu).fields_at_once, 2);
  EXPECT_EQ(shared(4, 4, 1e12, 0.9 * of_gpu).reason, "the memory of the GPUs takes no more of them");
  EXPECT_EQ(shared(12, 12, 1e12, 1e12).fields_at_once, 12);
  // What is found counts, too, and as numbers that are handed over.
  load.bytes_found = mesh / 2;
  EXPECT_EQ(shared(4, 4, 7.9 * mesh + 4 * load.bytes_of_rank).fields_at_once, 3);
  EXPECT_EQ(shared(4, 4, 8.1 * mesh + 4 * load.bytes_of_rank).fields_at_once, 4);
  const auto on_gpus = shared(4, 4, 3.5 * mesh + 4 * (helper + load.bytes_of_rank), 1e12);
  EXPECT_EQ(on_gpus.fields_at_once, 3);
  EXPECT_EQ(on_gpus.reason, "the memory of the machine takes no more of them");
  load.bytes_found = 0;
  load.nodes = 2e7;
  EXPECT_EQ(shared(12, 12, 1e12, 1e12).fields_at_once, 6);
  load.ranks_per_field = 2;
  EXPECT_EQ(shared(4, 4, 1e12).fields_at_once, 2);
  EXPECT_EQ(shared(4, 4, 1e12).reason, "as asked for");
  load.ranks_per_field = 100;
  EXPECT_EQ(shared(4, 4, 1e12).fields_at_once, 1);
}

}  // namespace
}  // namespace terrane::electric
