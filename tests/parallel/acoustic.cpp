#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "../support/acoustic_box.hpp"
#include "../support/files.hpp"
#include "ranks.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/physics/acoustic/host_memory.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/physics/all.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::acoustic {
namespace {

/// Cut among up to five ranks; a source and receivers lie on the cuts, beside them and far from them.
Problem long_box() {
  auto p = test::rough_box({76, 1, 18}, 0.08);
  p.layers.points = 6;
  p.radius = 3;
  p.order = 4;
  p.shots.clear();
  Shot shot{{{83.1, 0, 441.9}, {61, 0, 300}}, {}};
  for (int n = 0; n < 68; ++n) shot.receivers.push_back({70.3, 0, 11.0 * n + 0.5});
  shot.receivers.push_back({100, 0, 500});  // a node
  p.shots.push_back(shot);
  p.record = {Component::pressure, Component::velocity_up};
  p.settle();
  return p;
}

Runtime on(Device::Kind kind, Comm* comm) {
  Runtime runtime;
  runtime.device.kind = kind;
  runtime.comm = comm;
  return runtime;
}

TEST(AcousticOnRanks, HasTheSameBitsAsOneProcess) {
  for (const auto order : {test::Order::as_started, test::Order::reversed}) {
    const auto comm = test::ranks(order);
    if (comm->rank() > 0) {
      serve(physics::all(), *comm);
      continue;
    }
    auto p = long_box();
    Settings settings;
    settings.keeping = Keeping::checkpoints;
    settings.lags = 2;
    test::Chance chance(5);
    settings.change = chance.list(p.velocity.size());
    for (double& m : settings.change.own()) m *= 2e-9;
    for (const auto kind : {Device::Kind::cpu, Device::Kind::debug})
      for (const auto task : {Task::modelling, Task::born, Task::migration})
        for (const std::size_t shots :
             {1, comm->size() + 2}) {  // one on all ranks; several shared among them
          if (kind == Device::Kind::debug && (shots > 1 || task == Task::born)) continue;
          if (order == test::Order::reversed && task != Task::migration) continue;
          settings.task = task;
          p.shots.resize(shots, p.shots.front());
          const auto here = run_shots(p, settings, on(kind, nullptr)),
                     there = run_shots(p, settings, on(kind, comm.get()));
          EXPECT_EQ(here.gathers, there.gathers);
          EXPECT_EQ(here.images.kernel, there.images.kernel);
          EXPECT_EQ(here.images.correlation, there.images.correlation);
          EXPECT_EQ(here.images.illumination, there.images.illumination);
          EXPECT_EQ(here.images.at_lags, there.images.at_lags);
          double sum = 0;
          for (const float value : here.gathers.back()) sum += std::abs(value);
          EXPECT_GT(sum, 0);
        }
    dismiss(*comm);
  }
}

TEST(AcousticOnRanks, SnapshotsHaveTheSameBitsAsThoseOfOneProcess) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  auto p = long_box();
  p.shots.resize(static_cast<std::size_t>(comm->size()) + 1, p.shots.front());
  Settings settings;
  settings.snapshots.interval = 0.015;
  settings.snapshots.shot = 1;
  settings.snapshots.stride = 4;
  settings.snapshots.box[4] = 25;
  settings.snapshots.settle(p);
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    const auto here = run_shots(p, settings, on(kind, nullptr)),
               there = run_shots(p, settings, on(kind, comm.get()));
    EXPECT_EQ(here.gathers, there.gathers);
    ASSERT_EQ(here.pictures.count(), settings.snapshots.count(p));
    EXPECT_EQ(here.pictures.all(), there.pictures.all());
    double sum = 0;
    for (const float value : here.pictures.all()) sum += std::abs(value);
    EXPECT_GT(sum, 0);
  }
  dismiss(*comm);
}

