// Linearised modelling, its adjoint and images.
#include <gtest/gtest.h>

#include "support/acoustic_box.hpp"
#include "terrane/physics/acoustic/filters.hpp"
#include "terrane/physics/acoustic/image/random_walls.hpp"
#include "terrane/physics/acoustic/inverse_scattering.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"

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
                 Equation equation = Equation::constant_density) {
  auto p =
      flat ? test::rough_rock(equation, {27, 1, 30}, 0.3) : test::rough_rock(equation, {26, 18, 24}, 0.16);
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
  Images back(const std::vector<double>& data, Keeping way = Keeping::store, Index lags = 0) {
    return engine.adjoint(p.shots[0], p.source_series(), data, way, nullptr, lags);
  }
  /// The wave of these sources on the mesh, step by step.
  std::vector<std::vector<T>> fields_of(std::span<const Place> from, double scale,
                                        const std::vector<double>& series) {
    const Medium<T> medium(p, stream, cut_grid(p, 1), 0);
    Wave<T> wave(stream, medium, alone);
    Sources<T> sources(stream, medium, from, scale);
    sources.send(stream, p.steps(), series);
    Clock clock(stream, 0);
    std::vector<std::vector<T>> fields(p.steps());
    for (auto& field : fields) {
      for (Index k = 0; k < p.grid.nodes[up]; ++k)
        for (Index j = 0; j < p.grid.nodes[north]; ++j)
          for (Index i = 0; i < p.grid.nodes[east]; ++i) field.push_back(wave.now()(k, j, i));
      wave.step(stream, &sources, clock);
      clock.tick(stream, 1);
    }
    return fields;
  }
  std::vector<std::vector<T>> fields_of_source() {
    return fields_of(p.shots[0].sources, 1 / p.grid.volume(), p.source_series());
  }
  /// Of receivers that send their data from the last to the first.
  std::vector<std::vector<T>> fields_of_receivers(const std::vector<double>& data) {
    std::vector<double> reversed;
    const std::size_t places = p.shots[0].receivers.size();
    for (std::size_t n = p.steps(); n-- > 0;)
      for (std::size_t r = 0; r < places; ++r) reversed.push_back(data[n * places + r]);
    return fields_of(p.shots[0].receivers, 1, reversed);
  }
};

/// In three dimensions two boxes that have all kinds of sides between them.
bool is_tested(const std::array<std::array<Boundary, 2>, 3>& sides, bool flat) {
  return flat || sides == every_kind[1] || sides == every_kind[4];
}

TEST(AcousticAdjoint, OfModellingIsModellingWithTimeReversed) {
  for (const bool flat : {false, true})
    for (const auto& sides : every_kind) {
      if (!is_tested(sides, flat)) continue;
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
        const auto recorded = Bench<double>(turned).model(reversed);
        for (std::size_t n = 0; n < steps; ++n) backward += recorded[steps - 1 - n] * series[n];
      }
      EXPECT_NEAR(forward / backward, 1, 1e-12);
    }
}

TEST(AcousticAdjoint, OfModellingInEveryRockIsModellingWithTimeReversed) {
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti})
    for (const auto& sides : {every_kind[1], every_kind[2], every_kind[4]}) {
      const bool flat = sides != every_kind[4];
      auto p = box_with(sides, flat, equation);
      p.shots[0].receivers.resize(1);
      Chance chance(1);
      const auto series = chance.list(p.steps()), data = chance.list(p.steps());
      const double forward = dot(Bench<double>(p).model(series), data);
      auto turned = p;
      turned.shots[0] = {p.shots[0].receivers, p.shots[0].sources};
      const auto recorded = Bench<double>(turned).model({data.rbegin(), data.rend()});
      double backward = 0;
      for (std::size_t n = 0; n < p.steps(); ++n) backward += recorded[p.steps() - 1 - n] * series[n];
      // A source is over the density at its place.
      backward *= p.source_factor(p.shots[0].sources[0]) / p.source_factor(p.shots[0].receivers[0]);
      EXPECT_NEAR(forward / backward, 1, 1e-12) << static_cast<int>(equation);
    }
}

