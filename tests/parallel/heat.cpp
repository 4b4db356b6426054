#include <gtest/gtest.h>

#include "../support/heat_box.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::heat {
namespace {

TEST(HeatOnRanks, HasTheSameBitsAsOneProcess) {
  for (const auto order : {test::Order::as_started, test::Order::reversed}) {
    const auto comm = test::ranks(order);
    if (comm->rank() > 0) {
      serve(physics::all(), *comm);
      continue;
    }
    for (const auto method : {Method::explicit_steps, Method::implicit_steps})
      for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
        if (kind == Device::Kind::debug && order == test::Order::reversed) continue;
        const auto problem = test::rough_heat_box(method, 0.1);
        Runtime alone, shared;
        alone.device.kind = shared.device.kind = kind;
        shared.comm = comm.get();
        const auto here = march(problem, alone), there = march(problem, shared);
        EXPECT_EQ(here.temperature, there.temperature);
        EXPECT_EQ(here.series, there.series);
        EXPECT_EQ(here.heat_after, there.heat_after);
        EXPECT_EQ(here.iterations, there.iterations);
      }
    dismiss(*comm);
  }
}

}  // namespace
}  // namespace terrane::heat