TEST(AcousticOnRanks, AnUnstableRunStopsOnAllRanksWithOneMessage) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  auto problem = test::rough_box({40, 1, 24}, 0.2);
  problem.settle();
  problem.step *= 1.3, problem.end = 1000 * problem.step;
  Runtime alone, shared;
  alone.device.kind = shared.device.kind = Device::Kind::cpu;
  shared.comm = comm.get();
  const auto said = [&](const Runtime& runtime) -> std::string {
    try {
      run_shots(problem, Settings{}, runtime);
    } catch (const InputError& error) {
      return error.problem().substr(error.problem().find("pressures"));
    }
    return {};
  };
  const auto here = said(alone);
  EXPECT_NE(here.find("after "), std::string::npos) << here;
  EXPECT_EQ(said(shared), here);
  EXPECT_EQ(said(shared), here);  // the ranks serve on
  dismiss(*comm);
}

TEST(AcousticOnRanks, ADiskThatWouldFillIsNamedBeforeTheRunAndTheRanksServeOn) {
  const auto comm = test::ranks();
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  auto p = long_box();
  p.shots.resize(static_cast<std::size_t>(comm->size()), p.shots.front());
  Settings settings;
  settings.task = Task::migration;
  settings.keeping = Keeping::store;
  settings.change = std::vector<double>(p.velocity.size(), 1e-10);
  auto endless = p;
  endless.end = 1e8 * p.step;
  settings.kept_in = KeptIn::disk;
  EXPECT_THAT(
      testing_support::message([&] { run_shots(endless, settings, on(Device::Kind::cpu, comm.get())); }),
      testing::AllOf(testing::HasSubstr("would take"), testing::HasSubstr("are free")));
  EXPECT_GT(test::norm(run_shots(p, settings, on(Device::Kind::cpu, comm.get())).images.kernel), 0);
  dismiss(*comm);
}

