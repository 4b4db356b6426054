// Small runs on a machine that is busy with other programs.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "support/busy_machine.hpp"
#include "support/prism_field.hpp"
#include "terrane/physics/gravity/run/planner.hpp"

namespace terrane::gravity {
namespace {

struct SmallRun {
  test::PrismList prisms;
  test::StationList stations;
  Parameters parameters;

  SmallRun() {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> density(-500, 500);
    prisms = test::mesh_block({0, 320, 0, 320, -80, 0}, {16, 16, 4},
                              [&](int, int, int) { return density(random); });
    for (int j = 0; j < 16; ++j)
      for (int i = 0; i < 16; ++i) stations.add(10 + 20 * i, 10 + 20 * j, 10);
    parameters.channels = ChannelSet::all();
    parameters.threads = 2;
  }
  /// The median of nine.
  double seconds() const {
    std::vector<double> times;
    for (int n = 0; n < 9; ++n) {
      const auto start = std::chrono::steady_clock::now();
      test::field(prisms.view(), stations.view(), parameters);
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[4];
  }
};

TEST(BusyMachine, LetsASmallRunHaveItsShareByEveryMethod) {
  if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "threads are bound, and those of OpenMP";
  SmallRun run;
  for (const auto method : {Method::automatic, Method::direct, Method::lattice, Method::tree}) {
    run.parameters.method = method;
    const double alone = run.seconds();
    const test::BusyMachine busy(2 * omp_get_num_procs());
    // Two turns of the processor, where each barrier took one: up to seconds.
    EXPECT_LT(run.seconds(), 10 * alone + 0.05) << name(method);
  }
}

TEST(BusyMachine, IsNotWhatTheEstimateOfALatticeForgets) {
  // What a group of stations costs whatever its size: else a lattice of a few cells seems to cost nothing.
  SmallRun run;
  run.parameters.method = Method::lattice;
  auto& up = run.stations.up;
  const auto one = plan(run.prisms.view(), run.stations.view(), run.parameters);
  for (std::size_t n = 0; n < up.size(); ++n) up[n] += static_cast<double>(n / 16);  // a group a row
  const auto many = plan(run.prisms.view(), run.stations.view(), run.parameters);
  EXPECT_GT(one.seconds * run.parameters.threads, 0.5e-3);
  EXPECT_GT(many.seconds * run.parameters.threads, 8e-3);
  run.parameters.method = Method::automatic;
  EXPECT_EQ(plan(run.prisms.view(), run.stations.view(), run.parameters).method, Method::direct);
}

}  // namespace
}  // namespace terrane::gravity
