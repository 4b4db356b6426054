// Acoustic waves on devices against those of the CPU.
#include <gtest/gtest.h>

#include "../support/acoustic_box.hpp"
#include "device.hpp"
#include "support/checked_memory.hpp"
#include "support/files.hpp"
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
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti})
    for (const int order : {8, 12}) {
      auto p = test::rough_rock(
          equation, order == 8 ? std::array<Index, 3>{26, 19, 33} : std::array<Index, 3>{40, 1, 50}, 0.1);
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

TEST_P(AcousticOnDevice, VelocitiesAreThoseOfTheCpu) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    auto p = test::rough_rock(equation, {24, 18, 25}, 0.07);
    p.layers.points = 5;
    p.record = {Component::velocity_up, Component::velocity_north, Component::velocity_east};
    p.settle();
    const auto there = GetParam().kind;
    EXPECT_LT(test::apart(test::traces<float>(p, p.shots[0], there), test::traces<float>(p, p.shots[0])),
              2e-5);
    EXPECT_LT(test::apart(test::traces<double>(p, p.shots[0], there), test::traces<double>(p, p.shots[0])),
              1e-13);
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

TEST_P(AcousticOnDevice, ReceiversReadTheSameBesideAStepAndBeforeIt) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const bool flat : {false, true}) {
      auto p = test::rough_rock(
          equation, flat ? std::array<Index, 3>{26, 1, 33} : std::array<Index, 3>{16, 19, 33}, 0.04);
      p.settle();
      Stream stream(GetParam());
      Alone alone;
      const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
      const auto traces = [&](bool beside) {
        Wave<float> wave(stream, medium, alone);
        Sources<float> sources(stream, medium, p.shots[0].sources, 3.0);
        sources.send(stream, p.steps(), p.source_series());
        Receivers<float> receivers(stream, medium, p.shots[0].receivers, p.steps());
        Clock clock(stream, 0);
        for (std::size_t n = 0; n < p.steps(); ++n) {
          if (beside) wave.step_and_read(stream, sources, receivers, clock);
          else {
            receivers.read(stream, wave.zero_of_now(), clock, wave.zero_of_now_q());
            wave.step(stream, &sources, clock);
          }
          clock.tick(stream, 1);
        }
        return receivers.gather(stream, alone);
      };
      const auto before = traces(false);
      EXPECT_EQ(traces(true), before) << static_cast<int>(equation);
      EXPECT_GT(test::norm(before), 0);
    }
}

