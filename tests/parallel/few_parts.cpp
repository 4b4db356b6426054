#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/acoustic_box.hpp"
#include "../support/elastic_meshes.hpp"
#include "../support/heat_box.hpp"
#include "ranks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/simulation/serve.hpp"

// Earths of fewer elements, or planes of cells, than there are ranks: some have nothing to do.
namespace terrane {
namespace {

/// At rank 0: what `compute` finds alone and on all ranks, on the CPU and on the debug device.
template <class Compute>
void compare(const Compute& compute) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    Runtime alone, shared;
    alone.device.kind = shared.device.kind = kind;
    shared.comm = comm.get();
    const std::vector<double> here = compute(alone), there = compute(shared);
    double largest = 0;
    for (const double value : here) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0);
    EXPECT_EQ(here, there);
  }
  dismiss(*comm);
}

TEST(MoreRanksThan, ElementsGiveTheSameSeismograms) {
  elastic::Problem p;
  p.mesh = test::cubes({2, 1, 1}, 100, test::granite());
  p.sources = {{{60, 30, 70}, false, {1e9, -2e9, 3e9, 0, 0, 0}, {elastic::Pulse::ricker, 8, 0.1, {}}}};
  p.receivers = {{100, 50, 50}, {170, 20, 100}};
  p.end = 0.2;
  p.settle();
  compare([&](const Runtime& runtime) { return elastic::march(p, runtime).changes; });
}

TEST(MoreRanksThan, PlanesGiveTheSameTemperature) {
  for (const auto method : {heat::Method::explicit_steps, heat::Method::implicit_steps}) {
    auto p = test::heat_box({0, 30, 0, 20, -10, 0}, {3, 2, 1}, 2.5, 2e6);
    p.initial[4] = 10;
    p.method = method;
    p.end = 1e6;
    if (method == heat::Method::implicit_steps) p.step = 1e5;
    p.settle();
    compare([&](const Runtime& runtime) { return heat::march(p, runtime).temperature; });
  }
}

TEST(MoreRanksThan, PlanesGiveTheSameResistances) {
  std::vector<double> along;
  for (int n = -8; n <= 8; ++n) along.push_back(5 * n);
  const TensorMesh mesh(along, {-60, 0, 40}, {-50, 0});
  electric::Medium medium;
  medium.conductivity.assign(mesh.size(), 0.01);
  medium.conductivity[9] = 0.3;
  electric::Electrodes electrodes;
  for (int n = 0; n < 4; ++n) electrodes.place.push_back({-15.0 + 10 * n, 1.5, 0});
  electrodes.arrays = {{0, 1, 2, 3}};
  compare([&](const Runtime& runtime) {
    electric::DirectCurrentReport report;
    Device device;
    return electric::direct_current_on_ranks(mesh, medium, electrodes, {}, runtime, report, device, 1)
        .resistance;
  });
}

TEST(MoreRanksThan, PlanesGiveTheSameElectricFields) {
  electromagnetic::Problem p;
  const std::vector<double> along{-3000, -1500, -500, 500, 1500, 3000};
  p.mesh = TensorMesh(along, {-4000, 0, 3000}, {-2000, 0, 2000});
  p.conductivity[0].assign(p.mesh.size(), 1e-8);
  for (std::size_t n = 0; n < p.mesh.size() / 2; ++n) p.conductivity[0][n] = 0.01;
  p.sources = {{electromagnetic::Source::Kind::electric_dipole, {{-20, 10, -30}}, {1, 0, 0}}};
  p.frequencies = {1};
  p.receivers = {{700, 200, -20}, {-900, -300, -100}};
  p.components = {{false, 2}, {true, 0}};
  p.parameters.ranks_per_field = 1'000'000;
  p.parameters.tolerance = 0.01;
  compare([&](const Runtime& runtime) {
    Device device;
    std::vector<double> all;
    for (const auto& value : electromagnetic::forward_on_ranks(p, runtime, device).data)
      all.insert(all.end(), {value.real(), value.imag()});
    return all;
  });
}

TEST(MoreRanksThan, PlanesOfAGridOfWavesAreRefusedBeforeTheRun) {
  const auto comm = test::ranks();
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  auto p = test::rough_box({12, 1, 24}, 0.02);
  p.layers.points = 20;
  p.order = 12;
  p.shots = {{{{83.1, 0, 52.7}}, {{131.9, 0, 61.3}}}};
  p.settle();
  Runtime runtime;
  runtime.device.kind = Device::Kind::cpu;
  runtime.comm = comm.get();
  try {
    acoustic::run_shots(p, {}, runtime);
    ADD_FAILURE() << "12 planes and a layer on " << comm->size() << " ranks";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("ranks are too many for"),
                                               ::testing::HasSubstr("take fewer ranks per shot")));
  }
  dismiss(*comm);
}

}  // namespace
}  // namespace terrane
