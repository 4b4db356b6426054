#include "terrane/physics/gravity/run/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/direct/direct.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/direct/merge.hpp"
#include "terrane/physics/gravity/lattice/lattice.hpp"
#include "terrane/physics/gravity/lattice/lattice_device.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Costs of one core; a factor of two either way does no harm.
constexpr double seconds_an_operation = 0.25e-9;                         // of a pack
constexpr double seconds_to_sort = 25e-9;                                // a point and halving
constexpr double seconds_to_merge = 300e-9;                              // a prism
constexpr double least_tree_prism = 35e-9, least_tree_station = 0.5e-6;  // and decimal digit
constexpr double fast_enough = 2e-3;            // what no choice is worth thinking about
constexpr double finest_fast_accuracy = 1e-14;  // lattice and tree round like that
constexpr double gpu_start = 0.3;               // s: what a GPU takes before it computes anything
constexpr double share_of_gpu = 0.8;            // of its FP64 rate that the kernels reach

struct PairCost {
  double operations;  ///< of a pack
  bool near;          ///< no one multipole serves both tiles
  bool by_itself;     ///< in extended precision
};

/// One prism at one station, as kernels.hpp chooses.  r, h: distance from its centre and surface; pack, tile:
/// radius of a pack and of a tile of stations
PairCost pair_cost(const Switching& s, const PrismSwitching& p, double r, double h, double pack, double tile,
                   double lanes) {
  constexpr double far[4] = {63, 96, 144, 222};
  for (int order = 0; order < 4; ++order)
    if (r - tile >= s.multipole_from[order] * p.longest) return {far[order], false, false};
  if (r - pack >= s.multipole_from[3] * p.longest) return {far[3], true, false};
  if (r - pack >= 3 * p.longest) return {480, true, false};
  if (h * h >= p.stable_h2) return {740, true, false};
  if (p.stretched || h == 0) return {6000 * lanes, true, true};
  return {1400, true, false};
}

double share_of_channels(ChannelSet channels) {
  const auto size = kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size();
  return size == 1 ? 0.45 : size <= 4 ? 0.65 : size <= 6 ? 0.85 : 1.0;
}

