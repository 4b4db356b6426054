// Gravity of seven spheres (252 thousand prisms at 15,000 stations, ten quantities, nothing merged) on a
// device.
//
//   devices_gravity [device] [repeats] [direct]      prints JSON; direct: without the tree
//
// Seconds: on the device after the upload (lists of near tiles, all kernels, the reduction), by the host's
// clock; median. Whole: Summation::sum(), with the way back, pairs of the host and handing over. Before:
// everything until the end of the first sum(), less what later ones take: sorting, growing the tree, upload,
// the lists of what meets what, memory for the sums. Error: against the direct sum in double at best accuracy
// on the processors at 61 stations, relative to the largest value of each kind.
// Floor: FP64 instructions of the forms that the pairs take, 56, 91, 139, 217 for order 2, 4, 6, 8 and 648
// nearer, over the rate of one H200, 16.2e12 a second; two in float for one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>

#include "benchmarks/support/seven_spheres.hpp"
#include "terrane/mesh/order.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/tiles/device_kernels.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {
namespace {

using Clock = std::chrono::steady_clock;
using test::FieldTable;
using test::PrismList;
using test::StationList;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

FieldTable fields(Summation& engine, std::size_t stations) {
  Progress silent;
  FieldTable values(10, std::vector<double>(stations));
  engine.sum(
      0, engine.parts(),
      [&](std::size_t p, PartSums&& sums) {
        const auto part = engine.part(p);
        for (std::size_t c = 0; c < 10; ++c)
          for (std::size_t s = 0; s < part.stations.size(); ++s)
            values[c][part.stations[s]] = sums.values[c][s];
      },
      silent);
  return values;
}

/// The same prisms, each of a height of its own.
PrismList of_all_heights(PrismList prisms) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> cut(0, 10);
  for (double& top : prisms.top) top -= cut(random);
  return prisms;
}

/// At every 249th station.
FieldTable some(const FieldTable& all) {
  FieldTable few(10);
  for (std::size_t c = 0; c < 10; ++c)
    for (std::size_t n = 0; n < all[c].size(); n += 249) few[c].push_back(all[c][n]);
  return few;
}

/// Instructions that all pairs take, counted as the kernels choose.
double instructions(const PrismList& prisms, const StationList& stations, double accuracy) {
  constexpr double cost[5] = {56, 91, 139, 217, 648};
  const auto switching = Switching::for_accuracy(accuracy);
  std::vector<double> centre[3];
  const std::vector<double>*low[3] = {&prisms.west, &prisms.south, &prisms.bottom},
        *high[3] = {&prisms.east, &prisms.north, &prisms.top};
  for (int a = 0; a < 3; ++a)
    for (std::size_t n = 0; n < prisms.size(); ++n) centre[a].push_back(0.5 * ((*low[a])[n] + (*high[a])[n]));
  const auto boxes = [](std::span<const double> x, std::span<const double> y, std::span<const double> z) {
    const auto order = compact_order(x, y, z, device_tile);
    std::vector<DeviceTile> tiles;
    for (std::size_t first = 0; first < order.size(); first += device_tile) {
      DeviceTile t{};
      t.count = static_cast<std::uint32_t>(std::min<std::size_t>(device_tile, order.size() - first));
      for (int a = 0; a < 3; ++a) {
        const auto& at = a == 0 ? x : a == 1 ? y : z;
        t.low[a] = INFINITY;
        t.high[a] = -INFINITY;
        for (std::size_t i = first; i < first + t.count; ++i) {
          t.low[a] = std::min(t.low[a], at[order[i]]);
          t.high[a] = std::max(t.high[a], at[order[i]]);
        }
      }
      tiles.push_back(t);
    }
    return tiles;
  };
  auto tiles = boxes(centre[0], centre[1], centre[2]);
  const auto groups = boxes(stations.easting, stations.northing, stations.up);
  for (auto& tile : tiles) tile.longest = 160;
  double sum = 0;
  for (const auto& g : groups) {
    StationBox box;
    std::copy_n(g.low, 3, box.low);
    std::copy_n(g.high, 3, box.high);
    for (const auto& tile : tiles) sum += cost[far_order(switching, 0, tile, box)] * g.count * tile.count;
  }
  return sum;
}

