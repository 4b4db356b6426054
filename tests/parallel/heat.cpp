#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "../support/heat_box.hpp"
#include "ranks.hpp"
#include "terrane/base/error.hpp"
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

TEST(HeatOnRanks, RanksThatWereToldOfADeviceServeAsBefore) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  const auto problem = test::rough_heat_box(Method::explicit_steps, 0.1);
  Runtime alone, shared;
  alone.device.kind = shared.device.kind = Device::Kind::cpu;
  shared.comm = comm.get();
  const auto here = march(problem, alone);
  // Any that may be there, one that need not begin, and one that is nowhere: nobody minds before it computes.
  for (const Device device : {Device{}, shared.device, Device{Device::Kind::cuda, 1000}}) {
    foretell(*comm, device);
    EXPECT_EQ(here.temperature, march(problem, shared).temperature);
  }
  dismiss(*comm);
}

TEST(HeatOnRanks, AnUnstableRunStopsOnAllRanksWithOneMessage) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  auto problem = test::rough_heat_box(Method::explicit_steps, 0.1);
  problem.settle();
  problem.step = 2.5 * problem.stable_step(), problem.end = 2000 * problem.step;
  Runtime alone, shared;
  alone.device.kind = shared.device.kind = Device::Kind::cpu;
  shared.comm = comm.get();
  const auto said = [&](const Runtime& runtime) -> std::string {
    try {
      march(problem, runtime);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  const auto here = said(alone);
  EXPECT_NE(here.find("temperatures grow"), std::string::npos) << here;
  EXPECT_EQ(said(shared), here);
  EXPECT_EQ(said(shared), here);  // the ranks serve on
  dismiss(*comm);
}

TEST(HeatOnRanks, ARunThatIsCancelledOrKeepsCheckpointsLeavesAllRanksInStep) {
  test::Impatient progress;
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  const auto file = std::filesystem::temp_directory_path() / fmt::format("heat-{}.checkpoint", getpid());
  for (const auto device : test::devices_with_direct_messages(*comm))
    for (const auto method : {Method::explicit_steps, Method::implicit_steps}) {
      const auto problem = test::rough_heat_box(method, 0.1);
      Runtime shared;
      shared.device.kind = device.kind;
      shared.comm = comm.get();
      const auto whole = march(problem, shared);
      shared.progress = &progress;
      EXPECT_THROW(march(problem, shared), Cancelled);
      shared.progress = nullptr;
      shared.checkpoint.file = file.string();
      shared.checkpoint.interval = shared.checkpoint.least_run = 0;
      EXPECT_EQ(whole.temperature, march(problem, shared).temperature);
      EXPECT_TRUE(std::filesystem::remove(file));
    }
  dismiss(*comm);
}

}  // namespace
}  // namespace terrane::heat
