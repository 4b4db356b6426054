#include "terrane/physics/gravity/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/gravity/run/checkpoint.hpp"
#include "terrane/physics/gravity/run/distribute.hpp"
#include "terrane/physics/gravity/run/magnitude.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/run/verify.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"

namespace terrane::gravity {

namespace {

/// Within these limits no product in the formulas and no moment of order 8 leaves the range of double
/// precision.
constexpr double farthest = 1e15;  // m; a light year has 9.5e15
constexpr double densest = 1e20;   // kg/m3; a neutron star has 1e18

/// Throws InputError if an array that is written shares memory with another.
void check_apart(const Prisms& prisms, const Stations& stations, const Fields& out) {
  struct Memory {
    std::string name;
    std::span<const double> values;
    bool written;
  };
  std::vector<Memory> all{{"west", prisms.west, false},           {"east", prisms.east, false},
                          {"south", prisms.south, false},         {"north", prisms.north, false},
                          {"bottom", prisms.bottom, false},       {"top", prisms.top, false},
                          {"density", prisms.density, false},     {"easting", stations.easting, false},
                          {"northing", stations.northing, false}, {"up", stations.up, false}};
  const auto channels = out.channels.list();
  for (std::size_t c = 0; c < out.values.size(); ++c)
    all.push_back({fmt::format("out for {}", name(channels[c])), out.values[c], true});
  const std::less<const double*> before;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const auto &x = all[a].values, &y = all[b].values;
      if (x.empty() || y.empty() || !(all[a].written || all[b].written)) continue;
      if (before(x.data(), y.data() + y.size()) && before(y.data(), x.data() + x.size()))
        throw InputError(fmt::format("forward: {}", all[a].name),
                         fmt::format("shares memory with {}", all[b].name),
                         "Every array that is written needs memory of its own.");
    }
}

void check_lengths(const Prisms& prisms, const Stations& stations, const Fields& out) {
  const auto check = [](const char* name, std::size_t size, const char* of, std::size_t wanted) {
    if (size != wanted)
      throw ShapeError(fmt::format("forward: {}", name),
                       fmt::format("{} values where {} has {}", size, of, wanted),
                       "Arrays that belong together have one entry each.");
  };
  check("east", prisms.east.size(), "west", prisms.size());
  check("south", prisms.south.size(), "west", prisms.size());
  check("north", prisms.north.size(), "west", prisms.size());
  check("bottom", prisms.bottom.size(), "west", prisms.size());
  check("top", prisms.top.size(), "west", prisms.size());
  check("density", prisms.density.size(), "west", prisms.size());
  check("northing", stations.northing.size(), "easting", stations.size());
  check("up", stations.up.size(), "easting", stations.size());
  check("out", out.values.size(), "the list of channels", out.channels.size());
  for (const auto& values : out.values) check("out", values.size(), "easting", stations.size());
  if (!out.singular.empty()) check("singular", out.singular.size(), "easting", stations.size());
}

}  // namespace

void check_values(const Prisms& prisms, const Stations& stations) {
  const auto near = [](double length) { return std::abs(length) <= farthest; };  // false for NaN
  const auto axis = [&](const char* low_name, std::span<const double> low, const char* high_name,
                        std::span<const double> high) {
    const auto n = first_where(
        low.size(), 0, [&](std::size_t k) { return !(near(low[k]) && near(high[k]) && high[k] > low[k]); });
    if (n < low.size())
      throw InputError(fmt::format("forward: prism {}", n),
                       fmt::format("{} {} m and {} {} m", low_name, low[n], high_name, high[n]),
                       fmt::format("{} must be less than {}, and both finite, from -{:g} to {:g} m.",
                                   low_name, high_name, farthest, farthest));
  };
  axis("west", prisms.west, "east", prisms.east);
  axis("south", prisms.south, "north", prisms.north);
  axis("bottom", prisms.bottom, "top", prisms.top);
  const auto& density = prisms.density;
  const auto dense =
      first_where(density.size(), 0, [&](std::size_t k) { return !(std::abs(density[k]) <= densest); });
  if (dense < density.size())
    throw InputError(
        fmt::format("forward: prism {}", dense), fmt::format("density {} kg/m3", density[dense]),
        fmt::format("Densities are finite, from -{:g} to {:g} kg/m3; leave out prisms that take no"
                    " part.",
                    densest, densest));
  const auto far = first_where(stations.size(), 0, [&](std::size_t k) {
    return !(near(stations.easting[k]) && near(stations.northing[k]) && near(stations.up[k]));
  });
  if (far < stations.size())
    throw InputError(
        fmt::format("forward: station {}", far),
        fmt::format("easting {}, northing {}, up {}", stations.easting[far], stations.northing[far],
                    stations.up[far]),
        fmt::format("Coordinates are finite numbers in metres, from -{:g} to {:g}.", farthest, farthest));
}