TEST(AcousticAdjoint, OfBornModellingIsExactForEveryBoundaryInEveryRock) {
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti})
    for (const auto& sides : {every_kind[1], every_kind[2], every_kind[4]}) {
      const bool flat = sides != every_kind[4];
      const auto p = box_with(sides, flat, equation);
      Chance chance(2);
      auto change = chance.list(p.velocity.size());
      for (double& m : change) m *= 1e-9;
      const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
      Bench<double> bench(p);
      const double forward = dot(bench.born(change), data);
      for (const auto way : {Keeping::store, Keeping::checkpoints})
        EXPECT_NEAR(dot(change, bench.back(data, way).kernel) / forward, 1, 1e-12)
            << to_string(way) << static_cast<int>(equation);
      EXPECT_NEAR(dot(change, bench.back(data, Keeping::boundary).kernel) / forward, 1, 1e-8)
          << static_cast<int>(equation);
    }
}

TEST(AcousticAdjoint, OfBornModellingIsExactBetweenSurfacesAFewCellsApart) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    auto p = test::rough_rock(equation, {16, 2, 18}, 0.1);
    all_sides(p, surface);
    p.shots = {{{{83.1, 3.3, 112.7}}, {{131.9, 11.3, 61.3}, {40, 5, 120}}}};
    p.settle();
    Chance chance(2);
    auto change = chance.list(p.velocity.size());
    for (double& m : change) m *= 1e-9;
    const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
    Bench<double> bench(p);
    const auto scattered = bench.born(change);
    const double forward = dot(scattered, data), size = norm(scattered) * norm(data);
    for (const auto way : {Keeping::store, Keeping::checkpoints})
      EXPECT_NEAR(dot(change, bench.back(data, way).kernel), forward, 1e-13 * size)
          << to_string(way) << static_cast<int>(equation);
    EXPECT_NEAR(dot(change, bench.back(data, Keeping::boundary).kernel), forward, 1e-9 * size)
        << static_cast<int>(equation);
  }
}

TEST(AcousticAdjoint, OfBornModellingIsExactForEveryBoundary) {
  for (const bool flat : {false, true})
    for (const auto& sides : every_kind) {
      if (!is_tested(sides, flat)) continue;
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

void expect_derivative(Equation equation) {
  const auto p = box_with(every_kind[1], true, equation);
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
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    expect_derivative(equation);
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
  // Sixteen bits: at most 1.6e-5 of the largest of 32 nodes, so that errors are of its size.
  const auto squeezed = bench.back(data, Keeping::compressed);
  EXPECT_LT(apart(squeezed.correlation, stored.correlation), 5e-5);
  EXPECT_LT(apart(squeezed.illumination, stored.illumination), 5e-5);
  EXPECT_NE(squeezed.correlation, stored.correlation);
  const auto narrow = bench.back(data, Keeping::boundary_compressed);
  EXPECT_LT(apart(narrow.correlation, stored.correlation), 1e-5);
  EXPECT_LT(apart(narrow.kernel, stored.kernel), 2e-4);  // 9e-5: the data are noise
  EXPECT_NE(narrow.correlation, back.correlation);
  EXPECT_LT(cost_of<float>(Keeping::boundary_compressed, p).device_bytes,
            0.75 * cost_of<float>(Keeping::boundary, p).device_bytes);
  EXPECT_LT(cost_of<float>(Keeping::compressed, p).device_bytes,
            0.6 * cost_of<float>(Keeping::store, p).device_bytes);
}

/// The largest difference of two images, over the largest value.
double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    most = std::max(most, std::abs(a[n] - b[n]));
    largest = std::max(largest, std::abs(b[n]));
  }
  return most / largest;
}

/// Waves of a wavelet, and what receivers recorded of them, back through the mesh.
template <class T>
void expect_the_stored_images(const Problem& p, std::initializer_list<Keeping> ways, double bound) {
  Bench<T> bench(p);
  const auto data = bench.model(p.source_series());
  const auto stored = bench.back(data, Keeping::store, 2);
  for (const auto way : ways) {
    const auto images = bench.back(data, way, 2);
    const double limit = way == Keeping::checkpoints ? 0 : bound;
    for (const auto image :
         {&Images::kernel, &Images::correlation, &Images::illumination, &Images::at_lags}) {
      EXPECT_LE(farthest(images.*image, stored.*image), limit)
          << to_string(way) << " " << static_cast<int>(p.equation);
      EXPECT_GT(norm(stored.*image), 0);
    }
  }
}

