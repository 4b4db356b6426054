#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "../support/checked_memory.hpp"
#include "../support/elastic_meshes.hpp"
#include "ranks.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/partition/halo.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/elastic/march/field.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::elastic {
namespace {

TEST(ElasticOnRanks, HasTheSameBitsAsOneProcess) {
  for (const auto order : {test::Order::as_started, test::Order::reversed}) {
    const auto comm = test::ranks(order);
    if (comm->rank() > 0) {
      serve(physics::all(), *comm);
      continue;
    }
    for (const auto precision : {Precision::single_precision, Precision::double_precision})
      for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
        const bool reversed = order == test::Order::reversed;
        if (reversed != (precision == Precision::double_precision)) continue;
        if (reversed && kind == Device::Kind::debug) continue;
        const bool fade = kind == Device::Kind::debug || reversed;
        auto problem = test::rough_earth(precision, 4, true, fade);
        problem.end = test::checked_memory ? 0.06 : 0.2;
        problem.snapshots.of = Snapshots::Of::volume;
        problem.snapshots.interval = 0.05;
        problem.settle();
        Runtime alone, shared;
        alone.device.kind = shared.device.kind = kind;
        alone.threads = shared.threads = 1;
        shared.comm = comm.get();
        const auto here = march(problem, alone, Keep::state), there = march(problem, shared, Keep::state);
        EXPECT_EQ(here.changes, there.changes);
        EXPECT_EQ(here.displacement, there.displacement);
        EXPECT_EQ(here.change, there.change);
        EXPECT_GT(here.pictures.count() * here.pictures.numbers(), 0u);
        EXPECT_EQ(here.pictures.all(), there.pictures.all());
      }
    dismiss(*comm);
  }
}

TEST(ElasticOnRanks, HasTheSameBitsWhenSharedPointsGoFromDeviceToDevice) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = test::with_direct_messages(*below);
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    const auto problem = test::rough_earth(Precision::single_precision);
    Runtime alone, shared;
    alone.device.kind = shared.device.kind = device.kind;
    alone.threads = shared.threads = 1;
    shared.comm = comm.get();
    const auto here = march(problem, alone, Keep::state), there = march(problem, shared, Keep::state);
    EXPECT_THAT(there.notes, testing::Contains(
                                 testing::StartsWith("values at shared points go from device to device by")));
    EXPECT_EQ(here.changes, there.changes);
    EXPECT_EQ(here.displacement, there.displacement);
    EXPECT_EQ(here.change, there.change);
  }
  dismiss(*comm);
}

/// Values of receivers and all displacements after steps, of which most come in groups. way: ends with it.
std::vector<double> after_steps(const Problem& problem, Comm& comm, const FieldOptions& options,
                                std::string_view way = {}) {
  const auto field = make_field(problem, make_part(problem, comm.rank(), comm.size()), options, comm);
  EXPECT_TRUE(field->transport().ends_with(way)) << field->transport();
  std::vector<double> all;
  for (int chunk = 0; chunk < 5; ++chunk) {
    std::vector<double> courses;
    for (std::size_t n = 0; n < options.most_rows * problem.sources.size(); ++n)
      courses.push_back(static_cast<double>(n % 3) + chunk);
    field->load_courses(courses);
    field->steps(chunk == 3 ? 1 : options.most_rows);
    const auto some = field->take_series();
    all.insert(all.end(), some.begin(), some.end());
  }
  const auto displacement = field->state().displacement;
  EXPECT_GT(*std::max_element(displacement.begin(), displacement.end()), 0);
  all.insert(all.end(), displacement.begin(), displacement.end());
  return all;
}

/// Whether halos of this Comm are kernels.
bool reach_each_other(Device device, Comm& comm) {
  Stream stream(device);
  HaloSettings<1> settings{{1}, {1}};
  settings.at_once = true;
  const auto partition = cut(index_box(100 * comm.size()), comm.size(), CartesianSettings<1>{{100}, {}});
  return Halo<float, 1>(stream, partition, settings, 1, comm).by_peers();
}

TEST(ElasticOnRanks, GraphsWithMessagesInThemHaveTheBitsOfSteps) {
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  for (const auto device : test::devices_with_direct_messages(*comm))
    for (const auto precision : {Precision::single_precision, Precision::double_precision}) {
      const bool gpu = device.kind == Device::Kind::cuda;
      if (precision == Precision::double_precision && !gpu) continue;
      const auto problem = test::rough_earth(precision);
      const bool reach = gpu && reach_each_other(device, *comm);
      const auto with = [&](std::size_t rows, bool graphs, bool peers) {
        return after_steps(problem, *comm, {device, 1, rows, false, graphs, peers},
                           peers && reach ? "by kernels" : "");
      };
      const auto messages = with(4, false, false);
      EXPECT_EQ(messages, with(4, true, false)) << to_string(device);
      if (!gpu) continue;
      // Kernels, where GPUs reach each other's memory: their messages have two places in turn, also where an
      // odd number of them is recorded.
      EXPECT_EQ(messages, with(4, false, true));
      EXPECT_EQ(messages, with(4, true, true));
      EXPECT_EQ(with(5, false, false), with(5, true, true));
    }
}

TEST(ElasticOnRanks, AnUnstableRunStopsOnAllRanksWithOneMessage) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  auto problem = test::rough_earth(Precision::single_precision);
  problem.settle();
  problem.step = 2 * problem.stable_step, problem.end = problem.begin + 1000 * problem.step;
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
  EXPECT_NE(here.find("after "), std::string::npos) << here;
  EXPECT_EQ(said(shared), here);
  EXPECT_EQ(said(shared), here);  // the ranks serve on
  dismiss(*comm);
}

TEST(ElasticOnRanks, ARunThatIsCancelledEndsOnAllRanks) {
  test::Impatient progress;
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    auto problem = test::rough_earth(Precision::single_precision);
    problem.end = 0.1;
    problem.settle();
    Runtime shared;
    shared.device.kind = device.kind;
    shared.threads = 1;
    shared.comm = comm.get();
    const auto whole = march(problem, shared);
    shared.progress = &progress;
    EXPECT_THROW(march(problem, shared), Cancelled);
    shared.progress = nullptr;
    EXPECT_EQ(whole.changes, march(problem, shared).changes);
  }
  dismiss(*comm);
}

}  // namespace
}  // namespace terrane::elastic