namespace {

void check_parameters(const Parameters& p) {
  if (!(p.accuracy >= best_accuracy && p.accuracy <= loosest_accuracy))
    throw InputError(
        "forward: accuracy", fmt::format("{} is out of range", p.accuracy),
        fmt::format("Allowed: from {} (\"best\") to {}, relative.", best_accuracy, loosest_accuracy));
  if (!(std::isfinite(p.gravitational_constant) && p.gravitational_constant > 0))
    throw InputError("forward: gravitational_constant",
                     fmt::format("{} is not possible", p.gravitational_constant),
                     "It is about 6.6743e-11 m3 kg-1 s-2.");
  if (p.threads < 0)
    throw InputError("forward: threads", fmt::format("{} threads", p.threads),
                     "Give 0 for as many as there are, or a positive number.");
  if (p.partition == Partition::prisms && p.method != Method::automatic && p.method != Method::direct)
    throw InputError("forward: partition",
                     fmt::format("prisms cannot be shared by the {} method", name(p.method)),
                     "Ask for the direct method, or for a partition by stations.");
}

/// Applies the singular policy to the stations in contact with prisms.
void settle_contacts(const std::vector<Contact>& contacts, const Parameters& parameters, const Fields& out,
                     Report& report) {
  const auto channels = out.channels.list();
  for (std::size_t first = 0; first < contacts.size();) {
    const std::size_t station = contacts[first].station;
    std::array<double, 8> densities{};
    bool inside = false, on_surface = false;
    std::size_t last = first;
    for (; last < contacts.size() && contacts[last].station == station; ++last) {
      inside = inside || contacts[last].inside();
      on_surface = on_surface || !contacts[last].inside();
      for (std::size_t o = 0; o < 8; ++o)
        if (contacts[last].octants >> o & 1) densities[o] += contacts[last].density;
    }
    first = last;
    report.inside_stations +=
        inside || std::all_of(densities.begin(), densities.end(), [](double rho) { return rho != 0; });
    if (!on_surface) continue;
    bool singular = false;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const auto fix = correction(channels[c], densities, parameters.singular);
      singular = singular || fix.singular;
      if (fix.undefined) out.values[c][station] = std::nan("");
      else if (fix.singular) out.values[c][station] += parameters.gravitational_constant * fix.add;
    }
    report.singular_stations += singular;
    if (singular && !out.singular.empty()) out.singular[station] = 1;
  }
}

/// The settings of a run; a resumed run uses the method and partition of its checkpoint.
struct Intent {
  Parameters wanted;
  bool method_of_checkpoint = false, partition_of_checkpoint = false;
};

Intent intent_of(const Stations& stations, const Parameters& parameters, const Fields& out,
                 std::size_t budget, const Runtime& runtime) {
  Intent intent{parameters};
  auto& wanted = intent.wanted;
  wanted.memory = budget;
  wanted.channels = out.channels;
  if (runtime.checkpoint.resume && !runtime.checkpoint.file.empty())
    wanted = as_in_checkpoint(runtime.checkpoint.file, stations, wanted);
  intent.method_of_checkpoint = wanted.method != parameters.method;
  intent.partition_of_checkpoint = wanted.partition != parameters.partition;
  // Only the direct sum can be divided among ranks by prisms.
  if (wanted.partition == Partition::prisms) wanted.method = Method::direct;
  if (runtime.comm) wanted.device = shared_device(wanted.device, *runtime.comm);
  return intent;
}

