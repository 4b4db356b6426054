// Linearised modelling, its adjoint and images.
#include <gtest/gtest.h>

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
Problem box_with(const std::array<std::array<Boundary, 2>, 3>& sides, bool flat,
                 Rock rock = Rock::constant_density) {
  auto p = flat ? test::rough_rock(rock, {27, 1, 30}, 0.3) : test::rough_rock(rock, {26, 18, 24}, 0.16);
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

TEST(AcousticAdjoint, OfModellingInEveryRockIsModellingWithTimeReversed) {
  for (const auto rock : {Rock::variable_density, Rock::vti, Rock::tti})
    for (const auto& sides : {every_kind[1], every_kind[2], every_kind[4]}) {
      const bool flat = sides != every_kind[4];
      auto p = box_with(sides, flat, rock);
      p.shots[0].receivers.resize(1);
      Chance chance(1);
      const auto series = chance.list(p.steps()), data = chance.list(p.steps());
      const double forward = dot(Bench<double>(p).model(series), data);
      auto turned = p;
      turned.shots[0] = {p.shots[0].receivers, p.shots[0].sources};
      const auto heard = Bench<double>(turned).model({data.rbegin(), data.rend()});
      double backward = 0;
      for (std::size_t n = 0; n < p.steps(); ++n) backward += heard[p.steps() - 1 - n] * series[n];
      // A source is over the density at its place.
      backward *= p.source_factor(p.shots[0].sources[0]) / p.source_factor(p.shots[0].receivers[0]);
      EXPECT_NEAR(forward / backward, 1, 1e-12) << static_cast<int>(rock);
    }
}

TEST(AcousticAdjoint, OfBornModellingIsExactForEveryBoundaryWhereDensityVaries) {
  for (const auto& sides : {every_kind[1], every_kind[2], every_kind[4]}) {
    const bool flat = sides != every_kind[4];
    const auto p = box_with(sides, flat, Rock::variable_density);
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

void expect_derivative(Rock rock) {
  const auto p = box_with(every_kind[1], true, rock);
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

TEST(AcousticAdjoint, BornModellingIsTheDerivativeOfModelling) {
  for (const auto rock : {Rock::constant_density, Rock::variable_density}) expect_derivative(rock);
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

}  // namespace
}  // namespace terrane::acoustic
