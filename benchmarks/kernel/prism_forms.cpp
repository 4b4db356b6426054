// What one prism at one station costs, on one core: the way programs did it in 2010, the textbook form with
// shared corners, and each of Terrane's forms for every instruction set; then what a second thread gains.
//
// Counter pair: seconds for one prism-station pair. Names: form/zone/channels[/instruction set].
//   near    0.05 … 0.3 sides from the surface     middle  0.7 … 1.5 sides
//   outer   R = 3 … 10 sides                      far     R = 100 sides, multipoles of order 8, 6, 4, 2
// Targets: all ten channels near the body at most 1/20 of seed style, far away 1/100; two threads ≥ 1.9 ×
// one.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "support/prism_field.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/formula/naive.hpp"
#include "terrane/physics/gravity/formula/near_field.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {
namespace {

// ---- seed style: one quantity at a time, eight corners each, nothing shared -------------------------------

struct Corner {
  double x, y, z, r, sign;
};

template <class Term>
double over_corners(const RelativePrism<double>& p, const Term& term) {
  double sum = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const double x = p.x[i], y = p.y[j], z = p.z[k];
        sum += term(Corner{x, y, z, std::sqrt(x * x + y * y + z * z), (i + j + k) % 2 ? 1.0 : -1.0});
      }
  return sum;
}

[[gnu::noinline]] double seed_g(const RelativePrism<double>& p, int axis) {
  return over_corners(p, [axis](const Corner& c) {
    const double w[3] = {c.x, c.y, c.z}, a = w[axis], b = w[(axis + 1) % 3], d = w[(axis + 2) % 3];
    return -c.sign * (b * std::log(d + c.r) + d * std::log(b + c.r) - a * std::atan(b * d / (a * c.r)));
  });
}

[[gnu::noinline]] double seed_diagonal(const RelativePrism<double>& p, int axis) {
  return over_corners(p, [axis](const Corner& c) {
    const double w[3] = {c.x, c.y, c.z};
    return -c.sign * std::atan(w[(axis + 1) % 3] * w[(axis + 2) % 3] / (w[axis] * c.r));
  });
}

[[gnu::noinline]] double seed_off_diagonal(const RelativePrism<double>& p, int across) {
  return over_corners(p, [across](const Corner& c) {
    const double w[3] = {c.x, c.y, c.z};
    return c.sign * std::log(w[across] + c.r);
  });
}

[[gnu::noinline]] double seed_potential(const RelativePrism<double>& p) {
  return over_corners(p, [](const Corner& c) {
    return c.sign * (c.x * c.y * std::log(c.z + c.r) + c.y * c.z * std::log(c.x + c.r) +
                     c.x * c.z * std::log(c.y + c.r) -
                     0.5 * (c.x * c.x * std::atan(c.y * c.z / (c.x * c.r)) +
                            c.y * c.y * std::atan(c.x * c.z / (c.y * c.r)) +
                            c.z * c.z * std::atan(c.x * c.y / (c.z * c.r))));
  });
}

// ---- what is measured -------------------------------------------------------------------------------------

/// 64 prisms about 40 × 50 × 60 m and 64 stations at one distance.
struct Zone {
  const char* name;
  double from, to;  ///< distance over the longest side
  bool of_surface;  ///< from the surface, else from the centre
  test::PrismList prisms;
  test::StationList stations;

  Zone(const char* name_, double from_, double to_, bool of_surface_)
      : name(name_), from(from_), to(to_), of_surface(of_surface_) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0, 1), jitter(-0.5, 0.5);
    for (int n = 0; n < tile_size; ++n)
      prisms.add({-20 + jitter(random), 20 + jitter(random), -25 + jitter(random), 25 + jitter(random),
                  -30 + jitter(random), 30 + jitter(random)},
                 100 + 50 * unit(random));
    while (stations.size() < tile_size) {
      const double reach = 30 + 60 * to;
      const double x = reach * (2 * unit(random) - 1), y = reach * (2 * unit(random) - 1),
                   z = reach * (2 * unit(random) - 1);
      const double hx = std::max(std::fabs(x) - 20, 0.0), hy = std::max(std::fabs(y) - 25, 0.0),
                   hz = std::max(std::fabs(z) - 30, 0.0);
      const double d = (of_surface ? std::hypot(hx, hy, hz) : std::hypot(x, y, z)) / 60;
      if (d >= from && d <= to) stations.add(x, y, z);
    }
  }
};

const Zone& zone(int n) {
  static const Zone zones[] = {{"near", 0.05, 0.3, true},
                               {"middle", 0.7, 1.5, true},
                               {"outer", 3, 10, false},
                               {"far", 95, 105, false}};
  return zones[n];
}