/// A source and a receiver so near the sides that what samples them lies in part beyond.
Problem with_places_at_the_sides(Problem p) {
  const auto& n = p.grid.nodes;
  const double y = p.grid.there(north) ? 3.3 : 0;
  p.shots[0].sources.push_back({4.1, y, 6.2});
  p.shots[0].receivers.push_back({10 * static_cast<double>(n[2] - 1) - 3.1, y, 5.2});
  return p;
}

/// Bounds: a hundred times what was measured in double precision (1e-16 to 2e-14), five times in single.
void expect_the_stored_images_of(Equation equation) {
  for (const auto& sides : every_kind) {
    const bool flat = sides != every_kind[4];
    auto p = box_with(sides, flat, equation);
    if (!flat) p.end /= 2;
    p = with_places_at_the_sides(p);
    p.settle();
    expect_the_stored_images<double>(p, {Keeping::checkpoints, Keeping::boundary}, 2e-12);
    if (sides != every_kind[1]) continue;
    expect_the_stored_images<float>(p, {Keeping::checkpoints, Keeping::boundary}, 2.5e-5);
    expect_the_stored_images<float>(p, {Keeping::compressed, Keeping::boundary_compressed}, 1e-4);
  }
}

TEST(AcousticAdjoint, EveryWayBackMakesTheStoredImagesInIsotropicRock) {
  expect_the_stored_images_of(Equation::constant_density);
  expect_the_stored_images_of(Equation::variable_density);
}

TEST(AcousticAdjoint, EveryWayBackMakesTheStoredImagesAroundAVerticalAxis) {
  expect_the_stored_images_of(Equation::vti);
}

TEST(AcousticAdjoint, EveryWayBackMakesTheStoredImagesAroundATiltedAxis) {
  expect_the_stored_images_of(Equation::tti);
}

TEST(AcousticAdjoint, ABoundaryKeepsLessAroundAVerticalAxisThanAroundATiltedOne) {
  auto p = box_with(every_kind[0], false, Equation::vti);
  const auto records = [](const Problem& of) {
    return cost_of<float>(Keeping::boundary, of).device_bytes -
           4.0 * of.fields() * static_cast<double>(of.grid.box().count());
  };
  // M nodes of p or of q on each side; of both 2M, and M × M along the edges.
  const double m = static_cast<double>(p.points()), sides = 2 * (26 * 18 + 18 * 24 + 26 * 24),
               edges = 4 * (26 + 18 + 24), steps = 4 * static_cast<double>(p.steps());
  EXPECT_EQ(records(p), steps * m * sides);
  p = box_with(every_kind[0], false, Equation::tti);
  EXPECT_EQ(records(p), 4 * static_cast<double>(p.steps()) * (2 * 2 * m * sides + 2 * m * m * edges));
}

TEST(AcousticAdjoint, PassesOverMemoryMakeTheImagesOfSingleSteps) {
  for (const auto equation : {Equation::constant_density, Equation::variable_density})
    for (const auto& sides : {every_kind[1], every_kind[4]}) {
      auto p = test::rough_rock(equation, {26, 22, 24}, 0.07);
      p.sides = sides;
      p.layers.points = 6;
      p.settle();
      p.end += p.step * static_cast<double>(4 - p.steps() % 4);
      p.settle();
      ASSERT_EQ(p.steps() % 4, 0);  // of one step less the last pass is shorter
      const auto data = Chance(4).list(p.steps() * p.shots[0].receivers.size());
      Bench<float> bench(p);
      for (const auto way : {Keeping::store, Keeping::checkpoints, Keeping::boundary, Keeping::compressed,
                             Keeping::boundary_compressed}) {
        const Index lags = way == Keeping::store || way == Keeping::boundary ? 2 : 0;
        bench.engine.use_passes({});
        const auto single = bench.back(data, way, lags);
        EXPECT_GT(norm(single.kernel), 0);
        Passes passes{4, 5, {}, {}};
        for (const std::size_t a : {0, 1}) passes.lag[a] = 2 * p.points();
        bench.engine.use_passes(passes);
        const auto several = bench.back(data, way, lags);
        EXPECT_EQ(single.kernel, several.kernel) << to_string(way);
        EXPECT_EQ(single.correlation, several.correlation) << to_string(way);
        EXPECT_EQ(single.illumination, several.illumination) << to_string(way);
        EXPECT_EQ(single.at_lags, several.at_lags) << to_string(way);
      }
    }
}