MethodPlan planned(const Prisms& prisms, const Stations& stations, Intent& intent, Progress& progress,
                   const Runtime& runtime) {
  auto& wanted = intent.wanted;
  auto chosen = [&] {
    try {
      return plan(prisms, stations, wanted, &progress);
    } catch (const InputError& error) {
      if (!intent.method_of_checkpoint) throw;
      throw InputError("--resume",
                       fmt::format("{} was made with method {}, which cannot be had here: {}",
                                   runtime.checkpoint.file.string(), name(wanted.method), error.problem()),
                       "It may be of another model: run without --resume to start afresh.");
    }
  }();
  // Each rank uses one GPU, chosen by the index of the rank on its node.
  const Device asked = wanted.device;
  if (chosen.device.kind == Device::Kind::cuda && asked.index < 0 && runtime.comm)
    chosen.device = resolve({Device::Kind::cuda, -1, asked.shared_by}, runtime.comm->on_node().index);
  wanted.device = {chosen.device.kind, asked.index, asked.shared_by};
  return chosen;
}

/// Copies the choices of the plan into the report.
void put_into(Report& report, const MethodPlan& chosen, const Intent& intent, const Runtime& runtime,
              int threads) {
  const bool alone = !runtime.comm || runtime.comm->size() == 1;  // with several ranks, each has a GPU of its
                                                                  // own
  report.device = alone || chosen.device.kind != Device::Kind::cuda ? describe(chosen.device, threads)
                                                                    : device_name(chosen.device);
  report.method = name(chosen.method);
  report.reason = intent.method_of_checkpoint ? "as in the checkpoint" : chosen.reason;
  report.memory_bytes = chosen.memory_bytes;
  report.estimated_error = chosen.estimated_error;
}

/// Chooses the partition. Throws MemoryError: the checkpoint divides the run by stations, and these ranks
/// lack the memory for that.
void settle_partition(MethodPlan& chosen, Intent& intent, std::size_t budget, const Runtime& runtime) {
  auto& wanted = intent.wanted;
  if (intent.partition_of_checkpoint && wanted.partition == Partition::stations) {
    auto open = chosen;
    open.parameters.partition = Partition::automatic;
    if (choose_partition(open, runtime, budget) == Partition::prisms)
      throw MemoryError("--resume",
                        fmt::format("{} was made by stations, and by stations the ranks of this node, or its "
                                    "device, would need more memory than there is",
                                    runtime.checkpoint.file.string()),
                        "Start fewer ranks on each node, or run without --resume to start afresh.");
  }
  chosen.parameters = wanted;
  chosen.parameters.partition = wanted.partition = choose_partition(chosen, runtime, budget);
}

/// out = G · sums. Warns of values that are not finite.
void scale_into(const Fields& out, const PartSums& sums, const Parameters& parameters, Report& report) {
  const std::size_t stations = report.stations;
  constexpr std::size_t chunk = 1 << 16;
  const std::size_t chunks = (stations + chunk - 1) / chunk;
  std::vector<std::size_t> not_finite(sums.values.size() * chunks);
  for_each(not_finite.size(), chunks > 1 ? parameters.threads : 1, [&](std::size_t task) {
    const std::size_t c = task / chunks, first = task % chunks * chunk;
    for (std::size_t n = first; n < std::min(first + chunk, stations); ++n) {
      const double value = parameters.gravitational_constant * sums.values[c][n];
      not_finite[task] += !std::isfinite(value);
      out.values[c][n] = value;
    }
  });
  if (const auto lost = std::accumulate(not_finite.begin(), not_finite.end(), std::size_t{0}); lost > 0)
    report.warnings.push_back(fmt::format(
        "{} of {} values are not finite: lengths, or distances to prisms, are too small or too large "
        "for the formulas in this precision",
        lost, sums.values.size() * stations));
}