std::string duration(double seconds) {
  if (!(seconds < infinity)) return "not possible";
  if (seconds < 1) return fmt::format("{:.2g} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

InputError no_lattice(const std::string& reason) {
  return {"simulation.method", fmt::format("prisms and stations form no lattice: {}", reason),
          "Write method = \"auto\"."};
}

}  // namespace

std::string describe(Device device, int threads) {
  if (device.kind == Device::Kind::cuda)
    return fmt::format("{} ({})", device_name(device), to_string(device));
  return fmt::format("{} ({}, {} threads)", to_string(device), kernel_target().name, thread_count(threads));
}

std::string_view name(Method method) {
  switch (method) {
    case Method::automatic:
      return "auto";
    case Method::direct:
      return "direct";
    case Method::lattice:
      return "lattice";
    case Method::tree:
      return "tree";
  }
  return "";
}

DirectCost direct_cost(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy) {
  const std::size_t m = prisms.size(), n = stations.size();
  if (m == 0 || n == 0) return {};
  const auto switching = Switching::for_accuracy(accuracy);
  const double lanes = kernel_target().kernels[0].lanes;
  const std::size_t prism_sample = std::min<std::size_t>(m, 1021),
                    station_sample = std::min<std::size_t>(n, 61);
  // A kernel looks at a pack of stations, or at two whole tiles, and takes the form that the nearest pair
  // needs.
  double diagonal = 0;
  for (const auto& axis : {stations.easting, stations.northing, stations.up}) {
    const auto [least, most] = std::minmax_element(axis.begin(), axis.end());
    diagonal += (*most - *least) * (*most - *least);
  }
  const auto radius = [&](double count) {
    return 0.5 * std::sqrt(diagonal * std::min(1.0, count / static_cast<double>(n)));
  };
  const double pack = radius(lanes), tile = radius(tile_size);
  double operations = 0, by_themselves = 0, near = 0;
  for (std::size_t i = 0; i < prism_sample; ++i) {
    const std::size_t p = i * m / prism_sample;
    const double low[3] = {prisms.west[p], prisms.south[p], prisms.bottom[p]},
                 high[3] = {prisms.east[p], prisms.north[p], prisms.top[p]};
    const PrismSwitching limits(switching, high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    for (std::size_t j = 0; j < station_sample; ++j) {
      const std::size_t s = j * n / station_sample;
      const double at[3] = {stations.easting[s], stations.northing[s], stations.up[s]};
      double r2 = 0, h2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double r = at[a] - (low[a] + 0.5 * (high[a] - low[a])),
                     h = std::max({low[a] - at[a], at[a] - high[a], 0.0});
        r2 += r * r;
        h2 += h * h;
      }
      const auto pair = pair_cost(switching, limits, std::sqrt(r2), std::sqrt(h2), pack, tile, lanes);
      operations += pair.operations;
      if (pair.by_itself) by_themselves += pair.operations;
      if (pair.near) ++near;
    }
  }
  const double pairs = static_cast<double>(m) * static_cast<double>(n);
  const auto sort = [](std::size_t count) {
    return seconds_to_sort * static_cast<double>(count) *
           std::max(1.0, std::log2(static_cast<double>(count) / tile_size));
  };
  const double sampled = static_cast<double>(prism_sample * station_sample),
               operation = pairs / sampled / lanes * seconds_an_operation * share_of_channels(channels);
  return {operations * operation, sort(m) + sort(n), by_themselves * operation, near / sampled};
}

namespace {

/// How much faster than one core the device does the arithmetic of the kernels.
double speed(Device device) {
  if (device.kind != Device::Kind::cuda) return 1;
  const double core = kernel_target().kernels[0].lanes / seconds_an_operation;
  return share_of_gpu * gpu(device.index).fp64_per_second / core;
}

/// What the direct sum takes on a device: prisms, stations and the sums of one part, or more of them.
double direct_bytes(std::size_t prisms, std::size_t stations, ChannelSet channels, const DirectCost& cost) {
  constexpr double groups_a_part = 32, tile = 32, tiles_a_piece = 4, most_chunks = 256;
  const double values = tile * static_cast<double>(
                                   sizeof(double) *
                                   kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size()),
               tiles = static_cast<double>(prisms) / tile, near = cost.near_share * tiles;
  return direct_device_bytes(prisms, stations) +
         groups_a_part * (std::min(tiles / 8 + 2, most_chunks + 1) * values + near * sizeof(std::uint32_t) +
                          (near / tiles_a_piece + 1) * (values + 24));
}

MemoryError no_room(const MethodPlan& plan, std::string_view instead) {
  return {"simulation.device",
          fmt::format("{} would need {} by the {} method, and {} are free", to_string(plan.device),
                      bytes_text(plan.device_bytes), name(plan.method),
                      bytes_text(static_cast<double>(device_memory(plan.device).free))),
          fmt::format("Write {}, or device = \"cpu\".", instead)};
}

/// The device asked for; where any will do, a GPU that is faster than the processors, has room for the direct
/// sum (which by prisms comes in chunks), and is worth its start for a run of so many seconds on them.
Device choose_device(const Parameters& parameters, double bytes, double seconds) {
  if (parameters.device.kind != Device::Kind::automatic) return resolve(parameters.device);
  const Device cpu{Device::Kind::cpu, -1};
  if (seconds < gpu_start) return cpu;
  const Device found = resolve(parameters.device);
  if (found.kind != Device::Kind::cuda || speed(found) <= thread_count(parameters.threads)) return cpu;
  const bool fits = bytes <= 0.8 * static_cast<double>(device_memory(found).free);
  return fits || parameters.partition == Partition::prisms ? found : cpu;
}

}  // namespace

MethodPlan plan(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                Progress* progress) {
  Progress silent;
  if (!progress) progress = &silent;
  const bool automatic = parameters.method == Method::automatic;
  const auto channels = parameters.channels;
  const double m = static_cast<double>(prisms.size()), n = static_cast<double>(stations.size());
  const int threads = thread_count(parameters.threads);

  MethodPlan plan;
  const auto direct = direct_cost(prisms, stations, channels, parameters.accuracy);
  const double digits = -std::log10(parameters.accuracy);
  // What the tree takes at least decides whether it is worth growing.
  const double tree_at_least = digits * (least_tree_prism * m + least_tree_station * n);
  const bool only_direct =
      parameters.method == Method::direct || (automatic && parameters.accuracy < finest_fast_accuracy);
  plan.device =
      choose_device(parameters, direct_bytes(prisms.size(), stations.size(), channels, direct),
                    (only_direct ? direct.seconds() : std::min(direct.seconds(), tree_at_least)) / threads);
  const bool on_device = plan.device.has_own_memory();
  // From here on in seconds of one core, of which there are `threads`; a second of a device is `threads`.
  const double faster = on_device ? speed(plan.device) / threads : 1;
  const auto seconds_of = [](const DirectCost& cost, double faster_by) {
    return (cost.arithmetic - cost.one_by_one) / faster_by + cost.one_by_one + cost.sorting;
  };
  plan.direct_seconds = seconds_of(direct, faster);
  // Whether prisms are merged shows in the last bits: where the method is given it must not depend on how
  // many threads a device is compared with.
  const double judged_by = automatic ? faster : 1;
  double judged = seconds_of(direct, judged_by);
  plan.lattice_seconds = plan.tree_seconds = infinity;
  plan.estimated_error = parameters.accuracy;
  const double budget = static_cast<double>(parameters.memory > 0 ? parameters.memory : available_memory());
  std::string not_lattice = "not looked for", why;
  bool too_large_for_device = false;  // for a fast method

  const bool small = judged < std::max(fast_enough, 60e-9 * m + 50e-9 * n);
  const bool fast_ones = prisms.size() > 0 && stations.size() > 0 &&
                         (!automatic || (!small && parameters.accuracy >= finest_fast_accuracy));
  if (automatic && parameters.accuracy < finest_fast_accuracy)
    why = "only the direct sum is as accurate as asked for";
  else if (automatic && small) why = "few pairs";

  if (fast_ones && (automatic || parameters.method == Method::lattice)) {
    if (auto lattice = recognise_lattice(prisms, stations, not_lattice, parameters.threads)) {
      plan.lattice = std::make_shared<LatticeOperator>(std::move(*lattice), channels);
      const auto cost = plan.lattice->cost();
      const auto there = on_device ? lattice_cost_on_device(*plan.lattice->plan()) : LatticeDeviceCost{};
      const bool fits = on_device ? there.bytes <= static_cast<double>(device_memory(plan.device).free)
                                  : static_cast<double>(cost.memory_bytes) <= budget;
      if (!automatic || fits) plan.lattice_seconds = on_device ? there.seconds * threads : cost.seconds;
      else {
        not_lattice = "it would not fit into the memory";
        too_large_for_device = on_device;
      }
    } else if (!automatic) {
      throw no_lattice(not_lattice);
    }
  }
  // Bars instead of prisms. Their number is known only afterwards; a few times the share of prisms that start
  // a bar is a guess from above, since bars may join again and are near to more stations.
  const double share =
      !small && (automatic || parameters.method == Method::direct) ? share_that_merges(prisms) : 0;
  const double merging = seconds_to_merge * m;
  const auto try_merging = [&] {
    auto merged = std::make_shared<MergedPrisms>(merge(prisms, parameters.threads, progress));
    const auto cost = direct_cost(merged->view(), stations, channels, parameters.accuracy);
    if (merging + seconds_of(cost, judged_by) >= judged) return;
    judged = merging + seconds_of(cost, judged_by);
    plan.direct_seconds = merging + seconds_of(cost, faster);
    plan.merged = std::move(merged);
  };
  std::string not_tree;
  // Keys, order and expansions while it grows; what trees have taken lies below.
  const double tree_bytes = m * (24 + 0.25 * (1.3 * digits + 4) * (1.3 * digits + 4));
  const auto best_yet = [&] { return std::min({judged, plan.lattice_seconds, plan.tree_seconds}); };
  bool tried = false;
  if (share > 0 && 2 * merging < best_yet() &&
      (!automatic || merging + 4 * (1 - share) * plan.direct_seconds < 3 * tree_at_least)) {
    try_merging();
    tried = true;
  }
  if (fast_ones && (parameters.method == Method::tree ||
                    (automatic && best_yet() > 1.5 * tree_at_least && tree_bytes <= budget))) {
    plan.tree = std::make_shared<Tree>(prisms, stations, channels, parameters.accuracy, parameters.threads,
                                       *progress);
    const auto cost = plan.tree->cost(*progress);
    plan.tree_seconds = (cost.seconds - cost.one_by_one_seconds) / faster + cost.one_by_one_seconds;
    plan.memory_bytes = cost.memory_bytes;
    if (on_device) {
      const auto there = tree_memory_on_device(*plan.tree, cost);
      plan.device_bytes = there.device;
      plan.memory_bytes += static_cast<std::size_t>(there.host);
      if (automatic && there.device > static_cast<double>(device_memory(plan.device).free)) {
        plan.tree_seconds = infinity;
        too_large_for_device = true;
        not_tree = "no tree (it would not fit into the memory of the device)";
      }
    }
  }
  if (share > 0 && !tried && 2 * merging < best_yet()) try_merging();

  plan.method = parameters.method;
  if (automatic) {
    plan.method = Method::direct;
    if (plan.lattice_seconds < plan.direct_seconds) plan.method = Method::lattice;
    if (plan.tree_seconds < std::min(plan.direct_seconds, plan.lattice_seconds)) plan.method = Method::tree;
  } else if (!fast_ones) {
    plan.method = Method::direct;  // nothing to compute
  }
  switch (plan.method) {
    case Method::lattice:
      // On a device the transforms are there.
      plan.memory_bytes = on_device ? prisms.size() * 2 * sizeof(std::uint32_t) + stations.size() * 64
                                    : plan.lattice->cost().memory_bytes;
      if (on_device) plan.device_bytes = lattice_cost_on_device(*plan.lattice->plan()).bytes;
      plan.seconds = plan.lattice_seconds;
      plan.estimated_error = 1e-14;
      break;
    case Method::tree:
      plan.estimated_error = std::max(parameters.accuracy, finest_fast_accuracy);
      plan.seconds = plan.tree_seconds + digits * least_tree_prism * m;  // with what growing it has taken
      break;
    default:
      plan.memory_bytes = DirectPlan(plan.merged ? plan.merged->size() : prisms.size(), stations.size(),
                                     channels, parameters.threads)
                              .memory_bytes +
                          (plan.merged ? 7 * sizeof(double) * plan.merged->size() : 0);
      if (on_device)
        plan.device_bytes = direct_bytes(plan.merged ? plan.merged->size() : prisms.size(), stations.size(),
                                         channels, direct);
      plan.seconds = plan.direct_seconds;
  }
  // A direct sum that does not fit goes to the device chunk by chunk, unless parts of stations are asked for.
  const bool whole = plan.method != Method::direct || parameters.partition == Partition::stations;
  if (on_device && whole && plan.device_bytes > static_cast<double>(device_memory(plan.device).free)) {
    if (parameters.device.kind != Device::Kind::automatic)
      throw no_room(plan, plan.method == Method::direct ? "partition = \"prisms\"" : "method = \"direct\"");
    auto here = parameters;
    here.device = {Device::Kind::cpu, -1};
    return gravity::plan(prisms, stations, here, progress);
  }
  if (on_device && parameters.precision == Precision::single_precision)
    plan.estimated_error = std::max(plan.estimated_error, single_accuracy);
  if (plan.method != Method::tree) plan.tree.reset();
  if (plan.method != Method::lattice) plan.lattice.reset();
  if (plan.method != Method::direct) plan.merged.reset();
  plan.seconds /= threads;
  if (too_large_for_device && parameters.device.kind == Device::Kind::automatic) {
    auto here = parameters;
    here.device = {Device::Kind::cpu, -1};
    auto other = gravity::plan(prisms, stations, here, progress);
    if (other.seconds < plan.seconds) return other;
  }

  plan.reason = automatic ? why : "asked for";
  if (automatic && why.empty()) {
    plan.reason = fmt::format("direct {}", duration(plan.direct_seconds / threads));
    plan.reason += plan.lattice_seconds < infinity
                       ? fmt::format(", lattice {}", duration(plan.lattice_seconds / threads))
                       : fmt::format(", no lattice ({})", not_lattice);
    plan.reason += plan.tree_seconds < infinity
                       ? fmt::format(", tree {}", duration(plan.tree_seconds / threads))
                   : !not_tree.empty() ? ", " + not_tree
                                       : fmt::format(", tree at least {}", duration(tree_at_least / threads));
  }
  if (plan.merged) plan.reason += (plan.reason.empty() ? "" : "; ") + plan.merged->text();
  return plan;
}

std::shared_ptr<Summation> MethodPlan::summation(const Prisms& prisms, const Stations& stations,
                                                 const Parameters& parameters, Progress& progress) const {
  const auto& sources = merged ? merged->view() : prisms;
  const bool on_device = device.has_own_memory();
  switch (method) {
    case Method::lattice:
      if (on_device)
        return lattice_sum_on_device(device, lattice->plan(), prisms.density, parameters.threads);
      return std::make_shared<LatticeSummation>(lattice, prisms.density, parameters.threads);
    case Method::tree:
      if (on_device) return tree_sum_on_device(device, tree, parameters.precision, progress);
      return tree;
    default:
      if (on_device) return direct_sum_on_device(device, sources, stations, parameters);
      return std::make_shared<DirectSummation>(sources, stations, parameters.channels, parameters.accuracy,
                                               parameters.threads);
  }
}

std::shared_ptr<Summation> summation(const Prisms& prisms, const Stations& stations,
                                     const Parameters& parameters, Progress& progress) {
  MethodPlan plan;
  plan.method = parameters.method;
  plan.device = parameters.device;
  if (plan.method == Method::lattice) {
    std::string reason;
    auto lattice = recognise_lattice(prisms, stations, reason, parameters.threads);
    if (!lattice) throw no_lattice(reason);
    plan.lattice = std::make_shared<LatticeOperator>(std::move(*lattice), parameters.channels);
  } else if (plan.method == Method::tree) {
    plan.tree = std::make_shared<Tree>(prisms, stations, parameters.channels, parameters.accuracy,
                                       parameters.threads, progress);
  }
  return plan.summation(prisms, stations, parameters, progress);
}

PartSums run(const MethodPlan& plan, const Prisms& prisms, const Stations& stations,
             const Parameters& parameters, Progress& progress) {
  return sum_all(*plan.summation(prisms, stations, parameters, progress), parameters.channels,
                 stations.size(), progress);
}

}  // namespace terrane::gravity
