// Acoustic waves on devices against those of the CPU.
#include <gtest/gtest.h>

#include "../support/acoustic_box.hpp"
#include "device.hpp"
#include "support/worse.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/physics/acoustic/image/random_walls.hpp"

namespace terrane::acoustic {
namespace {

using AcousticOnDevice = test::OnDevice;
TERRANE_ON_EVERY_DEVICE(AcousticOnDevice);

TEST_P(AcousticOnDevice, TracesAreThoseOfTheCpu) {
  for (const int order : {2, 8, 16})
    for (const bool flat : {false, true})
      for (const auto kind : {Boundary::cpml, Boundary::sponge}) {
        auto p = flat ? test::rough_box({50, 1, 60}, 0.12) : test::rough_box({26, 19, 41}, 0.12);
        p.order = order;
        p.sides[east] = {kind, kind};
        p.settle();
        const auto there = GetParam().kind;
        EXPECT_LT(test::apart(test::traces<float>(p, p.shots[0], there), test::traces<float>(p, p.shots[0])),
                  1e-5)
            << order;
        EXPECT_LT(
            test::apart(test::traces<double>(p, p.shots[0], there), test::traces<double>(p, p.shots[0])),
            1e-13)
            << order;
      }
}

TEST_P(AcousticOnDevice, TracesOfEveryRockAreThoseOfTheCpu) {
  for (const auto rock : {Rock::variable_density, Rock::vti, Rock::tti})
    for (const int order : {8, 12}) {
      auto p = test::rough_rock(
          rock, order == 8 ? std::array<Index, 3>{26, 19, 33} : std::array<Index, 3>{40, 1, 50}, 0.1);
      p.order = order;
      p.settle();
      const auto there = GetParam().kind;
      EXPECT_LT(test::apart(test::traces<float>(p, p.shots[0], there), test::traces<float>(p, p.shots[0])),
                2e-5)
          << order;
      EXPECT_LT(test::apart(test::traces<double>(p, p.shots[0], there), test::traces<double>(p, p.shots[0])),
                1e-13)
          << order;
    }
}

TEST_P(AcousticOnDevice, GraphsHaveTheBitsOfSteps) {
  auto p = test::rough_box({26, 19, 41}, 0.12);
  p.settle();
  Stream stream(GetParam());
  Alone alone;
  Engine<float> engine(p, stream, alone);
  const auto in_graphs = engine.model(p.shots[0], p.source_series());
  engine.use_graphs(false);
  EXPECT_EQ(in_graphs, engine.model(p.shots[0], p.source_series()));
  EXPECT_GT(test::norm(in_graphs), 0);
}

TEST_P(AcousticOnDevice, TilesHaveTheBitsOfNodesTakenOneByOne) {
  for (const int order : {4, 8, 12, 16}) {
    auto p = test::rough_box({43, 39, 77}, 0.2);
    test::all_sides(p, Boundary::wall);
    p.order = order;
    p.settle();
    Stream stream(GetParam());
    const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
    test::Chance chance(11);
    const auto random = chance.list(medium.size());
    const std::vector<float> values(random.begin(), random.end());
    const auto held = medium.box();
    const Index to_zero = strides(held).to(held.first);
    std::vector<float> results[2];
    for (int which = 0; which < 2; ++which) {
      Buffer<float> now(stream, values), next(stream, values);
      auto g = medium.arguments();
      g.now = now.view().data - to_zero;
      g.next = next.view().data - to_zero;
      const Work work(medium.inner());
      if (which == 0) begin_steps(stream, medium.kernel(), g, work);
      else begin_plain_steps(stream, medium.kernel(), g, work);
      results[which].resize(values.size());
      next.download(stream, results[which]);
    }
    if (GetParam().kind == Device::Kind::cuda) {
      EXPECT_EQ(results[0], results[1]) << order;
    }
    // The host's rows are fused where its kernels are made for that.
    double most = 0;
    for (std::size_t n = 0; n < values.size(); ++n)
      most = worse(most, std::abs(static_cast<double>(results[0][n]) - static_cast<double>(results[1][n])));
    EXPECT_LT(most, 1e-5) << order;
  }
}

/// Images and Born gathers of a device against those of the CPU.
void expect_images_of_the_cpu(Device device, Rock rock, std::initializer_list<Keeping> ways) {
  auto p = test::rough_rock(rock, {26, 18, 31}, 0.12);
  p.layers.points = 6;
  p.settle();
  test::Chance chance(4);
  const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
  auto change = chance.list(p.velocity.size());
  for (double& m : change) m *= 1e-9;
  const auto compute = [&](Device device, Keeping way) {
    Stream stream(device);
    Alone alone;
    Engine<float> engine(p, stream, alone);
    auto images = engine.adjoint(p.shots[0], p.source_series(), data, way);
    return std::pair{std::move(images), engine.born(p.shots[0], p.source_series(), change)};
  };
  const auto [here, scattered_here] = compute({Device::Kind::cpu, -1}, Keeping::store);
  for (const auto way : ways) {
    const auto [there, scattered_there] = compute(device, way);
    const double images = way == Keeping::compressed ? 5e-4 : 2e-4;  // 16 bits per node against all bits
    EXPECT_LT(test::apart(there.kernel, here.kernel), images) << to_string(way);
    EXPECT_LT(test::apart(there.correlation, here.correlation), images);
    EXPECT_LT(test::apart(there.illumination, here.illumination), images);
    EXPECT_LT(test::apart(scattered_there, scattered_here), 2e-4);
  }
}

TEST_P(AcousticOnDevice, ImagesAreThoseOfTheCpu) {
  expect_images_of_the_cpu(GetParam(), Rock::constant_density,
                           {Keeping::store, Keeping::checkpoints, Keeping::boundary, Keeping::compressed});
}

TEST_P(AcousticOnDevice, ImagesOfEveryRockAreThoseOfTheCpu) {
  for (const auto rock : {Rock::variable_density, Rock::vti, Rock::tti})
    expect_images_of_the_cpu(GetParam(), rock, {Keeping::store});
}

TEST_P(AcousticOnDevice, StepsBetweenRandomWallsRunBackBitByBit) {
  auto p = test::rough_box({20, 18, 22}, 0.3);
  p.settle();
  const auto walled = with_random_walls(p, 42);
  Stream stream(GetParam());
  Alone alone;
  const Medium<float> medium(walled, stream, cut_grid(walled, 1), 0);
  Wave<float> wave(stream, medium, alone);
  wave.round_to(1.5F * 8192.0F);  // grains of 2⁻¹⁰
  Sources<float> sources(stream, medium, p.shots[0].sources, 3.0);
  sources.send(stream, p.steps(), p.source_series());
  Clock clock(stream, 0);
  for (std::size_t n = 0; n + 1 < p.steps(); ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, 1);
  }
  wave.turn();
  clock.tick(stream, -1);
  for (std::size_t n = 0; n + 1 < p.steps(); ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, -1);
  }
  for (const float value : wave.state(stream)) ASSERT_EQ(value, 0);
}

}  // namespace
}  // namespace terrane::acoustic