TEST(AcousticOnRanks, HasTheSameBitsWhenHalosGoFromDeviceToDevice) {
  const auto below = test::ranks();
  if (below->size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto comm = test::with_direct_messages(*below);
  if (comm->rank() > 0) return serve(physics::all(), *comm);
  const auto p = long_box();
  Settings settings;
  settings.keeping = Keeping::checkpoints;
  test::Chance chance(5);
  settings.change = chance.list(p.velocity.size());
  for (double& m : settings.change.own()) m *= 2e-9;
  for (const auto device : test::devices_with_direct_messages(*comm))
    for (const auto task : {Task::modelling, Task::born, Task::migration}) {
      settings.task = task;
      const auto here = run_shots(p, settings, on(device.kind, nullptr)),
                 there = run_shots(p, settings, on(device.kind, comm.get()));
      EXPECT_THAT(there.notes, testing::Contains(testing::StartsWith("halos go from device to device by")));
      EXPECT_EQ(here.gathers, there.gathers);
      EXPECT_EQ(here.images.kernel, there.images.kernel);
      EXPECT_EQ(here.images.correlation, there.images.correlation);
    }
  dismiss(*comm);
}

TEST(AcousticOnRanks, GraphsWithHalosInThemHaveTheBitsOfSteps) {
  const auto below = test::ranks();
  const auto comm = test::with_direct_messages(*below);
  const auto p = long_box();
  for (const auto device : test::devices_with_direct_messages(*comm)) {
    Stream stream(device);
    std::vector<double> traces[2];
    for (const bool graphs : {false, true}) {
      Engine<float> engine(p, stream, *comm);
      engine.use_graphs(graphs);
      traces[graphs] = engine.model(p.shots[0], p.source_series());
    }
    EXPECT_EQ(traces[0], traces[1]) << to_string(device);
    EXPECT_EQ(traces[0].empty(), comm->rank() > 0);
  }
}

/// The GPUs of ranks that have one each and reach each other's memory; none: not here.
std::optional<Device> own_gpu(const Comm& comm) {
  const auto place = comm.on_node();
  if (comm.size() == 1 || place.count < comm.size() || gpu_count() < comm.size()) return {};
  return resolve({Device::Kind::cuda, -1}, place.index);
}

/// Whether GPUs reach each other's memory, as a halo finds it.
bool reach_each_other(Stream& stream, Comm& comm) {
  HaloSettings<3> settings{{1, 1, 1}, {1, 1, 1}};
  settings.at_once = true;
  const IndexBox<3> box{{0, 0, 0}, {16, 16, 64}};
  return Halo<float, 3>(stream, cut(box, comm.size(), CartesianSettings<3>{{4, 4, 32}, {}}), settings, 1,
                        comm)
      .by_peers();
}

/// Cut into slabs by up to four ranks, with sources and receivers beside the cuts.
Problem tall_box(Equation equation, Boundary top) {
  auto p = test::rough_rock(equation, {150, 24, 36}, 0.1);
  p.order = 8;
  p.layers.points = 6;
  p.sides[0][1] = top;
  p.shots[0].sources = {{83.1, 71.3, 745.2}, {101, 70, 372.9}, {61, 70, 11}};
  p.shots[0].receivers.clear();
  for (int n = 0; n < 148; ++n) p.shots[0].receivers.push_back({61.0 + n % 7 * 13, 71.3, 10.0 * n + 1.5});
  p.settle();
  return p;
}

TEST(AcousticOnRanks, StepsThatWriteIntoTheirNeighboursHaveTheBitsOfOneGpu) {
  const auto comm = test::ranks();
  const auto gpu = own_gpu(*comm);
  if (!gpu) GTEST_SKIP() << "needs a GPU for each rank";
  Stream stream(*gpu);
  if (!reach_each_other(stream, *comm)) GTEST_SKIP() << "GPUs do not reach each other's memory";
  Alone alone;
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti})
    for (const auto top : {Boundary::cpml, Boundary::sponge, Boundary::free_surface}) {
      const auto p = tall_box(equation, top);
      ASSERT_EQ(cut_grid(p, comm->size()).pieces[1], 1);
      Engine<float> engine(p, stream, *comm), whole(p, stream, alone);
      ASSERT_EQ(engine.transport(), "go from device to device by stores of kernels");
      const auto all = engine.model(p.shots[0], p.source_series()),
                 one = whole.model(p.shots[0], p.source_series());
      std::vector<double> data;
      if (comm->rank() == 0) {
        EXPECT_EQ(one, all) << static_cast<int>(equation) << " " << static_cast<int>(top);
        EXPECT_GT(test::norm(one), 0);
        data = test::Chance(4).list(p.steps() * p.traces(p.shots[0]));
      }
      const auto change = test::Chance(6).list(p.velocity.size());
      const auto scattered = engine.born(p.shots[0], p.source_series(), change);
      if (comm->rank() == 0) {
        EXPECT_EQ(scattered, whole.born(p.shots[0], p.source_series(), change));
        EXPECT_GT(test::norm(scattered), 0);
      }
      // Ways back, and states that are put back, reach the neighbours, too.
      for (const auto way :
           {Keeping::store, Keeping::checkpoints, Keeping::boundary, Keeping::random_walls}) {
        if (top == Boundary::sponge && way == Keeping::random_walls) continue;
        const auto images = engine.adjoint(p.shots[0], p.source_series(), data, way);
        if (comm->rank() > 0) continue;
        const auto image = whole.adjoint(p.shots[0], p.source_series(), data, way);
        EXPECT_EQ(image.kernel, images.kernel) << static_cast<int>(equation) << " " << to_string(way);
        EXPECT_GT(test::norm(image.kernel), 0);
      }
    }
}