int main_program(int argc, char** argv) {
  const Device device = resolve(device_from_text(argc > 1 ? argv[1] : "auto"));
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 7;
  const auto prisms = benchmarks::seven_spheres();
  const auto stations = benchmarks::grid(150, 100, 22000, 100);
  StationList few;
  for (std::size_t n = 0; n < stations.size(); n += 249)
    few.add(stations.easting[n], stations.northing[n], stations.up[n]);
  const auto truth = test::direct_field(prisms.view(), few.view(), best_accuracy);
  constexpr double rate = 16.2e12;
  const double pairs = static_cast<double>(prisms.size()) * static_cast<double>(stations.size());
  fmt::print("{{\"device\": \"{}\", \"prisms\": {}, \"stations\": {}, \"cases\": [", device_name(device),
             prisms.size(), stations.size());
  bool first = true;
  // until_first: from the start to the end of the first sum().
  const auto report = [&](const char* what, const FieldTable& right, double accuracy, Summation& engine,
                          double until_first, double count) {
    FieldTable values;
    std::vector<double> times, whole;
    for (int i = 0; i < repeats; ++i) {
      const auto begin = Clock::now();
      values = fields(engine, stations.size());
      whole.push_back(seconds_since(begin));
      times.push_back(dynamic_cast<DeviceSummation&>(engine).device_seconds());
    }
    const double time = median(times), before = until_first - median(whole);
    fmt::print(
        "{}\n {{\"what\": \"{}\", \"accuracy\": {}, \"seconds\": {:.6f}, \"least\": {:.6f}, \"most\": "
        "{:.6f}, "
        "\"whole_seconds\": {:.6f}, \"error\": {:.2e}, \"before\": {:.4f}",
        first ? "" : ",", what, accuracy, time, *std::min_element(times.begin(), times.end()),
        *std::max_element(times.begin(), times.end()), median(whole),
        test::largest_error(some(values), right), before);
    if (count > 0)
      fmt::print(
          ", \"pairs_per_second\": {:.4g}, \"instructions_per_pair\": {:.1f}, \"floor_seconds\": {:.6f}, "
          "\"share_of_floor\": {:.3f}",
          pairs / time, count / pairs, count / rate, count / rate / time);
    fmt::print("}}");
    std::fflush(stdout);
    first = false;
  };
  const auto direct = [&](const char* what, const PrismList& of, const FieldTable& right, double accuracy,
                          Precision precision) {
    const auto start = Clock::now();
    Parameters parameters;
    parameters.channels = ChannelSet::all();
    parameters.accuracy = accuracy;
    parameters.precision = precision;
    const auto engine = direct_sum_on_device(device, of.view(), stations.view(), parameters);
    fields(*engine, stations.size());
    const bool single = precision == Precision::single_precision;
    report(what, right, accuracy, *engine, seconds_since(start),
           instructions(of, stations, accuracy) / (single ? 2 : 1));
  };
  const auto tree = [&](double accuracy) {
    double until_first = 1e300;  // the least of three
    std::unique_ptr<Summation> engine;
    for (int i = 0; i < 3; ++i) {
      Progress silent;
      engine.reset();
      const auto start = Clock::now();
      engine = tree_sum_on_device(
          device,
          std::make_shared<Tree>(prisms.view(), stations.view(), ChannelSet::all(), accuracy, 0, silent),
          Precision::double_precision, silent);
      fields(*engine, stations.size());
      until_first = std::min(until_first, seconds_since(start));
    }
    report("tree", truth, accuracy, *engine, until_first, 0);
  };
  for (const double accuracy : {1e-12, 1e-9, 1e-6, best_accuracy})
    direct("direct double", prisms, truth, accuracy, Precision::double_precision);
  direct("direct single", prisms, truth, 1e-6, Precision::single_precision);
  const auto uneven = of_all_heights(prisms);
  const auto truth_of_uneven = test::direct_field(uneven.view(), few.view(), best_accuracy);
  direct("direct double, sizes differ", uneven, truth_of_uneven, 1e-12, Precision::double_precision);
  direct("direct double, sizes differ", uneven, truth_of_uneven, 1e-6, Precision::double_precision);
  direct("direct single, sizes differ", uneven, truth_of_uneven, 1e-6, Precision::single_precision);
  if (argc < 4)
    for (const double accuracy : {1e-6, 1e-9, 1e-12}) tree(accuracy);
  fmt::print("\n]}}\n");
  return 0;
}

}  // namespace
}  // namespace terrane::gravity

int main(int argc, char** argv) { return terrane::gravity::main_program(argc, argv); }
