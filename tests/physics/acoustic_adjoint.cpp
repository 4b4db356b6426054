// Linearised modelling, its adjoint and images.
#include <gtest/gtest.h>

#include <numbers>

#include "support/acoustic_box.hpp"

namespace terrane::acoustic {
namespace {

using test::all_sides;
using test::apart;
using test::Chance;
using test::dot;
using test::norm;
using test::rough_box;

/// A small rough problem of three or two dimensions whose sides are these.
Problem box_with(const std::array<std::array<Boundary, 2>, 3>& sides, bool flat) {
  auto p = flat ? rough_box({27, 1, 30}, 0.3) : rough_box({26, 18, 24}, 0.22);
  p.sides = sides;
  p.settle();
  return p;
}

constexpr auto cpml = Boundary::cpml, sponge = Boundary::sponge, surface = Boundary::free_surface,
               wall = Boundary::wall;
const std::array<std::array<Boundary, 2>, 3> every_kind[] = {
    {{{cpml, cpml}, {cpml, cpml}, {cpml, cpml}}},
    {{{cpml, surface}, {cpml, cpml}, {cpml, cpml}}},
    {{{sponge, sponge}, {sponge, sponge}, {sponge, sponge}}},
    {{{wall, surface}, {wall, wall}, {wall, wall}}},
    {{{sponge, surface}, {wall, cpml}, {cpml, surface}}}};

template <class T>
struct Bench {
  explicit Bench(const Problem& problem) : p(problem), engine(p, stream, alone) {}
  const Problem& p;
  Stream stream{{Device::Kind::cpu, -1}};
  Alone alone;
  Engine<T> engine;
  std::vector<double> model(const std::vector<double>& series) { return engine.model(p.shots[0], series); }
  std::vector<double> born(const std::vector<double>& change) {
    return engine.born(p.shots[0], p.source_series(), change);
  }
  Images back(const std::vector<double>& data, Keeping way = Keeping::store) {
    return engine.adjoint(p.shots[0], p.source_series(), data, way);
  }
};

TEST(AcousticAdjoint, OfModellingIsModellingWithTimeReversed) {
  for (const bool flat : {false, true})
    for (const auto& sides : every_kind) {
      const auto p = box_with(sides, flat);
      Chance chance(1);
      const std::size_t steps = p.steps(), receivers = p.shots[0].receivers.size();
      const auto series = chance.list(steps), data = chance.list(steps * receivers);
      const double forward = dot(Bench<double>(p).model(series), data);
      // Receivers send their data backwards; where the source was, the answer is read backwards.
      auto turned = p;
      double backward = 0;
      for (std::size_t r = 0; r < receivers; ++r) {
        turned.shots[0] = {{p.shots[0].receivers[r]}, p.shots[0].sources};
        std::vector<double> reversed;
        for (std::size_t n = steps; n-- > 0;) reversed.push_back(data[n * receivers + r]);
        const auto heard = Bench<double>(turned).model(reversed);
        for (std::size_t n = 0; n < steps; ++n) backward += heard[steps - 1 - n] * series[n];
      }
      EXPECT_NEAR(forward / backward, 1, 1e-12);
    }
}

TEST(AcousticAdjoint, OfBornModellingIsExactForEveryBoundary) {
  for (const bool flat : {false, true})
    for (const auto& sides : every_kind) {
      const auto p = box_with(sides, flat);
      Chance chance(2);
      auto change = chance.list(p.velocity.size());
      for (double& m : change) m *= 1e-9;
      const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
      Bench<double> bench(p);
      const double forward = dot(bench.born(change), data);
      for (const auto way : {Keeping::store, Keeping::checkpoints})
        EXPECT_NEAR(dot(change, bench.back(data, way).kernel) / forward, 1, 1e-12) << to_string(way);
      EXPECT_NEAR(dot(change, bench.back(data, Keeping::boundary).kernel) / forward, 1, 1e-8);
    }
}

TEST(AcousticAdjoint, BornModellingIsTheDerivativeOfModelling) {
  const auto p = box_with(every_kind[1], true);
  Chance chance(3);
  auto change = chance.list(p.velocity.size());
  for (std::size_t n = 0; n < change.size(); ++n) change[n] *= 0.2 / (p.velocity[n] * p.velocity[n]);
  const auto changed = [&](double by) {
    auto other = p;
    for (std::size_t n = 0; n < change.size(); ++n)
      other.velocity[n] = 1 / std::sqrt(1 / (p.velocity[n] * p.velocity[n]) + by * change[n]);
    // Layers have the velocity of the edge, which Born modelling leaves as it is: keep the edge.
    const auto box = p.grid.box();
    for (Index k = 0, n = 0; k < box.last[0]; ++k)
      for (Index i = 0; i < box.last[2]; ++i, ++n)
        if (k == 0 || i == 0 || i + 1 == box.last[2])
          other.velocity[static_cast<std::size_t>(n)] = p.velocity[static_cast<std::size_t>(n)];
    return Bench<double>(other).model(p.source_series());
  };
  auto inner = change;
  const auto box = p.grid.box();
  for (Index k = 0, n = 0; k < box.last[0]; ++k)
    for (Index i = 0; i < box.last[2]; ++i, ++n)
      if (k == 0 || i == 0 || i + 1 == box.last[2]) inner[static_cast<std::size_t>(n)] = 0;
  Bench<double> bench(p);
  const auto here = bench.model(p.source_series()), slope = bench.born(inner);
  std::vector<double> first, second;
  for (const double by : {0.02, 0.002}) {
    auto there = changed(by);
    for (std::size_t n = 0; n < there.size(); ++n) there[n] -= here[n];
    first.push_back(norm(there));
    for (std::size_t n = 0; n < there.size(); ++n) there[n] -= by * slope[n];
    second.push_back(norm(there));
  }
  EXPECT_NEAR(std::log10(first[0] / first[1]), 1, 0.02);
  EXPECT_NEAR(std::log10(second[0] / second[1]), 2, 0.02);
}

TEST(AcousticAdjoint, CheckpointsGiveTheBitsOfAStoredField) {
  const auto p = box_with(every_kind[1], false);
  Chance chance(4);
  const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
  Bench<float> bench(p);
  const auto stored = bench.back(data), again = bench.back(data, Keeping::checkpoints),
             back = bench.back(data, Keeping::boundary);
  EXPECT_EQ(stored.kernel, again.kernel);
  EXPECT_EQ(stored.correlation, again.correlation);
  EXPECT_EQ(stored.illumination, again.illumination);
  EXPECT_LT(apart(back.correlation, stored.correlation), 2e-4);
  EXPECT_LT(apart(back.illumination, stored.illumination), 2e-4);
}

TEST(AcousticAdjoint, APointScattererSendsASphericalWave) {
  auto p = test::even_box({40, 40, 40}, 10, 2000);
  p.wavelet.frequency = 15;
  all_sides(p, Boundary::cpml);
  p.end = 0.4;
  const Place source{103, 111, 152}, point{200, 190, 180}, receiver{281, 148, 123};
  p.shots = {{{source}, {receiver}}};
  p.settle();
  std::vector<double> change(p.velocity.size(), 0.0);
  constexpr double strength = 1e-9;  // s²/m²
  change[(18 * 40 + 19) * 40 + 20] = strength;
  auto found = Bench<double>(p).born(change);
  warp(found, p.steps(), Dispersion::take_out, 0);
  const auto away = [](const Place& a, const Place& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  };
  const double r1 = away(source, point), r2 = away(point, receiver),
               f = std::numbers::pi * p.wavelet.frequency;
  std::vector<double> exact;
  for (std::size_t n = 0; n < p.steps(); ++n) {
    const double t = static_cast<double>(n) * p.step - p.wavelet.start() - (r1 + r2) / 2000,
                 a = f * t * f * t;
    const double bend = f * f * std::exp(-a) * (-6 + 24 * a - 8 * a * a);  // s''
    exact.push_back(-strength * 1000 * bend / (16 * std::numbers::pi * std::numbers::pi * r1 * r2));
  }
  EXPECT_LT(apart(found, exact), 1e-2);
}

}  // namespace
}  // namespace terrane::acoustic