TEST(AcousticOnRanks, WavesWrittenIntoNeighboursAreThoseThatHalosBring) {
  const auto below = test::ranks();
  const auto gpu = own_gpu(*below);
  if (!gpu) GTEST_SKIP() << "needs a GPU for each rank";
  const auto comm = test::with_direct_messages(*below);
  Stream stream(*gpu);
  if (!reach_each_other(stream, *comm)) GTEST_SKIP() << "GPUs do not reach each other's memory";
  const auto p = tall_box(Equation::tti, Boundary::cpml);
  const Medium<float> medium(p, stream, cut_grid(p, comm->size()), comm->rank());
  Wave<float> written(stream, medium, *comm), by_halos(stream, medium, *comm, Wave<float>::Neighbours::halos);
  ASSERT_EQ(written.transport(), "go from device to device by stores of kernels");
  ASSERT_NE(by_halos.transport(), written.transport());
  Sources<float> sources(stream, medium, p.shots[0].sources, 1 / p.grid.volume());
  sources.send(stream, p.steps(), p.source_series());
  Clock clock(stream, 0);
  const auto all_of = [&](Wave<float>& wave) {
    std::vector<std::vector<float>> fields;
    for (int n = 0; n < 21; ++n) {
      clock.set(stream, n);
      wave.step(stream, &sources, clock);
    }
    wave.wait(stream);
    for (const int field : {0, 1}) {
      std::vector<float> values(medium.size());
      wave.buffer(field).download(stream, values);
      fields.push_back(std::move(values));  // halos, too
    }
    return fields;
  };
  const auto once = all_of(written);
  EXPECT_EQ(once, all_of(by_halos));
  written.rest(stream);  // while neighbours may be behind or ahead
  EXPECT_EQ(once, all_of(written));
  double sum = 0;
  for (const float value : once[0]) sum += std::abs(value);
  EXPECT_GT(sum, 0);
}

/// A box whose parts are thick enough for passes of three steps; `columns`: four ranks cut it north, too.
Problem thick_box(Equation equation, bool columns) {
  const bool dense = equation == Equation::variable_density;
  std::array<Index, 3> nodes{dense ? 180 : 100, 18, 16};
  if (columns) nodes = {18, 44, 20};
  auto p = test::rough_rock(equation, nodes, 0.05);
  p.layers.points = 6;
  p.radius = 4;
  p.order = equation == Equation::constant_density ? 4 : 8;
  p.shots[0].receivers.clear();
  for (Index n = 0; n < 3 * nodes[0]; ++n)
    p.shots[0].receivers.push_back(
        {31.0 + static_cast<double>(n % 7) * 13, 71.3, 3.0 * static_cast<double>(n)});
  p.shots[0].sources = {{83.1, 71.3, 112.7}, {61, 70, 10.0 * static_cast<double>(nodes[0] / 2)}};
  p.settle();
  return p;
}

TEST(AcousticOnRanks, PassesOverMemoryHaveTheBitsOfSingleStepsOfOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  for (const auto equation : {Equation::constant_density, Equation::variable_density, Equation::vti})
    for (const bool columns : {false, true}) {
      if (columns && (equation != Equation::constant_density || comm->size() != 4)) continue;
      const auto p = thick_box(equation, columns);
      Stream stream({Device::Kind::cpu, -1}, false, 2);
      Alone alone;
      std::vector<double> one;
      if (comm->rank() == 0) one = Engine<float>(p, stream, alone).model(p.shots[0], p.source_series());
      Engine<float> engine(p, stream, *comm);
      const auto cut = cut_grid(p, comm->size());
      EXPECT_EQ(cut.pieces[1], columns ? 2 : 1);
      Passes passes{3, 5, {}, {}};
      for (const std::size_t a : {0, 1}) passes.lag[a] = 2 * p.points();
      engine.use_passes(passes);
      EXPECT_EQ(one, engine.model(p.shots[0], p.source_series())) << static_cast<int>(equation);
      EXPECT_TRUE(comm->rank() > 0 || test::norm(one) > 0);
      const auto change = test::Chance(6).list(p.velocity.size());
      const auto scattered = engine.born(p.shots[0], p.source_series(), change);
      if (comm->rank() == 0) {
        Engine<float> whole(p, stream, alone);
        EXPECT_EQ(scattered, whole.born(p.shots[0], p.source_series(), change)) << static_cast<int>(equation);
        EXPECT_GT(test::norm(scattered), 0);
      }
      if (p.fields() == 1) {
        std::vector<double> data;
        if (comm->rank() == 0) data = test::Chance(4).list(p.steps() * p.traces(p.shots[0]));
        const auto images = [&](const Passes& by, Keeping way) {
          engine.use_passes(by);
          return engine.adjoint(p.shots[0], p.source_series(), data, way);
        };
        const auto stored = images({}, Keeping::store);
        for (const auto way : {Keeping::store, Keeping::checkpoints, Keeping::boundary}) {
          const auto single = way == Keeping::boundary ? images({}, way) : stored;
          const auto passed = images(passes, way);
          for (const auto image : {&Images::kernel, &Images::correlation, &Images::illumination}) {
            EXPECT_EQ(single.*image, passed.*image) << static_cast<int>(equation) << " " << to_string(way);
            EXPECT_TRUE(comm->rank() > 0 || test::norm(single.*image) > 0);
          }
        }
      }
      // What is left beside other ranks grows, and is nothing at the sides of the whole.
      const auto& part = cut.part(comm->rank());
      EXPECT_EQ(taken_in_pass(p, part, 0), part);
      const auto inside = taken_in_pass(p, part, 2);
      EXPECT_EQ(inside.first[0] - part.first[0], part.first[0] > cut.whole.first[0] ? 2 * p.reach() : 0);
    }
}