void count_pairs(benchmark::State& state) {
  state.counters["pair"] = benchmark::Counter(static_cast<double>(state.iterations()) * tile_size * tile_size,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class PerPair>
void scalar(benchmark::State& state, int n, const PerPair& per_pair) {
  const Zone& z = zone(n);
  for (auto _ : state)
    for (std::size_t s = 0; s < z.stations.size(); ++s) {
      for (std::size_t p = 0; p < z.prisms.size(); ++p) {
        const auto relative =
            relative_to<double>({z.prisms.west[p], z.prisms.east[p], z.prisms.south[p], z.prisms.north[p],
                                 z.prisms.bottom[p], z.prisms.top[p]},
                                z.stations.easting[s], z.stations.northing[s], z.stations.up[s]);
        per_pair(relative);
      }
    }
  count_pairs(state);
}

void seed_all(const RelativePrism<double>& p) {
  benchmark::DoNotOptimize(seed_potential(p));
  for (int axis = 0; axis < 3; ++axis) {
    benchmark::DoNotOptimize(seed_g(p, axis));
    benchmark::DoNotOptimize(seed_diagonal(p, axis));
    benchmark::DoNotOptimize(seed_off_diagonal(p, axis));
  }
}

void naive_all(const RelativePrism<double>& p) {
  auto q = naive(
      p, [](double x) { return std::log(x); }, [](double x) { return std::atan(x); });
  benchmark::DoNotOptimize(q);
}

/// The tile kernel of one instruction set; order: of the far kernel, 0 for the one that chooses.
void tiles(benchmark::State& state, const KernelTarget* target, int n, ChannelSet channels, int order) {
  const Zone& z = zone(n);
  const auto set = smallest_kernel_set(channels);
  const auto& kernels = target->kernels[set];
  const auto switching = Switching::for_accuracy(1e-12);
  const Turn turn{{0, 1, 2}, channels};
  const Sources sources(z.prisms.view(), turn, switching);
  const Receivers receivers(z.stations.view(), turn, kernels.lanes);
  NearPairsOfTask near_pairs(switching, receivers);
  const auto tile = std::make_unique<PrismTile>();
  sources.load(0, *tile);
  const auto kernel = order == 0 ? kernels.near : kernels.far[order / 2 - 1];
  alignas(64) double sums[10 * tile_size] = {};
  for (auto _ : state) {
    kernel(*tile, receivers.tile(0), near_pairs, sums);
    benchmark::ClobberMemory();
  }
  count_pairs(state);
}

void threads(benchmark::State& state) {
  // Densities that differ: nothing can be merged.
  std::mt19937 random(2);
  std::uniform_real_distribution<double> density(100, 900);
  static const auto prisms = test::mesh_block({0, 2000, 0, 2000, -800, 0}, {20, 20, 10},
                                              [&](int, int, int) { return density(random); });
  static const auto stations = test::random_stations({-500, 2500, -500, 2500, 10, 300}, 8192, random);
  std::vector<std::vector<double>> values(10, std::vector<double>(stations.size()));
  Parameters parameters;
  parameters.method = Method::direct;
  parameters.threads = static_cast<int>(state.range(0));
  for (auto _ : state)
    forward(prisms.view(), stations.view(), parameters,
            {ChannelSet::all(), {values.begin(), values.end()}, {}});
  state.counters["pair"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(prisms.size() * stations.size()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->MinTime(0.2);
  };
  for (int n : {0, 3}) {
    const std::string where = zone(n).name;
    add("seed/" + where + "/all", [n](benchmark::State& s) { scalar(s, n, seed_all); });
    add("seed/" + where + "/g_u", [n](benchmark::State& s) {
      scalar(s, n, [](const RelativePrism<double>& p) { benchmark::DoNotOptimize(seed_g(p, 2)); });
    });
    add("shared/" + where + "/all", [n](benchmark::State& s) { scalar(s, n, naive_all); });
  }
  for (const char* name : {"plain", "avx2", "avx512"}) {
    const KernelTarget* target = nullptr;
    try {
      target = &kernel_target(name);
    } catch (const UnsupportedError&) {
      continue;
    }
    for (bool all : {true, false}) {
      const ChannelSet channels = all ? ChannelSet::all() : ChannelSet{Channel::g_u};
      const std::string tail = std::string(all ? "/all/" : "/g_u/") + name;
      for (int n : {0, 1, 2})
        add(std::string("terrane/") + zone(n).name + tail,
            [=](benchmark::State& s) { tiles(s, target, n, channels, 0); });
      for (int order : {8, 6, 4, 2})
        add("terrane/far" + std::to_string(order) + tail,
            [=](benchmark::State& s) { tiles(s, target, 3, channels, order); });
    }
  }
  benchmark::RegisterBenchmark("forward/threads", threads)
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->MinTime(1.0)
      ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace terrane::gravity
