// The fast multipole method beside the tree, in one run: many stations, many prisms, and how both grow.
//
// Time: the sum as a whole, growing the clusters included, after prisms and stations are in memory; processor
// seconds are those of the user in all threads, which other programs on the machine disturb least. Counters:
// prisms, stations, accuracy, user seconds, planned memory, and the largest difference between the two
// methods, relative to the largest value of each kind.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <random>
#include <string>

#include "support/prism_field.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"

namespace terrane::gravity {
namespace {

using test::PrismList;
using test::StationList;

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

struct Case {
  PrismList prisms;
  StationList stations;
  double accuracy;
};

/// A mesh of a fixed box, 10 × 10 × 5 km, under scattered stations 50 to 100 m above it.
Case scattered(int cells, int layers, std::size_t stations, double accuracy) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> density(100, 500);
  Case c;
  c.prisms = test::mesh_block({0, 10000, 0, 10000, -5000, 0}, {cells, cells, layers},
                              [&](int, int, int) { return density(random); });
  c.stations = test::random_stations({0, 10000, 0, 10000, 50, 100}, stations, random);
  c.accuracy = accuracy;
  return c;
}

/// A filled mesh of prisms of 31.25 × 31.25 × 160 m, and 150 × 100 stations over it.
Case filled(int cells) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> density(100, 500);
  const double width = cells * 31.25;
  Case c;
  c.prisms = test::mesh_block({0, width, 0, width, -8000, 0}, {cells, cells, 50},
                              [&](int, int, int) { return density(random); });
  for (int j = 0; j < 100; ++j)
    for (int i = 0; i < 150; ++i) c.stations.add(width * (i + 0.5) / 150, width * (j + 0.5) / 100, 100);
  c.accuracy = 1e-9;
  return c;
}

template <class Method>
test::FieldTable timed(benchmark::State& state, const Case& c, const char* method) {
  Progress silent;
  const auto start = std::chrono::steady_clock::now();
  const double before = user_seconds();
  Method sum(c.prisms.view(), c.stations.view(), ChannelSet::all(), c.accuracy, 0, silent);
  const auto cost = sum.cost(silent);
  auto values = sum_all(sum, ChannelSet::all(), c.stations.size(), silent).values;
  const std::string name(method);
  state.counters[name + "_user_seconds"] = user_seconds() - before;
  state.counters[name + "_wall_seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state.counters[name + "_predicted_core_seconds"] = cost.seconds;
  state.counters[name + "_planned_bytes"] = static_cast<double>(cost.memory_bytes);
  state.counters[name + "_near_pairs_per_station"] = cost.near_pairs / static_cast<double>(c.stations.size());
  return values;
}

void both(benchmark::State& state, const Case& c, bool tree_too = true) {
  for (auto _ : state) {
    const auto by_fmm = timed<Fmm>(state, c, "fmm");
    if (tree_too) state.counters["difference"] = test::largest_error(by_fmm, timed<Tree>(state, c, "tree"));
  }
  state.counters["prisms"] = static_cast<double>(c.prisms.size());
  state.counters["stations"] = static_cast<double>(c.stations.size());
  state.counters["accuracy"] = c.accuracy;
}

void many_stations(benchmark::State& state) { both(state, scattered(50, 40, 1000000, 1e-6)); }
BENCHMARK(many_stations)->Iterations(1)->Unit(benchmark::kMillisecond);

void many_prisms(benchmark::State& state) { both(state, filled(static_cast<int>(state.range(0)))); }
BENCHMARK(many_prisms)->ArgName("cells")->Arg(245)->Iterations(1)->Unit(benchmark::kMillisecond);

/// As many stations as prisms: 10⁴, 3 · 10⁴, … 10⁶, the last without the tree.
void growth(benchmark::State& state) {
  const auto cells = static_cast<int>(state.range(0)), layers = cells / 2;
  both(state, scattered(cells, layers, static_cast<std::size_t>(cells) * cells * layers, 1e-6), cells < 100);
}
BENCHMARK(growth)->ArgName("cells")->Arg(28)->Arg(40)->Arg(58)->Arg(86)->Arg(126)->Iterations(1)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace terrane::gravity
