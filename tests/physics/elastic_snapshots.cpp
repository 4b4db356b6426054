// Snapshots of the whole field: what they show, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "support/elastic_meshes.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/march/snapshots.hpp"
#include "terrane/physics/elastic/simulation.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane::elastic {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

/// Whether a point of an element lies on none of its faces.
bool inside(std::size_t n, std::size_t points) {
  for (int axis = 0; axis < 3; ++axis, n /= points)
    if (n % points == 0 || n % points + 1 == points) return false;
  return true;
}

TEST(ElasticSnapshots, ShowWhatReceiversRecordInRockAndInFluids) {
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    const bool velocity = kind == Device::Kind::cpu;
    auto p = test::rough_earth(Precision::double_precision, 4, true, true);
    p.remove_dispersion = false;
    p.snapshots.of = Snapshots::Of::volume;
    p.snapshots.velocity = velocity;
    p.snapshots.interval = 0.15;
    p.end = 0.35;
    p.settle();
    const auto picture = picture_of(p);
    const auto places = places_of(p, picture);
    std::vector<std::size_t> shown;  // points that a receiver finds in the same element
    std::size_t in_fluid = 0;
    p.receivers.clear();
    for (std::size_t n = 0; n < picture.size(); n += 61)
      if (inside(picture.n[n], 5)) {
        shown.push_back(n);
        p.receivers.push_back(places[n]);
        in_fluid += p.mesh.medium_of(picture.element[n]).is_fluid();
      }
    EXPECT_GT(in_fluid, 3u);
    EXPECT_GT(shown.size(), 2 * in_fluid);
    p.settle();
    Runtime runtime;
    runtime.device.kind = kind;
    const auto done = march(p, runtime);
    ASSERT_GE(p.pictures(), 2u);
    const auto pictures = done.pictures.all();
    ASSERT_EQ(pictures.size(), p.pictures() * picture.size() * 3);
    const auto quantity = velocity ? Quantity::velocity : Quantity::displacement;
    const auto traces = seismograms(p, done, quantity);
    const auto at = times(p, quantity), taken = times_of_pictures(p);
    double apart = 0, most = 0;
    for (std::size_t k = 0; k < p.pictures(); ++k) {
      const std::size_t step = (k + 1) * p.snapshots.every - 1;
      EXPECT_NEAR(taken[k], at[step], 1e-9);
      for (std::size_t r = 0; r < shown.size(); ++r)
        for (std::size_t c = 0; c < 3; ++c) {
          const double here = traces[(3 * r + c) * p.steps() + step];
          most = worse(most, std::fabs(here));
          apart = worse(apart, std::fabs(here - pictures[(k * picture.size() + shown[r]) * 3 + c]));
        }
    }
    EXPECT_GT(most, 0);
    EXPECT_LT(apart, 1e-6 * most) << to_string(runtime.device);
  }
}

TEST(ElasticSnapshots, OfTheSurfaceAreItsPointsOnceAndOfAVolumeThoseOfTheBoxAlone) {
  Problem p;
  p.mesh = test::cubes({3, 2, 2}, 100, test::granite());
  p.degree = 3;
  p.snapshots.of = Snapshots::Of::surface;
  const auto surface = picture_of(p);
  EXPECT_EQ(surface.size(), 10u * 7);
  EXPECT_EQ(surface.corners, 4u);
  EXPECT_EQ(surface.cells.size(), 4u * 9 * 6);
  const auto places = places_of(p, surface);
  for (const auto& x : places) EXPECT_NEAR(x[2], 200, 1e-9);
  double area = 0;  // of quadrilaterals whose corners go round
  for (std::size_t n = 0; n < surface.cells.size(); n += 4) {
    const auto corner = [&](std::size_t c) { return places[static_cast<std::size_t>(surface.cells[n + c])]; };
    const auto a = corner(0), b = corner(1), c = corner(2), d = corner(3);
    area += std::fabs((c[0] - a[0]) * (d[1] - b[1]) - (c[1] - a[1]) * (d[0] - b[0])) / 2;
  }
  EXPECT_NEAR(area, 300 * 200, 1e-6);
  p.snapshots.of = Snapshots::Of::volume;
  EXPECT_EQ(picture_of(p).size(), 10u * 7 * 7);
  EXPECT_EQ(picture_of(p).cells.size(), 8u * 27 * 12);
  p.snapshots.box = {0, 300, 120, 160, 0, 200};  // a slice
  EXPECT_EQ(picture_of(p).size(), 10u * 4 * 7);
  p.snapshots.box[1] = 10;
  EXPECT_THAT(message([&] { picture_of(p); }), HasSubstr("no element has its middle in the box"));
  p.snapshots = {};
  p.snapshots.of = Snapshots::Of::surface;
  for (std::uint32_t n = 0; n < 12; ++n) p.mesh.absorbing.push_back({n, 5});
  EXPECT_THAT(message([&] { picture_of(p); }), HasSubstr("no free surface"));
}