TEST(AcousticOnRanks, RanksOfUnequalThreadsTakeTheSamePasses) {
  const auto comm = test::ranks(test::Order::as_started);
  const auto ranks = static_cast<Index>(comm->size());
  auto p = test::even_box({40 * ranks, 40, 640}, 10, 2000);  // 40 rows: one thread has its 32, two have not
  test::all_sides(p, Boundary::wall);
  p.order = 4;
  p.shots = {{{{3000, 200, 190.0 * static_cast<double>(ranks)}}, {{3100, 210, 230}}}};
  p.end = 0.01;
  p.settle();
  const std::vector<double> data(comm->rank() == 0 ? p.steps() : 0, 1.0);
  const auto passes_of = [&](int threads) {
    Stream stream({Device::Kind::cpu, -1}, false, threads);
    Engine<float> engine(p, stream, *comm);
    const auto images = engine.adjoint(p.shots[0], p.source_series(), data, Keeping::store);
    EXPECT_TRUE(comm->rank() > 0 || test::norm(images.illumination) > 0);
    return engine.passes();
  };
  if (ranks > 1) {
    const auto unequal = passes_of(comm->rank() == 0 ? 1 : 2);
    EXPECT_EQ(unequal.steps, 1);
    EXPECT_EQ(unequal.why == another_rank, comm->rank() == 0);
  }
  EXPECT_EQ(passes_of(1).steps, 4);
}

/// What a rank has of a problem whose medium rank 0 deals out.
Problem as_dealt(Problem p, const Comm& comm) {
  if (comm.rank() > 0)
    for (auto* values : {&p.velocity, &p.density, &p.epsilon, &p.delta, &p.tilt, &p.azimuth}) *values = {};
  return p;
}

