#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/elastic_meshes.hpp"
#include "ranks.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/physics/elastic/field.hpp"
#include "terrane/physics/elastic/march.hpp"
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
        problem.end = 0.2;
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

TEST(ElasticOnRanks, GraphsWithMessagesInThemHaveTheBitsOfSteps) {
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  const auto problem = test::rough_earth(Precision::single_precision);
  constexpr std::size_t rows = 4;
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    std::vector<double> series[2], displacement[2];
    for (const bool graphs : {false, true}) {
      const auto field = make_field(problem, make_part(problem, comm->rank(), comm->size()),
                                    {device, 1, rows, false, graphs}, *comm);
      for (int chunk = 0; chunk < 5; ++chunk) {
        std::vector<double> courses;
        for (std::size_t n = 0; n < rows * problem.sources.size(); ++n)
          courses.push_back(static_cast<double>(n % 3) + chunk);
        field->load_courses(courses);
        field->steps(chunk == 3 ? 1 : rows);
        const auto some = field->take_series();
        series[graphs].insert(series[graphs].end(), some.begin(), some.end());
      }
      displacement[graphs] = field->state().displacement;
    }
    EXPECT_EQ(series[0], series[1]) << to_string(device);
    EXPECT_EQ(displacement[0], displacement[1]) << to_string(device);
    double sum = 0;
    for (const double u : displacement[1]) sum += std::abs(u);
    EXPECT_GT(sum, 0);
  }
}

}  // namespace
}  // namespace terrane::elastic
