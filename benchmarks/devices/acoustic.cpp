// Steps of acoustic waves, order 8, single precision: points per second with and without layers, and of small
// steps with 10,000 receivers.
//
//   devices_acoustic [device] [rock] [nodes a side ...]      prints JSON; without a device the CPU
//   devices_acoustic DEVICE shot NODES STEPS                 a shot with 10,000 receivers modelled and
//   migrated
//   devices_acoustic cpu passes NODES STEPS THREADS REPEATS  step by step, and several steps in a pass
//   devices_acoustic cpu density_passes ...                  the same where density varies
//   devices_acoustic cpu tilted_passes ...                   the same around a tilted axis
//   devices_acoustic cpu migration_passes ...                the same of a migration, with layers
//   devices_acoustic cpu born_passes ...                     the same of Born modelling
//
// With "rock" (or "rock=12" of order 12) after the device: of every kind of rock, walls all round. Bytes of a
// node, each array moved once: 16 with constant density, 20 with variable, 36 with a vertical axis, 84 with a
// tilted one (28 before the step), 48 by the tiles of a GPU.
//
// Floor of a step without layers: 16 bytes a node. With layers the grid has as many nodes, those of the
// layers among them: ψ and ζ add 16 bytes a node and axis there.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terrane/parallel/device/graph.hpp"
#include "terrane/physics/acoustic/image/engine.hpp"

