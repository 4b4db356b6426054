// Sensitivities by fast multipoles beside those by the tree, in one run: what they take to make and in
// memory, and a product with G and with its transpose, as an inversion of g_u, or of the gradient tensor, at
// scattered stations has them.
//
// Processor seconds are those of the user in all threads, which other programs on the machine disturb least.
// Counters, for each method: seconds to make, bytes, seconds of a product with G and with Gᵀ; what was
// foreseen; how far ⟨Gm, d⟩ is from ⟨m, Gᵀd⟩, and the two methods' data from each other.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <random>
#include <string>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/gravity/sensitivity/fmm_operator.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"

namespace terrane::gravity {
namespace {

constexpr double accuracy = 1e-6;

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

std::vector<double> random_between(double low, double high, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

/// A mesh of cells of 50 × 50 × 50 m, and stations scattered 10 to 60 m above it.
SensitivityColumns scattered(std::size_t across, std::size_t layers, std::size_t stations,
                             const std::vector<Channel>& channels) {
  const double width = 50.0 * static_cast<double>(across), depth = 50.0 * static_cast<double>(layers);
  const auto lines = [](double from, std::size_t n) {
    std::vector<double> at;
    for (std::size_t i = 0; i <= n; ++i) at.push_back(from + 50.0 * static_cast<double>(i));
    return at;
  };
  const TensorMesh mesh(lines(0, across), lines(0, across), lines(-depth, layers));
  PrismSet cells;
  cells.reserve(mesh.size());
  for (std::size_t c = 0; c < mesh.size(); ++c) cells.push_back(mesh.prism(c));
  std::vector<Observable> observables;
  for (const auto channel : channels)
    observables.push_back(Observable::of(channel, default_gravitational_constant));
  return {std::move(cells),
          {random_between(0, width, stations, 1), random_between(0, width, stations, 2),
           random_between(10, 60, stations, 3)},
          std::move(observables),
          1e-9};
}

template <class Method>
std::vector<double> timed(benchmark::State& state, const SensitivityColumns& source,
                          const std::string& name) {
  double begin = user_seconds();
  const auto lap = [&](const char* what) {
    const double now = user_seconds();
    state.counters[name + what] = now - begin;
    begin = now;
  };
  const auto cost = Method::cost(source, accuracy, 0);
  lap("_foreseeing_seconds");
  const Method g(source, accuracy);
  lap("_making_seconds");
  std::vector<double> data(g.rows()), model(g.columns());
  const auto m = random_between(0, 1, g.columns(), 4), d = random_between(-1, 1, g.rows(), 5);
  g.apply(m, data);  // makes room
  lap("_first_product_seconds");
  g.apply(m, data);
  lap("_product_seconds");
  g.apply_transpose(d, model);
  lap("_transpose_seconds");
  state.counters[name + "_foreseen_product_seconds"] = cost.seconds_per_product;
  state.counters[name + "_foreseen_making_seconds"] = cost.seconds_to_make;
  state.counters[name + "_foreseen_bytes"] = cost.bytes;
  state.counters[name + "_bytes"] = g.bytes();
  state.counters[name + "_dot_product_test"] = solve::dot_product_test(g, m, d);
  return data;
}

void both(benchmark::State& state) {
  const auto source =
      scattered(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
                static_cast<std::size_t>(state.range(2)),
                state.range(3) == 1 ? std::vector{Channel::g_u}
                                    : std::vector{Channel::g_ee, Channel::g_nn, Channel::g_uu, Channel::g_en,
                                                  Channel::g_eu, Channel::g_nu});
  for (auto _ : state) {
    const auto by_fmm = timed<FmmSensitivity>(state, source, "fmm"),
               by_tree = timed<TreeSensitivity>(state, source, "tree");
    double most = 0, off = 0;
    for (std::size_t i = 0; i < by_fmm.size(); ++i) {
      most = std::max(most, std::fabs(by_tree[i]));
      off = std::max(off, std::fabs(by_tree[i] - by_fmm[i]));
    }
    state.counters["difference"] = off / most;
  }
  state.counters["cells"] = static_cast<double>(source.columns());
  state.counters["stations"] = static_cast<double>(source.stations().size());
}
BENCHMARK(both)
    ->ArgNames({"across", "layers", "stations", "channels"})
    ->Args({100, 20, 20000, 1})
    ->Args({100, 20, 20000, 6})
    ->Args({100, 20, 200000, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace terrane::gravity