TEST(AcousticAdjoint, PassesOverMemoryMakeTheScatteredWavesOfSingleSteps) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const auto& sides : {every_kind[1], every_kind[4]}) {
      if (equation == Equation::tti && sides == every_kind[4]) continue;  // free surfaces on two axes
      auto p = test::rough_rock(equation, {26, 22, 24}, 0.07);
      p.sides = sides;
      p.layers.points = 6;
      p.record = {Component::velocity_up, Component::pressure};
      p.settle();
      const auto change = Chance(5).list(p.velocity.size());
      Bench<float> bench(p);
      const auto single = bench.born(change);
      EXPECT_GT(norm(single), 0);
      Passes passes{p.steps() % 4 != 0 ? 4 : 5, 5, {}, {}};
      ASSERT_NE(static_cast<Index>(p.steps()) % passes.steps, 0);  // the last pass is shorter
      for (const std::size_t a : {0, 1}) passes.lag[a] = 2 * p.points();
      bench.engine.use_passes(passes);
      EXPECT_EQ(single, bench.born(change)) << static_cast<int>(equation);
      EXPECT_EQ(single, bench.born(change)) << "another shot, from rest";
    }
}

/// Forwards and backwards between walls, until nothing moves again.
template <class T>
void expect_the_way_back_to_silence(const Problem& p) {
  const auto walled = with_random_walls(p, 42);
  Stream stream({Device::Kind::cpu, -1});
  Alone alone;
  const Medium<T> medium(walled, stream, cut_grid(walled, 1), 0);
  Wave<T> wave(stream, medium, alone);
  wave.round_to(sizeof(T) == 4 ? T(1.5 * 8192) : T(std::ldexp(1.5, 42)));  // grains of 2⁻¹⁰
  Sources<T> sources(stream, medium, p.shots[0].sources, 3.0 * p.source_factor(p.shots[0].sources[0]));
  sources.send(stream, p.steps(), p.source_series());
  Clock clock(stream, 0);
  const auto steps = static_cast<int>(p.steps());
  double most = 0;
  for (int n = 0; n + 1 < steps; ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, 1);
    if (n % 10 == 0)
      for (const T value : wave.state(stream)) most = std::max(most, std::abs(static_cast<double>(value)));
  }
  EXPECT_GT(most, 1);
  EXPECT_LT(most, 1024);  // 2²⁰ grains
  wave.turn();
  clock.tick(stream, -1);
  for (int n = 0; n + 1 < steps; ++n) {
    wave.step(stream, &sources, clock);
    clock.tick(stream, -1);
  }
  for (const T value : wave.state(stream)) ASSERT_EQ(value, 0);
}

TEST(AcousticAdjoint, StepsBetweenRandomWallsRunBackBitByBit) {
  for (const bool flat : {true, false}) {
    auto p = flat ? rough_box({26, 1, 30}, 2.0) : rough_box({20, 18, 22}, 0.2);
    p.settle();
    expect_the_way_back_to_silence<float>(p);
  }
}

TEST(AcousticAdjoint, StepsBetweenRandomWallsAndOtherSidesRunBackBitByBitInEveryRock) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const auto& sides : every_kind) {
      auto p = test::rough_rock(equation, {26, 1, 30}, 0.4);
      p.sides = sides;
      p.settle();
      SCOPED_TRACE(static_cast<int>(equation));
      expect_the_way_back_to_silence<float>(p);
      expect_the_way_back_to_silence<double>(p);
      if (equation == Equation::constant_density || sides != every_kind[4]) continue;
      auto deep = test::rough_rock(equation, {12, 10, 13}, 0.06);
      deep.shots[0] = {{{63.1, 51.2, 62.7}}, {{63.1, 51.2, 62.7}}};
      deep.sides = sides;
      deep.settle();
      expect_the_way_back_to_silence<float>(deep);
    }
}