namespace terrane::acoustic {
namespace {

using Time = std::chrono::steady_clock;

Problem cube(Index nodes, Boundary kind, std::size_t receivers, Equation equation, int order = 8) {
  Problem p;
  p.equation = equation;
  p.order = order;
  p.grid = {{nodes, nodes, nodes}, {10, 10, 10}, {0, 0, 0}};
  for (auto& axis : p.sides) axis = {kind, kind};
  if (kind == Boundary::cpml)  // the same number of nodes, layers among them
    for (auto& n : p.grid.nodes) n -= 2 * p.margin(0, 0);
  p.velocity.assign(static_cast<std::size_t>(p.grid.box().count()), 2000.0);
  if (equation == Equation::variable_density) p.density.assign(p.velocity.size(), 2000.0);
  if (p.fields() == 2) {
    p.epsilon.assign(p.velocity.size(), 0.2);
    p.delta.assign(p.velocity.size(), 0.1);
  }
  if (equation == Equation::tti) {
    p.tilt.assign(p.velocity.size(), 0.5);
    p.azimuth.assign(p.velocity.size(), 1.0);
  }
  p.wavelet.frequency = 20;
  p.end = 1;
  const double middle = 10.0 * static_cast<double>(p.grid.nodes[0] / 2);
  Shot shot{{{middle + 3, middle + 4, middle + 2}}, {}};
  const auto side = static_cast<std::size_t>(p.grid.nodes[0]);
  for (std::size_t n = 0; n < receivers; ++n)
    shot.receivers.push_back({10.0 * static_cast<double>(n * 7 % side) + 3,
                              10.0 * static_cast<double>(n * 13 % side) + 4, middle});
  p.shots = {shot};
  p.settle();
  return p;
}

std::string run(Device device, Index nodes, Boundary kind, std::size_t receivers,
                Equation equation = Equation::constant_density, int order = 8) {
  const double bytes[] = {16, 20, 36, device.kind == Device::Kind::cuda ? 48.0 : 84.0};
  constexpr const char* names[] = {"constant_density", "variable_density", "vti", "tti"};
  const auto which = static_cast<int>(equation);
  const auto p = cube(nodes, kind, receivers, equation, order);
  Stream stream(device);
  Alone alone;
  const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
  Wave<float> wave(stream, medium, alone);
  Sources<float> sources(stream, medium, p.shots[0].sources, 1 / p.grid.volume());
  sources.send(stream, p.steps(), p.source_series());
  Receivers<float> readers(stream, medium, p.shots[0].receivers, p.steps());
  Clock clock(stream, 0);
  // As Engine::model() records them.
  constexpr int recorded = 8;
  Graph steps(stream, [&] {
    for (int n = 0; n < recorded; ++n) {
      clock.look_ahead(n);
      if (receivers > 0) wave.step_and_read(stream, sources, readers, clock);
      else wave.step(stream, &sources, clock);
    }
    clock.tick(stream, recorded);
  });
  const auto points = static_cast<double>(p.whole().count());
  const int launches =
      device.kind == Device::Kind::cuda ? std::max(5, static_cast<int>(std::min(50.0, 1e10 / points))) : 2;
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    clock.set(stream, 0);
    steps.launch(stream);
    clock.set(stream, 0);
    const auto begin = Time::now();
    const int here = std::min(launches, static_cast<int>(p.steps()) / recorded - 1);
    for (int n = 0; n < here; ++n) steps.launch(stream);
    stream.wait();
    best = std::min(best, std::chrono::duration<double>(Time::now() - begin).count() / (recorded * here));
  }
  return fmt::format(
      "    {{\"rock\": \"{}\", \"nodes\": {}, \"order\": {}, \"layers\": {}, \"receivers\": {}, "
      "\"microseconds\": {:.2f}, "
      "\"points_per_second\": {:.4g}, "
      "\"bytes_per_second\": {:.4g}}}",
      names[which], nodes, p.order, kind == Boundary::cpml, receivers, best * 1e6, points / best,
      bytes[which] * points / best);
}

/// Seconds of modelling a shot and of migrating its gather by each way to keep the source's waves, layers all
/// round; transfers from and to the host are part of it.
std::string shot(Device device, Index nodes, int steps) {
  auto p = cube(nodes + 2 * 14, Boundary::cpml, 10000, Equation::constant_density);
  p.end = (steps - 1) * p.step;
  p.settle();
  Stream stream(device);
  Alone alone;
  Engine<float> engine(p, stream, alone);
  const auto series = p.source_series();
  const auto seconds = [](const auto& work) {
    const auto begin = Time::now();
    work();
    return std::chrono::duration<double>(Time::now() - begin).count();
  };
  std::vector<double> gather;
  const double modelled = seconds([&] { gather = engine.model(p.shots[0], series); });
  std::string rows;
  // Checkpoints twice: the first shot asks for their memory, the second has it.
  for (const auto way :
       {Keeping::boundary, Keeping::random_walls, Keeping::checkpoints, Keeping::checkpoints}) {
    const double migrated = seconds([&] { engine.adjoint(p.shots[0], series, gather, way); });
    rows += fmt::format(
        "{}    {{\"mesh\": {}, \"steps\": {}, \"receivers\": 10000, \"wavefield\": \"{}\", "
        "\"model_seconds\": {:.3f}, \"migrate_seconds\": {:.3f}}}",
        rows.empty() ? "" : ",\n", nodes, p.steps(), to_string(way), modelled, migrated);
  }
  return rows;
}

/// Seconds of this process on all its threads: other programs on the machine add less to them than to those
/// of the clock.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Steps one after the other and in passes (march/passes.hpp), taking turns; the least of all repeats.
std::string passes(Equation equation, Index nodes, Index steps, int threads, int repeats) {
  std::string rows;
  for (const auto kind : {Boundary::wall, Boundary::cpml}) {
    auto p = cube(nodes, kind, 1000, equation);
    p.end = static_cast<double>(steps) * p.step;
    p.settle();
    Stream stream({Device::Kind::cpu, -1}, false, threads);
    Alone alone;
    const Medium<float> medium(p, stream, cut_grid(p, 1), 0);
    Wave<float> wave(stream, medium, alone);
    Sources<float> sources(stream, medium, p.shots[0].sources, 1 / p.grid.volume());
    sources.send(stream, p.steps(), p.source_series());
    Receivers<float> readers(stream, medium, p.shots[0].receivers, p.steps());
    Clock clock(stream, 0);
    const auto chosen = passes_for(p, stream.device(), threads, cut_grid(p, 1));
    const auto one_by_one = [&] {
      for (Index n = 0; n < steps; ++n) {
        readers.read(stream, wave.zero_of_now(), clock, wave.zero_of_now_q());
        wave.step(stream, &sources, clock);
        clock.tick(stream, 1);
      }
    };
    const auto in_passes = [&] {
      for (Index n = 0; n < steps; n += chosen.steps) {
        wave.pass(stream, chosen, std::min(chosen.steps, steps - n), sources, &readers, clock);
        clock.tick(stream, chosen.steps);
      }
    };
    double wall[2] = {1e30, 1e30}, processor[2] = {1e30, 1e30};
    for (int repeat = 0; repeat < repeats; ++repeat)
      for (const int which : {0, 1}) {
        clock.set(stream, 0);
        const auto begin = Time::now();
        const double before = processor_seconds();
        which == 0 ? one_by_one() : in_passes();
        processor[which] = std::min(processor[which], processor_seconds() - before);
        wall[which] = std::min(wall[which], std::chrono::duration<double>(Time::now() - begin).count());
      }
    const auto points = static_cast<double>(p.whole().count() * steps);
    rows += fmt::format(
        "{}    {{\"nodes\": {}, \"layers\": {}, \"receivers\": 1000, \"threads\": {}, \"steps_in_a_pass\": "
        "{}, "
        "\"points_per_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}, "
        "\"points_per_processor_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}}}",
        rows.empty() ? "" : ",\n", nodes, kind == Boundary::cpml, threads, chosen.steps, points / wall[0],
        points / wall[1], points / processor[0], points / processor[1]);
  }
  return rows;
}

/// A migration of one shot by each way to keep the source's wave, and with images at five lags to either
/// side, step by step and in passes, taking turns; the least of all repeats. Rates of the steps of both
/// waves.
std::string migration_passes(Equation equation, Index nodes, Index steps, int threads, int repeats) {
  std::string rows;
  auto p = cube(nodes, Boundary::cpml, 100, equation);
  p.end = static_cast<double>(steps - 1) * p.step;
  p.settle();
  Stream stream({Device::Kind::cpu, -1}, false, threads);
  Alone alone;
  Engine<float> engine(p, stream, alone);
  const auto chosen = engine.passes();
  const std::vector<double> data(p.steps() * 100, 1e-3);
  for (const auto& [way, lags] : {std::pair<Keeping, Index>{Keeping::store, 0},
                                  {Keeping::checkpoints, 0},
                                  {Keeping::boundary, 0},
                                  {Keeping::boundary_compressed, 0},
                                  {Keeping::compressed, 0},
                                  {Keeping::boundary, 5}}) {
    double processor[2] = {1e30, 1e30};
    for (int repeat = 0; repeat < repeats; ++repeat)
      for (const int which : {0, 1}) {
        engine.use_passes(which == 0 ? Passes{} : chosen);
        const double before = processor_seconds();
        engine.adjoint(p.shots[0], p.source_series(), data, way, nullptr, lags);
        processor[which] = std::min(processor[which], processor_seconds() - before);
      }
    const auto points = 2 * static_cast<double>(p.whole().count()) * static_cast<double>(p.steps());
    rows += fmt::format(
        "{}    {{\"nodes\": {}, \"steps\": {}, \"wavefield\": \"{}\", \"lags\": {}, \"threads\": {}, "
        "\"steps_in_a_pass\": "
        "{}, "
        "\"points_per_processor_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}}}",
        rows.empty() ? "" : ",\n", nodes, p.steps(), to_string(way), lags, threads, chosen.steps,
        points / processor[0], points / processor[1]);
  }
  return rows;
}

/// Born modelling of one shot step by step and in passes, taking turns; the least of all repeats. Rates of
/// the steps of both waves.
std::string born_passes(Index nodes, Index steps, int threads, int repeats) {
  std::string rows;
  for (const auto equation : {Equation::constant_density, Equation::variable_density})
    for (const auto kind : {Boundary::wall, Boundary::cpml}) {
      auto p = cube(nodes, kind, 100, equation);
      p.end = static_cast<double>(steps - 1) * p.step;
      p.settle();
      Stream stream({Device::Kind::cpu, -1}, false, threads);
      Alone alone;
      Engine<float> engine(p, stream, alone);
      const auto chosen = engine.passes();
      const std::vector<double> change(p.velocity.size(), 1e-9);
      double processor[2] = {1e30, 1e30};
      for (int repeat = 0; repeat < repeats; ++repeat)
        for (const int which : {0, 1}) {
          engine.use_passes(which == 0 ? Passes{} : chosen);
          const double before = processor_seconds();
          engine.born(p.shots[0], p.source_series(), change);
          processor[which] = std::min(processor[which], processor_seconds() - before);
        }
      const auto points = 2 * static_cast<double>(p.whole().count()) * static_cast<double>(p.steps());
      rows += fmt::format(
          "{}    {{\"rock\": \"{}\", \"nodes\": {}, \"steps\": {}, \"layers\": {}, \"threads\": {}, "
          "\"steps_in_a_pass\": {}, "
          "\"points_per_processor_second\": {{\"one_by_one\": {:.4g}, \"in_passes\": {:.4g}}}}}",
          rows.empty() ? "" : ",\n",
          equation == Equation::constant_density ? "constant_density" : "variable_density", nodes, p.steps(),
          kind == Boundary::cpml, threads, chosen.steps, points / processor[0], points / processor[1]);
    }
  return rows;
}

}  // namespace
}  // namespace terrane::acoustic