TEST(AcousticOnRanks, WhatRank0AndTheOthersTakeOfTheHostIsForetoldAndAGpuItsOwnPart) {
  const auto comm = test::ranks(test::Order::as_started);
  if (comm->rank() > 0) return;
  if (comm->size() == 1) GTEST_SKIP() << "needs two ranks";
  auto p = test::rough_rock(Equation::variable_density, {150, 24, 36}, 0.1);
  p.layers.points = 6;
  p.settle();
  const auto model = 8.0 * static_cast<double>(p.velocity.size());
  const auto one = Simulation(p, {}).check(on(Device::Kind::debug, nullptr)),
             shared = Simulation(p, {}).check(on(Device::Kind::debug, comm.get()));
  EXPECT_EQ(one.find("host_bytes_rank_0"), nullptr);
  const auto part = static_cast<double>(shared.memory_bytes) / static_cast<double>(one.memory_bytes);
  EXPECT_GT(part, 1.0 / comm->size());
  EXPECT_LT(part, 1.0 / comm->size() + 0.15);  // and what it reads of its neighbours
  // While it is painted the medium takes no more than its two properties.
  EXPECT_EQ(shared.number("host_bytes_rank_0"), 2 * model + bytes_of_gathers(p, {}, 1));
  EXPECT_GT(shared.number("host_bytes_other_ranks"), 0);
  EXPECT_LE(shared.number("host_bytes_other_ranks"), 5 * bytes_of_planes_at_once);
  p.record = {Component::velocity_up};  // over the density of any node
  EXPECT_EQ(Simulation(p, {}).check(on(Device::Kind::debug, comm.get())).number("host_bytes_other_ranks"),
            2 * model);
  Settings migration;
  migration.task = Task::migration;
  migration.keeping = Keeping::store;
  const auto of_others = [&](KeptIn place) {
    migration.kept_in = place;
    return Simulation(p, migration)
        .check(on(Device::Kind::debug, comm.get()))
        .number("host_bytes_other_ranks");
  };
  const Device debug{Device::Kind::debug, -1};
  const double waves = cost_of<float>(Keeping::store, p, KeptIn::host, debug).host_bytes;
  EXPECT_GT(waves, 0);
  EXPECT_NEAR(of_others(KeptIn::host) - of_others(KeptIn::memory), waves / comm->size(), 1);
  p.record = {Component::pressure};
  migration.keeping = Keeping::random_walls;
  const double walled = cost_of<float>(Keeping::random_walls, p).host_bytes;
  EXPECT_GT(walled, 2 * model);
  // Two properties of the medium and of that of the data, the scatterers; each rank adds the walls itself.
  EXPECT_EQ(of_others(KeptIn::memory), 5 * model + walled);
}

TEST(AcousticOnRanks, AMediumThatIsDealtSomePlanesAtATimeIsThatOfRanksThatHaveTheWhole) {
  const auto comm = test::ranks(test::Order::as_started);
  auto p = test::rough_rock(Equation::variable_density, {1700, 1, 1800}, 0.001);  // free at its top
  p.shots[0].sources = {{61, 0, 300}};
  p.shots[0].receivers.clear();
  p.settle();
  Stream stream({Device::Kind::cpu, -1});
  const auto cut = cut_grid(p, comm->size());
  const auto own = as_dealt(p, *comm);
  const Medium<float> whole(p, stream, cut, comm->rank()), dealt(own, stream, cut, comm->rank(), comm.get());
  const auto count = static_cast<Index>(whole.size());
  EXPECT_TRUE(comm->size() > 3 || 4.0 * static_cast<double>(count) > bytes_of_planes_at_once);
  const auto *const here = whole.squared().first(), *const there = dealt.squared().first();
  EXPECT_TRUE(std::equal(here, here + count, there));
  const auto *const half = whole.arguments().half_density, *const dealt_half = dealt.arguments().half_density;
  const auto begin = strides(dealt.box()).to(dealt.box().first);
  EXPECT_TRUE(std::equal(half + begin, half + begin + count, dealt_half + begin));
}

TEST(AcousticOnRanks, ABoxCutUpAndNorthHasTheBitsOfTheWhole) {
  const auto comm = test::ranks(test::Order::as_started);
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    const bool wide = equation == Equation::variable_density || equation == Equation::tti;
    auto p = test::rough_rock(equation, {wide ? 36 : 20, wide ? 60 : 44, 20}, 0.1);
    p.order = wide ? 4 : 8;
    p.layers.points = 6;
    p.shots[0].receivers[2] = {152, 371, 183};
    if (p.fields() == 2) p.record = {Component::velocity_north, Component::pressure, Component::velocity_up};
    p.settle();
    Stream stream({Device::Kind::cpu, -1});
    Alone alone;
    std::vector<double> one;
    // Slabs of four ranks would be too thin, so these share columns.
    if (!wide) {
      EXPECT_EQ(cut_grid(p, 4).pieces, (std::array<int, 3>{2, 2, 1}));
    }
    if (comm->rank() == 0) one = Engine<float>(p, stream, alone).model(p.shots[0], p.source_series());
    // Of a tilted axis receivers of velocities ask what it is where they are.
    const bool dealt = equation != Equation::tti;
    const auto own = dealt ? as_dealt(p, *comm) : p;
    Engine<float> engine(own, stream, *comm, dealt ? Dealt::yes : Dealt::no);
    const auto all = engine.model(p.shots[0], p.source_series());
    EXPECT_EQ(one, all);
  }
}