TEST(AcousticAdjoint, WallsBeyondTheMeshHaveTheMediumNodeItsSidesButForTheirVelocities) {
  auto p = test::rough_rock(Equation::tti, {9, 1, 8}, 0.02);
  p.shots[0] = {{{43, 0, 42}}, {{43, 0, 42}}};
  p.settle();
  const auto walled = with_random_walls(p, 42);
  auto shape = without_medium(p);
  const auto below = make_room_for_walls(shape);
  EXPECT_EQ(walled.sides[up][1], Boundary::free_surface);
  EXPECT_EQ(walled.sides[up][0], Boundary::wall);
  EXPECT_EQ(walled.grid.nodes[up], 9 + below[up]);
  EXPECT_GE(below[up], p.margin(up, 0));
  const auto at = [&](Index k, Index i) { return static_cast<std::size_t>(k * walled.grid.nodes[east] + i); };
  for (const auto values : {&Problem::epsilon, &Problem::delta, &Problem::tilt, &Problem::azimuth}) {
    EXPECT_EQ((walled.*values)[at(below[up] + 3, below[east] + 2)], (p.*values)[3 * 8 + 2]);
    EXPECT_EQ((walled.*values)[at(0, below[east] + 2)], (p.*values)[2]);
  }
  EXPECT_EQ(walled.velocity[at(below[up], below[east])], p.velocity[0]);
  EXPECT_LT(walled.velocity[at(0, 0)], p.velocity[0]);
}

TEST(AcousticAdjoint, RandomWallsKeepNothingAndAddLittleNoise) {
  // A reflector in even rock; shots along the line, whose walls differ.
  auto p = test::even_box({60, 1, 120}, 10, 2000);
  p.wavelet.frequency = 15;
  all_sides(p, Boundary::cpml);
  p.end = 0.8;
  Shot shot{{{600, 0, 560}}, {}};
  for (int n = 0; n < 60; ++n) shot.receivers.push_back({20.0 * n, 0, 560});
  p.shots = {shot};
  auto layered = p;
  std::fill_n(layered.velocity.begin(), 25 * 120, 2400.0);
  layered.settle();
  p.step = layered.step;
  p.settle();
  std::vector<double> stored, walled;
  for (int s = 0; s < 4; ++s) {
    p.shots[0].sources[0][0] = layered.shots[0].sources[0][0] = 300 + 200.0 * s;
    auto data = Bench<float>(layered).model(layered.source_series());
    Bench<float> bench(p);
    const auto direct = bench.model(p.source_series());
    for (std::size_t n = 0; n < data.size(); ++n) data[n] -= direct[n];
    for (auto [way, sum] : {std::pair{Keeping::store, &stored}, std::pair{Keeping::random_walls, &walled}}) {
      const auto image = laplacian_of(p.grid, bench.back(data, way).correlation, 0);
      sum->resize(image.size());
      for (std::size_t n = 0; n < image.size(); ++n) (*sum)[n] += image[n];
    }
  }
  // Below the first 150 m, where shots shine. Measured: see the theory page.
  for (auto* image : {&stored, &walled}) image->resize(45 * 120);
  const double noise = apart(walled, stored);

  EXPECT_LT(noise, 0.09);  // 0.045
  EXPECT_GT(noise, 1e-3);
}

