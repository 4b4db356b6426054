// The fast methods of gravity at the sizes they are for, and their time against prisms, stations and
// tolerance.
//
// Time: forward() as a whole, after model and stations are in memory. Counters: prisms, stations, seconds of
// all cores, planned memory, and for the named cases the error at a few stations against quadruple precision
// (or, for tens of millions of prisms, against the direct sum), relative to the largest value of each kind.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <random>

#include "benchmarks/support/seven_spheres.hpp"
#include "support/prism_field.hpp"
#include "terrane/physics/gravity/run/verify.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;

void measure(benchmark::State& state, const PrismList& prisms, const StationList& stations, double accuracy,
             Method method = Method::automatic, std::size_t verified = 0,
             ChannelSet channels = ChannelSet::all()) {
  Parameters parameters;
  parameters.channels = channels;
  parameters.accuracy = accuracy;
  parameters.method = method;
  std::vector<std::vector<double>> values(channels.size(), std::vector<double>(stations.size()));
  const Fields out{channels, {values.begin(), values.end()}, {}};
  Report report;
  double cpu = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const auto before = std::clock();
    report = forward(prisms.view(), stations.view(), parameters, out);
    cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  state.SetLabel(report.method + ": " + report.reason);
  state.counters["prisms"] = static_cast<double>(prisms.size());
  state.counters["stations"] = static_cast<double>(stations.size());
  state.counters["accuracy"] = accuracy;
  state.counters["core_seconds"] = cpu;
  state.counters["planned_bytes"] = static_cast<double>(report.memory_bytes);
  if (verified > 0) {
    Progress silent;
    state.counters["error"] =
        verify(prisms.view(), stations.view(), parameters, verified, out, {}, silent).error;
  }
}

using benchmarks::grid;
using benchmarks::seven_spheres;

void seven_spheres_at_15000_stations(benchmark::State& state) {
  static const auto prisms = seven_spheres();
  measure(state, prisms, grid(150, 100, 22000, 100), std::pow(10, -static_cast<double>(state.range(0))),
          Method::automatic, 8);
}
BENCHMARK(seven_spheres_at_15000_stations)
    ->Arg(6)
    ->Arg(9)
    ->Arg(12)
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

PrismList noise(int nx, int ny, int nz, double side, double height) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> density(100, 500);
  return test::mesh_block({0, nx * side, 0, ny * side, -nz * height, 0}, {nx, ny, nz},
                          [&](int, int, int) { return density(random); });
}

void filled_ensemble(benchmark::State& state) {
  const auto cells = static_cast<int>(state.range(0));
  const auto prisms = noise(cells, cells, 50, 31.25, 160);
  measure(state, prisms, grid(150, 100, 22000, 100), 1e-9, Method::automatic, 2);
}
BENCHMARK(filled_ensemble)->Arg(700)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void lattice_of_8_million_cells(benchmark::State& state) {
  const auto prisms = noise(512, 512, 32, 100, 100);
  StationList stations;
  for (int j = 0; j < 512; ++j)
    for (int i = 0; i < 512; ++i) stations.add(i * 100 + 50, j * 100 + 50, 50);
  measure(state, prisms, stations, 1e-12, Method::automatic, 2);
}
BENCHMARK(lattice_of_8_million_cells)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Ten million columns of 200 m from 1000 m below sea level to a rough surface, stations on it and above.
void terrain_of_10_million_columns(benchmark::State& state) {
  constexpr int cells = 3163;
  constexpr double side = 200;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> phase(0, 6.283);
  std::vector<std::array<double, 5>> waves;
  for (int w = 0; w < 24; ++w) {
    const double length = 3e5 * std::pow(0.72, w), turn = phase(random);
    waves.push_back(
        {std::cos(turn) * 6.283 / length, std::sin(turn) * 6.283 / length, phase(random), length * 2e-3, 0});
  }
  const auto height = [&](double x, double y) {
    double h = 800;
    for (const auto& w : waves) h += w[3] * std::sin(w[0] * x + w[1] * y + w[2]);
    return h;
  };
  PrismList prisms;
  for (auto* column : {&prisms.west, &prisms.east, &prisms.south, &prisms.north, &prisms.bottom, &prisms.top,
                       &prisms.density})
    column->reserve(static_cast<std::size_t>(cells) * cells);
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i)
      prisms.add({i * side, (i + 1) * side, j * side, (j + 1) * side, -1000,
                  std::max(-999.0, height((i + 0.5) * side, (j + 0.5) * side))},
                 2670);
  StationList stations;
  std::uniform_real_distribution<double> place(0, cells * side);
  for (int n = 0; n < 14359; ++n) {
    const int i = static_cast<int>(place(random) / side), j = static_cast<int>(place(random) / side);
    const double x = (i + 0.5) * side, y = (j + 0.5) * side;
    stations.add(x, y,
                 std::max(-999.0, height(x, y)) + (n % 3) * 1.0);  // a third of them exactly on a column
  }
  measure(state, prisms, stations, 1e-6, Method::automatic, 2,
          state.range(0) == 1 ? ChannelSet{Channel::g_u} : ChannelSet::all());
}
BENCHMARK(terrain_of_10_million_columns)
    ->Arg(1)
    ->Arg(10)
    ->ArgName("channels")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// ---- slopes