TEST(AcousticOnRanks, MeshesWalkedBackFromTheirBoundaryHaveTheBitsOfOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  for (const auto equation :
       {Equation::constant_density, Equation::variable_density, Equation::vti, Equation::tti}) {
    const bool wide = equation == Equation::variable_density || equation == Equation::tti;
    auto p = test::rough_rock(equation, {wide ? 36 : 20, wide ? 60 : 44, 16}, 0.03);
    p.order = wide ? 4 : 8;
    p.layers.points = 6;
    p.shots[0].sources.push_back({4.1, 3.3, 6.2});  // sampled beyond the mesh, too
    p.shots[0].receivers[2] = {152, 371, 183};
    p.settle();
    Stream stream({Device::Kind::cpu, -1});
    Alone alone;
    std::vector<double> data;
    if (comm->rank() == 0) data = test::Chance(4).list(p.steps() * p.traces(p.shots[0]));
    const auto own = as_dealt(p, *comm);
    Engine<float> engine(own, stream, *comm, Dealt::yes);
    for (const auto way : {Keeping::boundary, Keeping::boundary_compressed}) {
      if (way == Keeping::boundary_compressed && equation != Equation::vti) continue;
      const auto all = engine.adjoint(p.shots[0], p.source_series(), data, way, nullptr, 1);
      if (comm->rank() > 0) continue;
      const auto one =
          Engine<float>(p, stream, alone).adjoint(p.shots[0], p.source_series(), data, way, nullptr, 1);
      EXPECT_GT(test::norm(one.kernel), 0);
      for (const auto image :
           {&Images::kernel, &Images::correlation, &Images::illumination, &Images::at_lags})
        EXPECT_EQ(one.*image, all.*image) << static_cast<int>(equation) << " " << to_string(way);
    }
  }
}

TEST(AcousticOnRanks, WavesBetweenRandomWallsHaveTheBitsOfOneProcess) {
  const auto comm = test::ranks(test::Order::as_started);
  for (const auto equation : {Equation::constant_density, Equation::variable_density, Equation::tti}) {
    const bool wide = equation != Equation::constant_density;
    auto p = test::rough_rock(equation, {wide ? 36 : 20, wide ? 60 : 44, 16}, 0.02);
    p.order = wide ? 4 : 8;
    p.layers.points = 6;
    p.shots[0].receivers[2] = {152, 371, 183};
    p.settle();
    Stream stream({Device::Kind::cpu, -1});
    Alone alone;
    std::vector<double> data;
    if (comm->rank() == 0) data = test::Chance(4).list(p.steps() * p.traces(p.shots[0]));
    Engine<float> engine(p, stream, *comm);
    const auto all = engine.adjoint(p.shots[0], p.source_series(), data, Keeping::random_walls);
    if (comm->rank() > 0) continue;
    const auto one =
        Engine<float>(p, stream, alone).adjoint(p.shots[0], p.source_series(), data, Keeping::random_walls);
    EXPECT_GT(test::norm(one.kernel), 0);
    for (const auto image : {&Images::kernel, &Images::correlation, &Images::illumination})
      EXPECT_EQ(one.*image, all.*image) << static_cast<int>(equation);
  }
}

}  // namespace
}  // namespace terrane::acoustic