TEST(AcousticAdjoint, TheInverseScatteringImageIsThatOfBothWavesStepByStep) {
  // Σ (m a q + ∇p·∇q), summed over both waves; half the Laplacian of the image where density is constant.
  for (const auto equation : {Equation::constant_density, Equation::variable_density}) {
    auto p = test::even_box({50, 1, 60}, 10, 2000);
    for (std::size_t n = 0; n < p.velocity.size(); ++n)
      p.velocity[n] = 2000 + 200 * std::sin(0.002 * static_cast<double>(n));
    p.equation = equation;
    for (std::size_t n = 0; n < p.velocity.size(); ++n)
      p.density.push_back(2000 + 800 * std::cos(0.5 * static_cast<double>(n / 60)));
    p.wavelet.frequency = 12;
    all_sides(p, Boundary::cpml);
    p.end = 0.45;
    p.shots = {{{{300, 0, 470}}, {{80, 0, 30}, {250, 0, 20}, {480, 0, 40}}}};
    p.settle();
    const auto steps = p.steps();
    Bench<double> bench(p);
    const auto data = bench.model(p.source_series());
    const auto correlation = bench.back(data).correlation;
    const auto image = inverse_scattering_of(p, correlation), twice = laplacian_of(p.grid, correlation, 0);
    const double scale = p.source_factor(p.shots[0].sources[0]) / p.grid.volume();
    const auto sent = bench.fields_of(p.shots[0].sources, scale, p.source_series()),
               back = bench.fields_of_receivers(data);
    double error = 0, of_laplacian = 0, size = 0;
    for (std::size_t k = 14; k < 36; ++k)
      for (std::size_t i = 12; i < 48; ++i) {
        const std::size_t at = k * 60 + i;
        double sum = 0;
        for (std::size_t n = 1; n + 1 < steps; ++n) {
          const auto &f = sent[n], &b = back[steps - 1 - n];
          const double bend = (sent[n + 1][at] - 2 * f[at] + sent[n - 1][at]) / (p.step * p.step);
          sum += bend * b[at] / (p.velocity[at] * p.velocity[at]);
          for (const std::size_t by : {std::size_t{1}, std::size_t{60}}) {
            const auto slope = [&](const std::vector<double>& w) {
              return (45 * (w[at + by] - w[at - by]) - 9 * (w[at + 2 * by] - w[at - 2 * by]) +
                      (w[at + 3 * by] - w[at - 3 * by])) /
                     600;
            };
            sum += slope(f) * slope(b);
          }
        }
        error += std::pow(sum - image[at], 2);
        of_laplacian += std::pow(sum - twice[at] / 2, 2);
        size += sum * sum;
      }
    ASSERT_GT(size, 0);
    EXPECT_LT(std::sqrt(error / size), 0.02) << static_cast<int>(equation);
    if (equation == Equation::constant_density) {
      EXPECT_LT(std::sqrt(of_laplacian / size), 0.05);
    } else {
      EXPECT_GT(std::sqrt(of_laplacian / size), 0.1);
    }
  }
}

TEST(AcousticAdjoint, ImagesAtLagsAreOfTheSourcesWaveToTheWestAndTheReceiversToTheEast) {
  const auto p = box_with(every_kind[1], false);
  const Index lags = 3;
  const auto nodes = p.velocity.size();
  Chance chance(6);
  const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
  Bench<double> bench(p);
  const auto images = bench.back(data, Keeping::store, lags);
  const auto sent = bench.fields_of_source(), back = bench.fields_of_receivers(data);
  ASSERT_EQ(images.at_lags.size(), (2 * lags + 1) * nodes);
  const auto width = p.grid.nodes[east];
  for (Index lag = -lags, n = 0; lag <= lags; ++lag) {
    std::vector<double> slow(nodes);
    for (std::size_t at = 0; at < nodes; ++at) {
      const Index i = static_cast<Index>(at) % width;
      if (std::min(i - lag, i + lag) < 0 || std::max(i - lag, i + lag) >= width) continue;
      for (std::size_t step = 0; step + 1 < p.steps(); ++step)
        slow[at] += sent[step][at - static_cast<std::size_t>(lag)] *
                    back[p.steps() - 1 - step][at + static_cast<std::size_t>(lag)];
    }
    const auto first = images.at_lags.begin() + n++ * static_cast<Index>(nodes);
    EXPECT_LT(apart({first, first + static_cast<Index>(nodes)}, slow), 1e-12) << lag;
  }
}

