// First arrivals of one shot by fast marching, on one core: nodes per second, by the order of the differences
// and the rock; and a product with Jᵀ.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

#include "terrane/physics/traveltime/front.hpp"

namespace {

using namespace terrane;
using namespace terrane::traveltime;

/// n³ cells of 10 m; velocity linear in depth, or with a fast layer.
Medium rock(std::size_t n, bool layered) {
  const double side = 10 * static_cast<double>(n);
  const auto mesh = TensorMesh::regular({0, side, 0, side, -side, 0}, {n, n, n});
  std::vector<double> velocity;
  for (std::size_t c = 0; c < mesh.size(); ++c) {
    const double down = -(mesh.prism(c).bottom + mesh.prism(c).top) / 2;
    velocity.push_back(!layered ? 1500 + down : down < side / 4 ? 1500 : 3000);
  }
  return Medium(mesh, velocity);
}

void march_shot(benchmark::State& state) {
  const auto medium = rock(static_cast<std::size_t>(state.range(0)), state.range(2) != 0);
  const double side = 10 * static_cast<double>(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(march(medium, {side / 3, side / 2, -5}, static_cast<int>(state.range(1))));
  state.counters["nodes/s"] = benchmark::Counter(static_cast<double>(medium.nodes().size()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(march_shot)
    ->ArgNames({"n", "order", "layered"})
    ->Args({64, 1, 0})
    ->Args({64, 2, 0})
    ->Args({64, 2, 1})
    ->Args({96, 2, 0})
    ->Unit(benchmark::kMillisecond);

void transpose(benchmark::State& state) {
  const auto medium = rock(64, false);
  const auto front = march(medium, {200, 320, -5}, 2);
  std::vector<double> weights(100, 1.0), cells(medium.mesh().size());
  std::vector<Point> receivers;
  for (std::size_t n = 0; n < weights.size(); ++n)
    receivers.push_back({6.0 * static_cast<double>(n), 300, 0});
  for (auto _ : state) {
    Derivative(medium, front).add_transpose(weights, receivers, cells);
    benchmark::DoNotOptimize(cells.data());
  }
  state.counters["nodes/s"] = benchmark::Counter(static_cast<double>(medium.nodes().size()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(transpose)->Unit(benchmark::kMillisecond);

}  // namespace