int main(int count, char** words) {
  using namespace terrane;
  const auto device = resolve(device_from_text(count > 1 ? words[1] : "cpu"));
  std::vector<Index> sizes;
  if (count == 5 && std::string(words[2]) == "shot") {
    fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n{}\n  ]\n}}\n", device_name(device),
               acoustic::shot(device, std::atoi(words[3]), std::atoi(words[4])));
    return 0;
  }
  const std::string_view what = count == 7 ? words[2] : "";
  if (what == "passes" || what == "density_passes" || what == "tilted_passes") {
    const auto equation = what == "passes"           ? acoustic::Equation::constant_density
                          : what == "density_passes" ? acoustic::Equation::variable_density
                                                     : acoustic::Equation::tti;
    fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n{}\n  ]\n}}\n", device_name(device),
               acoustic::passes(equation, std::atoi(words[3]), std::atoi(words[4]), std::atoi(words[5]),
                                std::atoi(words[6])));
    return 0;
  }
  if (what == "migration_passes") {
    fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n{}\n  ]\n}}\n", device_name(device),
               acoustic::migration_passes(acoustic::Equation::constant_density, std::atoi(words[3]),
                                          std::atoi(words[4]), std::atoi(words[5]), std::atoi(words[6])));
    return 0;
  }
  if (what == "born_passes") {
    fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n{}\n  ]\n}}\n", device_name(device),
               acoustic::born_passes(std::atoi(words[3]), std::atoi(words[4]), std::atoi(words[5]),
                                     std::atoi(words[6])));
    return 0;
  }
  const std::string_view second = count > 2 ? words[2] : "";
  const bool equations = second.substr(0, 4) == "rock";
  const int order = equations && second.size() > 5 ? std::atoi(second.data() + 5) : 8;
  for (int n = equations ? 3 : 2; n < count; ++n) sizes.push_back(std::atoi(words[n]));
  if (sizes.empty())
    sizes = device.kind == Device::Kind::cuda ? std::vector<Index>{128, 256, 512, 1024}
                                              : std::vector<Index>{128, 256};
  fmt::print("{{\n  \"device\": \"{}\",\n  \"runs\": [\n", device_name(device));
  std::string rows;
  const auto add = [&](const std::string& row) { rows += (rows.empty() ? "" : ",\n") + row; };
  if (equations) {
    for (const auto n : sizes)
      for (const auto equation : {acoustic::Equation::constant_density, acoustic::Equation::variable_density,
                                  acoustic::Equation::vti, acoustic::Equation::tti})
        add(acoustic::run(device, n, acoustic::Boundary::wall, 0, equation, order));
    sizes.clear();
  }
  for (const auto n : sizes)
    for (const auto kind : {acoustic::Boundary::wall, acoustic::Boundary::cpml})
      for (const std::size_t receivers : {0, 10000}) {
        if (receivers > 0 && n > 256) continue;
        add(acoustic::run(device, n, kind, receivers));
      }
  fmt::print("{}\n  ]\n}}\n", rows);
}