TEST(AcousticAdjoint, ImagesAtLagsHaveTheSameBitsOnAnyThreadsAndTheImageAtZero) {
  for (const auto equation : {Equation::constant_density, Equation::tti}) {
    const auto p = box_with(every_kind[1], true, equation);
    const Index lags = 2;
    const auto nodes = static_cast<Index>(p.velocity.size());
    const auto data = Chance(6).list(p.steps() * p.shots[0].receivers.size());
    std::vector<Images> of;
    for (const int threads : {1, 3}) {
      Stream stream({Device::Kind::cpu, -1}, false, threads);
      Alone alone;
      of.push_back(Engine<float>(p, stream, alone)
                       .adjoint(p.shots[0], p.source_series(), data, Keeping::checkpoints, nullptr, lags));
    }
    EXPECT_EQ(of[0].at_lags, of[1].at_lags);
    const auto middle = of[0].at_lags.begin() + lags * nodes;
    EXPECT_EQ(std::vector<double>(middle, middle + nodes), of[0].correlation);
    EXPECT_GT(norm(of[0].correlation), 0);
  }
}

/// Twelve shots over a reflector 200 m deep in rock of 2000 m/s, and their gathers without the direct wave.
struct ReflectorLine {
  Problem even;
  std::vector<std::vector<double>> gathers;

  ReflectorLine() : even(test::even_box({34, 1, 80}, 10, 2000)) {
    even.wavelet.frequency = 22;
    all_sides(even, cpml);
    even.end = 0.45;
    auto layered = even;
    std::fill_n(layered.velocity.begin(), 12 * 80, 2400.0);
    Shot shot{{}, {}};
    for (int n = 0; n < 80; ++n) shot.receivers.push_back({10.0 * n, 0, 320});
    for (int n = 0; n < 12; ++n) {
      shot.sources = {{70 + 60.0 * n, 0, 320}};
      layered.shots.push_back(shot);
    }
    even.shots = layered.shots;
    layered.settle();
    even.step = layered.step;
    even.settle();
    Bench<float> below(layered), direct(even);
    for (const auto& one : even.shots) {
      gathers.push_back(below.engine.model(one, even.source_series()));
      const auto less = direct.engine.model(one, even.source_series());
      for (std::size_t n = 0; n < less.size(); ++n) gathers.back()[n] -= less[n];
    }
  }
  /// Which share of the image's energy lies at each lag, from −10 to 10 cells, when the gathers are migrated
  /// through rock of this velocity.
  std::vector<double> energy_at_lags(double velocity) const {
    auto p = even;
    std::fill(p.velocity.begin(), p.velocity.end(), velocity);
    Bench<float> bench(p);
    constexpr Index lags = 10;
    const auto nodes = static_cast<Index>(p.velocity.size());
    std::vector<double> sum((2 * lags + 1) * p.velocity.size());
    for (std::size_t s = 0; s < p.shots.size(); ++s) {
      const auto one =
          bench.engine.adjoint(p.shots[s], p.source_series(), gathers[s], Keeping::store, nullptr, lags);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += one.at_lags[n];
    }
    // In the middle of the line, below the first 120 m.
    std::vector<double> energy;
    double all = 0;
    for (auto first = sum.begin(); first != sum.end(); first += nodes) {
      const auto image = laplacian_of(p.grid, {first, first + nodes}, 0);
      energy.push_back(0);
      for (std::size_t k = 2; k < 22; ++k)
        for (std::size_t i = 30; i < 50; ++i) energy.back() += std::pow(image[k * 80 + i], 2);
      all += energy.back();
    }
    for (double& share : energy) share /= all;
    return energy;
  }
};

TEST(AcousticAdjoint, EnergyLiesAtZeroLagWhereTheVelocityIsRightAndAwayFromItWhereItIsTooSlow) {
  const ReflectorLine line;
  const auto right = line.energy_at_lags(2000), slow = line.energy_at_lags(1800);
  EXPECT_EQ(std::max_element(right.begin(), right.end()), right.begin() + 10);
  EXPECT_GT(right[10], 0.35);  // 0.43
  EXPECT_LT(slow[10], 0.1);    // 0.05: most lies 30 m away
}

}  // namespace
}  // namespace terrane::acoustic