// ------------------------------------------------------------------------------------------------

constexpr Method methods[] = {Method::direct, Method::tree};

/// Prisms of a fixed box, ever finer; 4096 stations.
void against_prisms(benchmark::State& state) {
  const auto cells = static_cast<int>(state.range(1));
  std::mt19937 random(2);
  measure(state, noise(cells, cells, cells, 10000.0 / cells, 5000.0 / cells),
          test::random_stations({0, 10000, 0, 10000, 50, 100}, 4096, random), 1e-6, methods[state.range(0)]);
}
BENCHMARK(against_prisms)
    ->ArgNames({"tree", "cells"})
    ->Args({0, 8})
    ->Args({0, 16})
    ->Args({0, 32})
    ->Args({0, 48})
    ->Args({1, 8})
    ->Args({1, 16})
    ->Args({1, 32})
    ->Args({1, 64})
    ->Args({1, 128})
    ->Args({1, 200})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void against_stations(benchmark::State& state) {
  std::mt19937 random(2);
  static const auto prisms = noise(50, 50, 40, 200, 125);
  measure(
      state, prisms,
      test::random_stations({0, 10000, 0, 10000, 50, 100}, static_cast<std::size_t>(state.range(1)), random),
      1e-6, methods[state.range(0)]);
}
BENCHMARK(against_stations)
    ->ArgNames({"tree", "stations"})
    ->Args({0, 1})
    ->Args({0, 100})
    ->Args({0, 1000})
    ->Args({0, 10000})
    ->Args({1, 1})
    ->Args({1, 100})
    ->Args({1, 1000})
    ->Args({1, 10000})
    ->Args({1, 100000})
    ->Args({1, 1000000})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void against_tolerance(benchmark::State& state) {
  std::mt19937 random(2);
  static const auto prisms = noise(60, 60, 40, 170, 125);
  measure(state, prisms, test::random_stations({0, 10000, 0, 10000, 50, 100}, 10000, random),
          std::pow(10, -static_cast<double>(state.range(0))), Method::tree);
}
BENCHMARK(against_tolerance)
    ->DenseRange(3, 14, 1)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Meshes of n × n × 16 cells under n × n stations, by convolution.
void lattice_against_size(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  StationList stations;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) stations.add((i + 0.37) * 100, (j + 0.21) * 100, 50);
  measure(state, noise(n, n, 16, 100, 100), stations, 1e-12, Method::lattice);
}
BENCHMARK(lattice_against_size)
    ->RangeMultiplier(2)
    ->Range(32, 512)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace terrane::gravity