/// p, q, ψ, ζ and η with random values where steps have some.
class RandomState {
 public:
  RandomState(Stream& stream, const Medium<float>& medium) : medium_(medium) {
    test::Chance chance(11);
    for (std::size_t n = 0; n < 2 * static_cast<std::size_t>(medium.fields()); ++n)
      arrays_.push_back(filled(stream, chance, medium.box(), medium.part()));
    for (const auto& slab : medium.slabs())
      for (int n = 0; n < 3; ++n) arrays_.push_back(filled(stream, chance, slab.arrays, slab.layer));
    for (auto& field : along_) {
      field = Buffer<float>(stream.device(), medium.size());
      field.fill_zero(stream);
    }
  }
  StepArguments<float> arguments() {
    auto g = medium_.arguments();
    std::size_t next = 0;
    const auto zero = [&](const IndexBox<3>& held) {
      return arrays_[next++].view().data - strides(held).to(held.first);
    };
    g.now = zero(medium_.box());
    g.next = zero(medium_.box());
    if (medium_.fields() == 2) g.now_q = zero(medium_.box()), g.next_q = zero(medium_.box());
    for (const auto& slab : medium_.slabs()) {
      g.layers[slab.axis][slab.side].psi = zero(slab.arrays);
      g.layers[slab.axis][slab.side].zeta = zero(slab.arrays);
      g.layers[slab.axis][slab.side].eta = zero(slab.arrays);
    }
    const Index to_zero = strides(medium_.box()).to(medium_.box().first);
    g.along_p = along_[0].view().data - to_zero, g.along_q = along_[1].view().data - to_zero;
    return g;
  }
  std::vector<float> values(Stream& stream) const {
    std::vector<float> all, some;
    for (const auto& array : arrays_) {
      some.resize(array.size());
      array.download(stream, some);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  static Buffer<float> filled(Stream& stream, test::Chance& chance, const IndexBox<3>& held,
                              const IndexBox<3>& where) {
    std::vector<float> values;
    for (Index k = held.first[0]; k < held.last[0]; ++k)
      for (Index j = held.first[1]; j < held.last[1]; ++j)
        for (Index i = held.first[2]; i < held.last[2]; ++i)
          values.push_back(where.contains(k, j, i) ? static_cast<float>(chance()) : 0.0F);
    return Buffer<float>(stream, values);
  }
  const Medium<float>& medium_;
  std::vector<Buffer<float>> arrays_;
  std::array<Buffer<float>, 2> along_;  ///< G p and G q of a tilted axis
};

/// ψ, G p and G q where steps read them.
void begin_what_steps_read(Stream& stream, const Medium<float>& medium, const StepArguments<float>& g) {
  begin_psi(stream, medium.kernel(), g, medium.slabs());
  if (medium.problem().equation != Equation::tti || acoustic::by_tiles(stream.device(), medium.kernel(), g))
    return;
  const Index points = medium.kernel().points;
  begin_along(stream, medium.kernel(), g,
              medium.part().grown(0, points, points).grown(1, points, points).grown(2, points, points));
}

/// by_tiles: whether a GPU shall take the steps by tiles. rounding: c of steps that run backwards. on_mesh:
/// steps of the mesh's nodes alone, as the way back from saved boundaries takes them
void expect_steps_of_plain_nodes(Device device, const Problem& p, bool by_tiles = true, float rounding = 0,
                                 bool on_mesh = false) {
  Stream stream(device);
  const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
  auto regions = medium.inner();
  if (on_mesh) regions = {{medium.mesh(), {-1, -1, -1}, false}};
  const Work work(regions);
  RandomState fast(stream, medium), plain(stream, medium);
  auto of_fast = fast.arguments(), of_plain = plain.arguments();
  of_fast.rounding = of_plain.rounding = rounding;
  EXPECT_EQ(acoustic::by_tiles(device, medium.kernel(), of_fast),
            by_tiles && device.kind == Device::Kind::cuda);
  if (!on_mesh) {
    begin_what_steps_read(stream, medium, of_fast);
    begin_plain_psi(stream, medium.kernel(), of_plain, medium.slabs());
  }
  const bool tilted = p.equation == Equation::tti;
  if (tilted) {
    const Index points = medium.kernel().points;
    const auto box = medium.part().grown(0, points, points).grown(1, points, points).grown(2, points, points);
    begin_plain_along(stream, medium.kernel(), of_plain, box);
  }
  begin_steps(stream, medium.kernel(), of_fast, work);
  begin_plain_steps(stream, medium.kernel(), of_plain, work);
  const auto found = fast.values(stream), expected = plain.values(stream);
  ASSERT_EQ(found.size(), expected.size());
  if (device.kind == Device::Kind::cuda && !(tilted && by_tiles)) {
    EXPECT_EQ(found, expected);
  }
  // The host's rows are fused where its kernels are made for that, and tiles of a tilted axis have sums in
  // another order; so sums are rounded to another grain.
  double most = 0, largest = 1;
  for (std::size_t n = 0; n < found.size(); ++n) {
    most = worse(most, std::abs(static_cast<double>(found[n]) - static_cast<double>(expected[n])));
    largest = std::max(largest, std::abs(static_cast<double>(expected[n])));
  }
  EXPECT_LT(most, rounding > 0 ? 0x1p-10 : 1e-5 * largest);
}

TEST_P(AcousticOnDevice, TilesHaveTheBitsOfNodesTakenOneByOne) {
  for (const auto equation : {Equation::constant_density, Equation::vti})
    for (const int order : {4, 8, 12, 16})
      for (const auto kind : {Boundary::wall, Boundary::cpml, Boundary::sponge}) {
        auto p = test::rough_rock(equation, {test::checked_memory ? 9 : 33, 29, 61}, 0.1);
        test::all_sides(p, kind);
        p.order = order;
        p.shots = {{{{83.1, 71.3, 42.7}}, {{131.9, 71.3, 61.3}}}};
        p.settle();
        SCOPED_TRACE(std::to_string(order) + ", rock " + std::to_string(static_cast<int>(equation)) +
                     ", sides " + std::to_string(static_cast<int>(kind)));
        expect_steps_of_plain_nodes(GetParam(), p);
      }
}

TEST_P(AcousticOnDevice, TilesOfVariableDensityHaveTheBitsOfNodesTakenOneByOne) {
  // In layers, beside a free surface, and beside a sponge, where tiles leave nodes in layers to plain
  // kernels.
  for (const Index east : {33, 70})
    for (const auto kind : {Boundary::wall, Boundary::cpml})
      for (const auto above : {Boundary::free_surface, Boundary::sponge}) {
        auto p = test::rough_rock(Equation::variable_density, {15, 19, east}, 0.1);
        test::all_sides(p, kind);
        p.sides[0][1] = above;
        p.settle();
        SCOPED_TRACE(std::to_string(east) + ", sides " + std::to_string(static_cast<int>(kind)) + ", above " +
                     std::to_string(static_cast<int>(above)));
        expect_steps_of_plain_nodes(GetParam(), p);
      }
}

TEST_P(AcousticOnDevice, TilesOfVariableDensityHaveTheBitsOfNodesTakenOneByOneWhereverALayerEnds) {
  // Layers along easting in one tile, cut by its edge, and too close for tiles; along northing in the first
  // tile and the last, too close, thicker than what tiles bring of them; several blocks of planes.
  for (const auto& nodes : std::vector<std::array<Index, 3>>{{15, 23, 7},
                                                             {15, 23, 41},
                                                             {15, 23, 103},
                                                             {15, 5, 61},
                                                             {15, 21, 61},
                                                             {15, 70, 61},
                                                             {131, 23, 40}}) {
    if (nodes[0] > 100 && GetParam().kind != Device::Kind::cuda) continue;  // takes a CPU long
    auto p = test::rough_rock(Equation::variable_density, nodes, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.layers.points = nodes[1] == 70 ? 20 : 10;
    p.shots = {{{{33, 5, 62.7}}, {{25, 5, 60}}}};
    p.settle();
    SCOPED_TRACE(std::to_string(nodes[0]) + ", " + std::to_string(nodes[1]) + ", " +
                 std::to_string(nodes[2]));
    expect_steps_of_plain_nodes(GetParam(), p);
  }
}

TEST_P(AcousticOnDevice, TilesOfATiltedAxisAgreeWithNodesTakenOneByOne) {
  // Parts of a tile; for GPUs alone, for it takes a CPU long, whole ones and several blocks of planes.
  std::vector<std::array<Index, 3>> sizes{{9, 21, 37}};
  if (GetParam().kind == Device::Kind::cuda) sizes.push_back({71, 33, 64});
  for (const auto& nodes : sizes)
    for (const auto kind : {Boundary::wall, Boundary::cpml, Boundary::sponge}) {
      auto p = test::rough_rock(Equation::tti, nodes, 0.1);
      test::all_sides(p, kind);
      if (nodes[0] == 9) p.sides[0][1] = Boundary::free_surface;
      else if (kind == Boundary::cpml) p.sides[0][1] = Boundary::sponge;
      p.shots = {{{{83.1, 71.3, 42.7}}, {{131.9, 71.3, 61.3}}}};
      p.settle();
      SCOPED_TRACE(std::to_string(nodes[0]) + ", sides " + std::to_string(static_cast<int>(kind)));
      expect_steps_of_plain_nodes(GetParam(), p);
    }
}

TEST_P(AcousticOnDevice, StepsHaveTheSameBitsHoweverRanksCutTheBox) {
  struct Case {
    Equation equation;
    Index north;
    Boundary top;
  };
  // The last: layers of variable density within tiles, which a sponge or a narrower box would not have.
  for (const auto& [equation, north_nodes, top] :
       {Case{Equation::constant_density, 21, Boundary::sponge},
        Case{Equation::variable_density, 21, Boundary::sponge}, Case{Equation::vti, 21, Boundary::sponge},
        Case{Equation::tti, 21, Boundary::sponge}, Case{Equation::variable_density, 41, Boundary::cpml}}) {
    auto p = test::rough_rock(equation, {9, north_nodes, 37}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.sides[0][1] = top;
    p.shots = {{{{83.1, 71.3, 42.7}}, {{131.9, 71.3, 61.3}}}};
    p.settle();
    Stream stream(GetParam());
    const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
    RandomState whole(stream, medium), cut(stream, medium);
    const auto of_whole = whole.arguments(), of_cut = cut.arguments();
    const Work work(medium.inner());
    begin_what_steps_read(stream, medium, of_whole);
    begin_steps(stream, medium.kernel(), of_whole, work);
    begin_what_steps_read(stream, medium, of_cut);
    const auto part = medium.part();
    const Index up = part.first[0] + 7, north = part.first[1] + 19;  // within blocks of planes, and tiles
    for (const auto& [k0, k1] : {std::pair{part.first[0], up}, {up, part.last[0]}})
      for (const auto& [j0, j1] : {std::pair{part.first[1], north}, {north, part.last[1]}}) {
        auto regions = medium.inner();
        for (auto& region : regions) {
          auto& [first, last] = region.box;
          first[0] = std::max(first[0], k0), last[0] = std::min(last[0], k1);
          first[1] = std::max(first[1], j0), last[1] = std::min(last[1], j1);
        }
        std::erase_if(regions, [](const Region& region) { return region.box.empty(); });
        const Work of_part(regions);
        begin_steps(stream, medium.kernel(), of_cut, of_part);
        stream.wait();
      }
    const auto found = cut.values(stream), expected = whole.values(stream);
    EXPECT_TRUE(found == expected) << static_cast<int>(equation);
    EXPECT_FALSE(found == RandomState(stream, medium).values(stream));
  }
}

TEST_P(AcousticOnDevice, WavesTakeTheMemoryThatIsForeseen) {
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    auto p = test::rough_rock(equation, {40, 36, 44});
    p.settle();
    Stream stream(GetParam());
    Alone alone;
    const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
    Wave<float> wave(stream, medium, alone);
    const bool along = keeps_along<float>(GetParam(), p);
    // Tiles of a GPU make the derivatives along the axis themselves.
    EXPECT_TRUE(along == (equation == Equation::tti) || GetParam().kind == Device::Kind::cuda);
    const double foreseen = Medium<float>::bytes_of_wave(p, along);
    EXPECT_LE(wave.bytes(), foreseen);
    EXPECT_GT(wave.bytes(), 0.8 * foreseen);
    wave.derived(stream);  // images read them
    EXPECT_LE(wave.bytes(), Medium<float>::bytes_of_wave(p, true));
    if (equation == Equation::tti) {
      EXPECT_GT(wave.bytes(), 0.8 * Medium<float>::bytes_of_wave(p, true));
    }
  }
}

TEST_P(AcousticOnDevice, TilesHaveTheBitsOfNodesTakenOneByOneWhereverALayerEnds) {
  // Layers along easting in one tile or cut by its edge; too close for tiles; sponges beside layers.
  for (const Index east : {7, 18, 41, 57, 100, 103, 130}) {
    auto p = test::rough_box({20, 23, east}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.shots = {{{{33, 71.3, 112.7}}, {{25, 50, 120}}}};
    p.settle();
    SCOPED_TRACE(east);
    expect_steps_of_plain_nodes(GetParam(), p, east != 7);
  }
  // Thick ones along easting, from nodes that begin no four.
  for (const Index points : {13, 21}) {
    auto p = test::rough_box({7, 9, 130 - points}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.layers.points = static_cast<int>(points);
    p.shots = {{{{33, 35, 42.7}}, {{25, 50, 40}}}};
    p.settle();
    SCOPED_TRACE(points);
    expect_steps_of_plain_nodes(GetParam(), p);
  }
  // Layers along northing that end in the last tile or before it; thicker ones than a tile; on one side.
  for (const Index north : {2, 4, 5, 17, 20, 21, 33}) {
    auto p = test::rough_box({20, north, 41}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.layers.points = north == 17 ? 14 : 10;
    if (north == 33) p.sides[1][0] = Boundary::wall;
    p.shots = {{{{33, 5, 112.7}}, {{25, 5, 120}}}};
    p.settle();
    SCOPED_TRACE(north);
    expect_steps_of_plain_nodes(GetParam(), p);
  }
  // So many tiles that they make ψ of the layers up, too: for GPUs alone, it takes a CPU long.
  if (GetParam().kind == Device::Kind::cuda) {
    auto p = test::rough_box({5, 484, 501}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.shots = {{{{33, 71.3, 12.7}}, {{25, 50, 20}}}};
    p.settle();
    expect_steps_of_plain_nodes(GetParam(), p);
  }
  for (int axis = 0; axis < 3; ++axis) {
    auto p = test::rough_box({20, 23, 41}, 0.1);
    test::all_sides(p, Boundary::cpml);
    p.sides[static_cast<std::size_t>(axis)] = {Boundary::sponge, Boundary::free_surface};
    p.settle();
    SCOPED_TRACE(axis);
    expect_steps_of_plain_nodes(GetParam(), p);
  }
}

TEST_P(AcousticOnDevice, TilesHaveTheBitsOfNodesTakenOneByOneOnTheWayBack) {
  for (const auto equation : {Equation::constant_density, Equation::variable_density, Equation::vti}) {
    auto p = test::rough_rock(equation, {20, 23, 41}, 0.1);
    test::all_sides(p, Boundary::cpml);  // with saved boundaries: the mesh alone
    for (const int order : {4, 8}) {
      p.order = order;
      p.settle();
      expect_steps_of_plain_nodes(GetParam(), p, true, 0, true);
    }
    test::all_sides(p, Boundary::wall);  // with random walls: rounded steps
    p.settle();
    expect_steps_of_plain_nodes(GetParam(), p, true, 1.5F * 8192.0F);
  }
}

/// Images and Born gathers of a device against those of the CPU.
void expect_images_of_the_cpu(Device device, Equation equation, std::initializer_list<Keeping> ways) {
  auto p = test::rough_rock(equation, {26, 18, 31}, 0.09);
  p.layers.points = 6;
  p.settle();
  test::Chance chance(4);
  const auto data = chance.list(p.steps() * p.shots[0].receivers.size());
  auto change = chance.list(p.velocity.size());
  for (double& m : change) m *= 1e-9;
  const Index lags = equation == Equation::constant_density || equation == Equation::tti ? 1 : 0;
  const auto compute = [&](Device where, Keeping way) {
    Stream stream(where);
    Alone alone;
    Engine<float> engine(p, stream, alone);
    auto images = engine.adjoint(p.shots[0], p.source_series(), data, way, nullptr, lags);
    return std::pair{std::move(images), engine.born(p.shots[0], p.source_series(), change)};
  };
  const auto [here, scattered_here] = compute({Device::Kind::cpu, -1}, Keeping::store);
  for (const auto way : ways) {
    const auto [there, scattered_there] = compute(device, way);
    const double images = way == Keeping::compressed ? 5e-4 : 2e-4;  // 16 bits per node against all bits
    EXPECT_LT(test::apart(there.kernel, here.kernel), images) << to_string(way);
    EXPECT_LT(test::apart(there.correlation, here.correlation), images);
    EXPECT_LT(test::apart(there.illumination, here.illumination), images);
    if (lags > 0) {
      EXPECT_LT(test::apart(there.at_lags, here.at_lags), images);
    }
    EXPECT_LT(test::apart(scattered_there, scattered_here), 2e-4);
  }
}

/// A pattern that tells records and places in them apart.
std::vector<std::byte> record(Index n, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(37 * n + 11 * static_cast<Index>(i));
  return made;
}

TEST_P(AcousticOnDevice, RecordsComeBackFromMemoryHostAndDisk) {
  const terrane::testing_support::TemporaryFolder folder;
  constexpr std::size_t bytes = 5000;
  Stream stream(GetParam());
  for (const auto place : {KeptIn::memory, KeptIn::host, KeptIn::disk})
    for (const Index count : {2, 7, 8, 9, 61}) {
      const auto records = make_records(stream, {place, bytes, count, folder / ""});
      for (int shot = 0; shot < 2; ++shot) {  // the same records serve the next shot
        for (Index n = 0; n < count; ++n) {
          Buffer<std::byte> made(stream, record(n + shot, bytes));
          std::byte* const room = records->room(stream, n);
          detail::copy(stream, GetParam(), made.view().data, GetParam(), room, bytes);
          records->put(stream, n);
          stream.wait();
        }
        for (Index n = count; n-- > 0;) {
          const std::byte* const from = records->get(stream, n);
          std::vector<std::byte> here(bytes);
          detail::download(stream, from, here.data(), bytes);
          ASSERT_EQ(here, record(n + shot, bytes)) << to_string(place) << " " << n << " of " << count;
        }
      }
    }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST_P(AcousticOnDevice, ImagesHaveTheSameBitsWhereverTheWavesLie) {
  const terrane::testing_support::TemporaryFolder folder;
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti}) {
    auto p = test::rough_rock(equation, {26, 1, 30}, 0.05);
    p.settle();
    Stream stream(GetParam());
    Alone alone;
    Engine<float> engine(p, stream, alone);
    const auto data = test::Chance(5).list(p.steps() * p.shots[0].receivers.size());
    for (const auto way :
         {Keeping::store, Keeping::compressed, Keeping::boundary, Keeping::boundary_compressed}) {
      Images images[3];
      for (const auto place : {KeptIn::memory, KeptIn::host, KeptIn::disk}) {
        engine.keep_in(place, folder / "");
        for (int shot = 0; shot < (way == Keeping::store ? 2 : 1); ++shot)
          images[static_cast<int>(place) - 1] = engine.adjoint(p.shots[0], p.source_series(), data, way);
      }
      EXPECT_GT(test::norm(images[0].kernel), 0);
      for (const auto& other : {images[1], images[2]}) {
        EXPECT_EQ(images[0].kernel, other.kernel) << to_string(way);
        EXPECT_EQ(images[0].correlation, other.correlation) << to_string(way);
      }
    }
  }
}

TEST_P(AcousticOnDevice, ImagesAreThoseOfTheCpu) {
  expect_images_of_the_cpu(GetParam(), Equation::constant_density,
                           {Keeping::store, Keeping::checkpoints, Keeping::boundary, Keeping::compressed});
}

TEST_P(AcousticOnDevice, ImagesOfEveryRockAreThoseOfTheCpu) {
  for (const auto equation : {Equation::variable_density, Equation::vti, Equation::tti})
    expect_images_of_the_cpu(GetParam(), equation, {Keeping::store, Keeping::boundary});
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
