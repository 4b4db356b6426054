// forward() on devices: what a caller sees is what the CPU gives, singular stations and reports
// included.
#include <gmock/gmock.h>

#include <random>

#include "devices/device.hpp"
#include "support/prism_field.hpp"
#include "terrane/physics/gravity/run/planner.hpp"

namespace terrane::gravity {
namespace {

using test::FieldTable;
using test::PrismList;
using test::StationList;

struct Run {
  FieldTable values;
  std::vector<unsigned char> singular;
  Report report;
};

Run run(Device device, const PrismList& prisms, const StationList& stations, Parameters parameters) {
  parameters.device = device;
  parameters.channels = ChannelSet::all();
  Run r;
  r.values.assign(10, std::vector<double>(stations.size()));
  r.singular.assign(stations.size(), 7);
  r.report = forward(prisms.view(), stations.view(), parameters,
                     {ChannelSet::all(), {r.values.begin(), r.values.end()}, r.singular});
  return r;
}

constexpr Device cpu{Device::Kind::cpu, -1};

PrismList block() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> density(-400, 900);
  return test::mesh_block({0, 800, 0, 800, -400, 0}, {16, 16, 8},
                          [&](int, int, int) { return density(random); });
}

/// In step with the cells: above them, on their faces, edges and corners, and at their centres.
StationList aligned() {
  StationList stations;
  for (int j = 0; j <= 32; ++j)
    for (int i = 0; i <= 32; ++i) stations.add(25.0 * i, 25.0 * j, 50.0 * ((i + j) % 3) - 50);
  return stations;
}

class ForwardOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(ForwardOn);

TEST_P(ForwardOn, MarksTheSameStationsSingularUnderEveryPolicy) {
  const auto prisms = block();
  const auto stations = aligned();
  for (const auto policy :
       {SingularPolicy::nan, SingularPolicy::mean, SingularPolicy::outside, SingularPolicy::inside}) {
    Parameters parameters;
    parameters.method = Method::direct;
    parameters.singular = policy;
    const auto here = run(GetParam(), prisms, stations, parameters),
               there = run(cpu, prisms, stations, parameters);
    EXPECT_EQ(here.singular, there.singular);
    EXPECT_EQ(here.report.singular_stations, there.report.singular_stations);
    EXPECT_EQ(here.report.inside_stations, there.report.inside_stations);
    EXPECT_GT(here.report.singular_stations, 0U);
    EXPECT_LT(test::largest_error(here.values, there.values), 1e-12);
    for (std::size_t c = 0; c < 10; ++c)
      for (std::size_t n = 0; n < stations.size(); ++n)
        EXPECT_EQ(std::isnan(here.values[c][n]), std::isnan(there.values[c][n])) << c << ' ' << n;
  }
}

TEST_P(ForwardOn, AgreesWithTheProcessorsByEveryMethod) {
  const auto prisms = block();
  const auto stations = aligned();
  for (const auto method : {Method::automatic, Method::direct, Method::lattice, Method::tree}) {
    Parameters parameters;
    parameters.method = method;
    parameters.verify = 3;
    const auto here = run(GetParam(), prisms, stations, parameters),
               there = run(cpu, prisms, stations, parameters);
    EXPECT_LT(test::largest_error(here.values, there.values), 2e-12) << name(method);
    EXPECT_LT(here.report.verified_error, 1e-12) << name(method);
    EXPECT_NE(here.report.device, there.report.device);
    EXPECT_EQ(here.report.rounding_floor.size(), there.report.rounding_floor.size()) << name(method);
    for (const auto& [kind, floor] : here.report.rounding_floor) {
      EXPECT_GT(floor, 5e-16) << kind;
      EXPECT_LT(here.report.verified_error, floor + 1e-12) << kind;
    }
  }
}

TEST_P(ForwardOn, TellsTheAccuracyThatSinglePrecisionKeeps) {
  const auto prisms = block();
  StationList stations;
  for (int n = 0; n < 40; ++n) stations.add(20.0 * n, 700 - 13.0 * n, 60);
  Parameters parameters;
  parameters.precision = Precision::single_precision;
  const auto here = run(GetParam(), prisms, stations, parameters),
             there = run(cpu, prisms, stations, parameters);
  EXPECT_GE(here.report.estimated_error, single_accuracy);
  EXPECT_LT(there.report.estimated_error, single_accuracy);
  EXPECT_LT(test::largest_error(here.values, there.values), single_accuracy);
}

TEST(AutomaticDevice, LeavesSmallRunsToTheProcessors) {
  const auto prisms = block();
  const auto stations = aligned();
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  EXPECT_EQ(plan(prisms.view(), stations.view(), parameters).device, cpu);
}

TEST(AutomaticDevice, IsAGpuForLargeRunsWhereThereIsOne) {
  std::mt19937 random(2);
  const auto prisms = test::mesh_block({0, 800, 0, 800, -400, 0}, {60, 60, 60}, [](int i, int j, int k) {
    return 100.0 + (i * 7 + j * 13 + k * 29) % 101;
  });
  const auto stations = test::random_stations({0, 800, 0, 800, 5, 80}, 30000, random);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.method = Method::direct;
  const auto found = plan(prisms.view(), stations.view(), parameters).device;
  EXPECT_EQ(found.kind, gpu_count() > 0 ? Device::Kind::cuda : Device::Kind::cpu);
}

}  // namespace
}  // namespace terrane::gravity