const char* const small_job = R"([mesh]
kind = "regular"
box = [0, 600, 0, 400, -400, 0]
shape = [3, 2, 2]
[[model.body]]
kind = "layer"
bottom = -400
top = 0
density = 2400
velocity_p = 3000
velocity_s = 1500
[survey]
kind = "list"
stations = [[150, 150, 0]]
[source]
at = [150, 150, -150]
force = [0, 0, 1e9]
frequency = 1
[simulation]
physics = "elastic"
end = 0.5
[output]
files = ["a.nc", "a.vtkhdf"]
[snapshots]
every = )";

TEST(ElasticSnapshots, OfAJobAreInItsFilesOverTime) {
  const TemporaryFolder folder;
  const std::string job = small_job;
  const auto simulation = Simulation::from_job(Config::parse(job + "0.2"), {});
  EXPECT_THAT(left_out("a.vtkhdf", simulation->outline()), Contains("displacement"));
  const auto result = simulation->run();
  const auto* film = result.data.find("snapshot_velocity");
  ASSERT_NE(film, nullptr);
  const auto shape = result.data.shape(*film);
  EXPECT_THAT(shape, testing::ElementsAre(result.data.dimension("snapshot")->size, 13u * 9, 3));
  EXPECT_GT(shape[0], 2u);
  const auto& values = std::get<std::vector<float>>(film->values);
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](float v) { return v != 0; }));
  write_result(folder / "a.vtkhdf", result);
  write_result(folder / "a.nc", result);
  EXPECT_THAT(message([&] { Simulation::from_job(Config::parse(job + "9"), {}); }),
              AllOf(HasSubstr("snapshots"), HasSubstr("one every 9 s")));
}

/// Of each variable its values.
std::map<std::string, Values> values_of(const Dataset& data) {
  std::map<std::string, Values> all;
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) all[v.name] = v.values;
  return all;
}

TEST(ElasticSnapshots, KeptOnDiskDuringARunAreThoseKeptInMemoryAndSoAreTheirFiles) {
  const TemporaryFolder folder;
  const auto simulation = Simulation::from_job(Config::parse(std::string(small_job) + "0.02"), {});
  const auto held = simulation->run();
  Runtime runtime;
  runtime.checkpoint.file = folder / "a.checkpoint";
  runtime.checkpoint.interval = CheckpointSettings::never;
  EXPECT_LT(simulation->check(runtime).memory_bytes, simulation->check().memory_bytes);
  {
    const auto kept = simulation->run(runtime);
    EXPECT_EQ(size(kept.data.find("snapshot_velocity")->values), 0u);
    EXPECT_EQ(values_of(to_dataset(kept)), values_of(held.data));
    for (const char* name : {"a.nc", "a.csv", "a.vtkhdf"}) {
      write_result(folder / name, kept);
      write_result(folder / (std::string("held_") + name), held);
    }
  }
  EXPECT_EQ(values_of(io::read_dataset(folder / "a.nc")), values_of(io::read_dataset(folder / "held_a.nc")));
  EXPECT_EQ(testing_support::bytes_of(folder / "a.csv"), testing_support::bytes_of(folder / "held_a.csv"));
  EXPECT_EQ(std::filesystem::file_size(folder / "a.vtkhdf"),
            std::filesystem::file_size(folder / "held_a.vtkhdf"));
  EXPECT_EQ(folder.entries(), 6u);  // nothing else is left behind
}

}  // namespace
}  // namespace terrane::elastic
