#include <gtest/gtest.h>

#include "../support/land.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/electromagnetic/ranks.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electromagnetic {
namespace {

TEST(ElectromagneticOnRanks, HasTheSameBitsAsOneProcess) {
  const auto comm = test::ranks(test::Order::reversed);
  if (comm->rank() > 0) {
    serve(physics::all(), *comm);
    return;
  }
  const auto earth = test::land(10, 1.3);
  Problem problem;
  problem.mesh = earth.mesh;
  problem.conductivity[0] = earth.sigma;
  problem.sources = {{Source::Kind::electric_dipole, {{3, 40, -20}}, {1, 2, 0}},
                     {Source::Kind::magnetic_dipole, {{30, 0, 20}}, {0, 0, 100}},
                     {Source::Kind::plane_wave, {}, {1, 0.5, 0}}};
  problem.frequencies = {0.3, 8};
  problem.receivers = {{310, 20, -5}, {-210, 130, 5}};
  problem.components = {{false, 2}, {true, 0}};
  Runtime alone, shared;
  alone.device.kind = shared.device.kind = Device::Kind::cpu;
  shared.comm = comm.get();
  Device device;
  const auto here = forward_on_ranks(problem, alone, device),
             there = forward_on_ranks(problem, shared, device);
  EXPECT_EQ(here.data, there.data);
  ASSERT_EQ(there.solves.size(), 6U);
  for (std::size_t n = 0; n < 6; ++n) {
    EXPECT_EQ(here.solves[n].iterations, there.solves[n].iterations);
    EXPECT_TRUE(there.solves[n].converged());
  }
  dismiss(*comm);
}

}  // namespace
}  // namespace terrane::electromagnetic
