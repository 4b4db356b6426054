// Fast multipoles on a device: a mesh of a box of 10 × 10 × 5 km under scattered stations 50 to 100 m above
// it.
//
//   devices_multipoles DEVICE [cells layers stations accuracy leaf order [tree]]...      prints JSON
//
// of each case: cells × cells × layers prisms; leaf and order: the method's own settings, 0 as it chooses;
// the tree beside it where that word follows. Seconds by the host's clock: grow, sorting prisms and stations;
// prepare, tolerances and a look at what the sum takes; bring, prisms to the device; first, the first sum()
// with the lists, the expansions and their way; whole, a later sum(); device, of that what the device
// computes. Error: against the direct sum to 1e-13 on the same device at 64 stations, relative to the largest
// value of each kind.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "support/prism_field.hpp"
#include "terrane/physics/gravity/direct/direct_device.hpp"
#include "terrane/physics/gravity/fmm/fmm_device.hpp"
#include "terrane/physics/gravity/tiles/device_sum.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"
#include "terrane/physics/gravity/tree/tree_device.hpp"

namespace terrane::gravity {
namespace {

using Clock = std::chrono::steady_clock;
using test::FieldTable;
using test::PrismList;
using test::StationList;

struct Case {
  int cells = 50, layers = 40;
  std::size_t stations = 1000000;
  double accuracy = 1e-6;
  Fmm::ForDevice settings{0, 0};
  bool tree = false;
};

/// Seconds since it was last asked.
class Watch {
 public:
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  Clock::time_point last_ = Clock::now();
};

FieldTable at_some(const FieldTable& all, std::size_t step) {
  FieldTable few(all.size());
  for (std::size_t c = 0; c < all.size(); ++c)
    for (std::size_t n = 0; n < all[c].size(); n += step) few[c].push_back(all[c][n]);
  return few;
}

/// The rest of a row: the sums, once and again, and their error.
template <class Engine>
void finish(Engine& engine, std::size_t stations, const FieldTable& truth, std::size_t step, Watch& watch) {
  Progress silent;
  auto& sum = dynamic_cast<DeviceSummation&>(*engine);
  sum_all(sum, ChannelSet::all(), stations, silent);
  const double first = watch.lap(), first_device = sum.device_seconds();
  const auto values = sum_all(sum, ChannelSet::all(), stations, silent).values;
  const double whole = watch.lap();
  fmt::print(
      "\"first\": {:.4f}, \"first_device\": {:.4f}, \"whole\": {:.4f}, \"device_seconds\": {:.4f}, "
      "\"error\": {:.2e}",
      first, first_device, whole, sum.device_seconds(), test::largest_error(at_some(values, step), truth));
}

void report(Device device, const Case& c) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> density(100, 500);
  const auto prisms = test::mesh_block({0, 10000, 0, 10000, -5000, 0}, {c.cells, c.cells, c.layers},
                                       [&](int, int, int) { return density(random); });
  const auto stations = test::random_stations({0, 10000, 0, 10000, 50, 100}, c.stations, random);
  StationList few;
  const std::size_t step = std::max<std::size_t>(1, stations.size() / 64);
  for (std::size_t n = 0; n < stations.size(); n += step)
    few.add(stations.easting[n], stations.northing[n], stations.up[n]);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = 1e-13;
  Progress silent;
  const auto truth = sum_all(*direct_sum_on_device(device, prisms.view(), few.view(), parameters),
                             ChannelSet::all(), few.size(), silent)
                         .values;
  Watch watch;
  const auto fmm = std::make_shared<Fmm>(prisms.view(), stations.view(), ChannelSet::all(), c.accuracy, 0,
                                         silent, c.settings);
  const double grow = watch.lap();
  const auto cost = fmm->cost(silent);
  const double prepare = watch.lap();
  {
    const auto engine = fmm_sum_on_device(device, fmm, Precision::double_precision, silent);
    fmt::print(
        "{{\"prisms\": {}, \"stations\": {}, \"accuracy\": {}, \"leaf\": {}, \"order\": {},\n"
        " \"translations\": {:.0f}, \"near_pairs_per_station\": {:.0f}, \"clusters\": {},\n"
        " \"fmm\": {{\"grow\": {:.4f}, \"prepare\": {:.4f}, \"bring\": {:.4f}, ",
        prisms.size(), stations.size(), c.accuracy, c.settings.leaf, fmm->tree().order(), cost.translations,
        cost.near_pairs / static_cast<double>(stations.size()), fmm->tree().clusters(), grow, prepare,
        watch.lap());
    finish(engine, stations.size(), truth, step, watch);
  }
  if (c.tree) {
    watch.lap();
    const auto tree =
        std::make_shared<Tree>(prisms.view(), stations.view(), ChannelSet::all(), c.accuracy, 0, silent);
    fmt::print("}},\n \"tree\": {{\"grow\": {:.4f}, ", watch.lap());
    const auto engine = tree_sum_on_device(device, tree, Precision::double_precision, silent);
    fmt::print("\"bring\": {:.4f}, ", watch.lap());
    finish(engine, stations.size(), truth, step, watch);
  }
  fmt::print("}}}}");
  std::fflush(stdout);
}

int main_program(int argc, char** argv) {
  const Device device = resolve(device_from_text(argc > 1 ? argv[1] : "auto"));
  fmt::print("{{\"device\": \"{}\", \"cases\": [\n", device_name(device));
  for (int a = 2; a < argc;) {
    Case c;
    const auto number = [&] { return a < argc ? std::atof(argv[a++]) : 0.0; };
    const bool first = a == 2;
    c.cells = static_cast<int>(number());
    c.layers = static_cast<int>(number());
    c.stations = static_cast<std::size_t>(number());
    c.accuracy = number();
    c.settings.leaf = static_cast<std::size_t>(number());
    c.settings.order = static_cast<int>(number());
    if (a < argc && std::string_view(argv[a]) == "tree") {
      c.tree = true;
      ++a;
    }
    if (!first) fmt::print(",\n");
    report(device, c);
  }
  fmt::print("\n]}}\n");
  return 0;
}

}  // namespace
}  // namespace terrane::gravity

int main(int argc, char** argv) { return terrane::gravity::main_program(argc, argv); }