void put_into(Report& report, const Verification& check) {
  report.verified_stations = check.stations;
  report.verified_error = check.error;
  report.verified_by = check.quadruple ? "quadruple precision" : "the direct sum at its best";
  if (!check.quadruple)
    report.warnings.emplace_back(
        "verified against the direct sum: quadruple precision would have taken too long");
}

/// Bytes that a run may allocate. If the job sets no limit: the free memory, which is queried before
/// planning, because planning allocates some of it; a run with at most `large` prisms and stations together
/// has no limit.
std::size_t budget_of(const Parameters& parameters, std::size_t prisms_and_stations) {
  constexpr std::size_t large = 100000;
  if (parameters.memory > 0) return parameters.memory;
  return prisms_and_stations > large ? available_memory() : std::numeric_limits<std::size_t>::max();
}

void round_to_single(const Fields& out, Report& report) {
  report.estimated_error += 0.5 * std::numeric_limits<float>::epsilon();
  for (const auto& values : out.values)
    for (double& v : values) v = static_cast<double>(static_cast<float>(v));
}

}  // namespace

/// Checks the input, plans (as the checkpoint says, if there is one), puts the plan into the report, shares
/// the sum among ranks, scales it, applies the singular policy on edges and faces, and estimates the rounding
/// error.
Report forward(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
               const Fields& out, Progress* progress, const Runtime& runtime) {
  check_lengths(prisms, stations, out);
  check_apart(prisms, stations, out);
  check_parameters(parameters);
  check_values(prisms, stations);
  const auto start = std::chrono::steady_clock::now();
  Progress silent;
  if (!progress) progress = &silent;

  Report report;
  report.sources = prisms.size();
  report.stations = stations.size();
  report.pairs = static_cast<double>(prisms.size()) * static_cast<double>(stations.size());
  const std::size_t budget = budget_of(parameters, prisms.size() + stations.size());
  auto intent = intent_of(stations, parameters, out, budget, runtime);
  auto chosen = planned(prisms, stations, intent, *progress, runtime);
  put_into(report, chosen, intent, runtime, parameters.threads);
  // For a small run no memory limit is determined (budget_of): querying the free memory would take longer
  // than the sum.
  MemoryBudget{budget}.require(
      "forward",
      fmt::format("{} prisms at {} stations by the {} method", prisms.size(), stations.size(), report.method),
      static_cast<double>(report.memory_bytes));

  settle_partition(chosen, intent, budget, runtime);
  const auto& wanted = intent.wanted;
  // Estimates the rounding error; if a device computes the sums, the CPU does this meanwhile.
  const int threads = thread_count(parameters.threads);
  Magnitude size;
  const auto look = [&](int on_threads, Progress& shown) {
    size = magnitude(prisms, stations, seconds_to_look(chosen.seconds, threads), on_threads, shown);
  };
  ShareOfProgress quiet(*progress, 0);  // advances no progress, but still reports cancellation
  const bool beside = chosen.device.has_own_memory();
  auto distributed =
      distribute(chosen, runtime, *progress,
                 beside ? std::function<void()>([&] { look(std::max(1, threads - 2), quiet); }) : nullptr);
  if (!beside) look(parameters.threads, *progress);
  const auto& sums = distributed.sums;
  report.notes = std::move(distributed.notes);
  report.warnings = std::move(distributed.warnings);
  report.device = describe(report.device, wanted.partition, runtime);
  scale_into(out, sums, parameters, report);
  std::fill(out.singular.begin(), out.singular.end(), static_cast<unsigned char>(0));
  if (out.contacts != nullptr) *out.contacts = sums.contacts;
  else settle_contacts(sums.contacts, parameters, out, report);
  report_rounding(size, largest_values(out, parameters.threads), out.channels,
                  parameters.gravitational_constant,
                  {wanted.accuracy, chosen.estimated_error, chosen.method == Method::direct}, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (parameters.verify > 0)
    put_into(report, verify(prisms, stations, wanted, parameters.verify, out, sums.contacts, *progress));
  if (parameters.precision == Precision::single_precision) round_to_single(out, report);
  return report;
}

}  // namespace terrane::gravity
