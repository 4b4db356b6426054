// Gravity of filled lattices of prisms (ten quantities) by the lattice method on a device.
//
//   devices_lattice [device] [east north layers stations_east stations_north]      prints JSON
//
// Without sizes: 512 × 512 × 32 cells at 512 × 512 stations and, on a GPU, 1000 × 1000 × 100 at 1000 × 1000.
// Cells of 50 × 50 × 20 m, densities at random, stations over their centres 30 m above the top layer.
//
// Times: recognising the lattice; preparing (tables of layers, upload); the sum, everything included (tables
// of K, FFTs, the download), the first time and the median of later times; and all of it once from the lists
// of prisms and stations to the values. Error: against the direct sum in double at best accuracy on the
// processors at stations spread over the survey, few enough for 2e9 pairs, relative to the largest value of
// each kind there. Floor: bytes of the FFTs and what feeds them (lattice_device.cu), over the rate of the
// device (4270e9 a second on one H200).
#include "terrane/physics/gravity/lattice/lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "support/prism_field.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/lattice/lattice_device.hpp"

namespace terrane::gravity {
namespace {

using Clock = std::chrono::steady_clock;
using test::FieldTable;
using test::PrismList;
using test::StationList;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Case {
  std::size_t cells[3], stations[2];
};

constexpr double side[3] = {50, 50, 20};

PrismList prisms_of(const Case& c) {
  const std::size_t count = c.cells[0] * c.cells[1] * c.cells[2];
  PrismList list;
  for (auto* column :
       {&list.west, &list.east, &list.south, &list.north, &list.bottom, &list.top, &list.density})
    column->resize(count);
  for_each(c.cells[1] * c.cells[2], 0, [&](std::size_t row) {
    const auto j = static_cast<double>(row % c.cells[1]), k = static_cast<double>(row / c.cells[1]),
               top = static_cast<double>(c.cells[2]);
    std::uint32_t noise = static_cast<std::uint32_t>(row) * 2654435761U + 1;
    for (std::size_t i = 0; i < c.cells[0]; ++i) {
      const std::size_t n = row * c.cells[0] + i;
      const auto x = static_cast<double>(i);
      list.west[n] = x * side[0];
      list.east[n] = (x + 1) * side[0];
      list.south[n] = j * side[1];
      list.north[n] = (j + 1) * side[1];
      list.bottom[n] = (k - top) * side[2];
      list.top[n] = (k + 1 - top) * side[2];
      noise = noise * 1664525U + 1013904223U;
      list.density[n] = 200 + 400 * (static_cast<double>(noise >> 8) * 0x1p-24);
    }
  });
  return list;
}

StationList stations_of(const Case& c) {
  StationList list;
  for (std::size_t j = 0; j < c.stations[1]; ++j)
    for (std::size_t i = 0; i < c.stations[0]; ++i)
      list.add((static_cast<double>(i) + 0.5) * side[0], (static_cast<double>(j) + 0.5) * side[1], 30);
  return list;
}

/// The direct sum, slab by slab: the prisms are in order already.
FieldTable truth_at(const PrismList& prisms, const StationList& stations) {
  constexpr std::size_t slab = 1 << 17;
  const auto all = prisms.view();
  const auto cut = [&](std::span<const double> column, std::size_t first) {
    return column.subspan(first, std::min(slab, column.size() - first));
  };
  std::vector<FieldTable> parts((prisms.size() + slab - 1) / slab);
  for_each(parts.size(), 0, [&](std::size_t s) {
    const std::size_t first = s * slab;
    const Prisms some{cut(all.west, first),   cut(all.east, first),   cut(all.south, first),
                      cut(all.north, first),  cut(all.bottom, first), cut(all.top, first),
                      cut(all.density, first)};
    Progress silent;
    parts[s] = direct_sum(some, stations.view(), ChannelSet::all(), best_accuracy, 1, silent).values;
  });
  for (std::size_t s = 1; s < parts.size(); ++s)
    for (std::size_t c = 0; c < parts[0].size(); ++c)
      for (std::size_t n = 0; n < stations.size(); ++n) parts[0][c][n] += parts[s][c][n];
  return parts[0];
}

void run(Device device, const Case& c) {
  const auto prisms = prisms_of(c);
  const auto stations = stations_of(c);
  Progress silent;

  const auto start = Clock::now();
  std::string reason;
  auto lattice = recognise_lattice(prisms.view(), stations.view(), reason);
  if (!lattice) {
    fmt::print(stderr, "no lattice: {}\n", reason);
    std::exit(1);
  }
  const double recognised = seconds_since(start);
  const auto begin = Clock::now();
  const LatticeOperator prepared(std::move(*lattice), ChannelSet::all());
  const auto engine = lattice_sum_on_device(device, prepared.plan(), prisms.density, 0);
  const double preparing = seconds_since(begin);
  const auto sum = Clock::now();
  const auto values = sum_all(*engine, ChannelSet::all(), stations.size(), silent).values;
  const double first = seconds_since(sum), all = seconds_since(start);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto again = Clock::now();
    sum_all(*engine, ChannelSet::all(), stations.size(), silent);
    times.push_back(seconds_since(again));
  }
  std::sort(times.begin(), times.end());

  StationList few;
  FieldTable some(values.size());
  const std::size_t checked = std::clamp<std::size_t>(2000000000 / prisms.size(), 5, 61);
  for (std::size_t i = 0; i < checked; ++i) {
    const std::size_t n = i * (stations.size() - 1) / (checked - 1);
    few.add(stations.easting[n], stations.northing[n], stations.up[n]);
    for (std::size_t channel = 0; channel < some.size(); ++channel)
      some[channel].push_back(values[channel][n]);
  }
  const auto truth = truth_at(prisms, few);

  const auto& plan = *prepared.plan();
  const double channels = static_cast<double>(plan.computed().size()),
               bytes = static_cast<double>(plan.convolution(0).reals) * static_cast<double>(c.cells[2]) *
                       (64 * channels + 40),
               floor = bytes / 4270e9;
  const auto expected = lattice_cost_on_device(plan);
  fmt::print(
      " {{\"cells\": [{}, {}, {}], \"prisms\": {}, \"stations\": {}, \"recognise_seconds\": {:.4f}, "
      "\"prepare_seconds\": {:.4f}, \"first_sum_seconds\": {:.4f}, \"sum_seconds\": {:.4f}, \"least\": "
      "{:.4f}, \"most\": {:.4f}, \"everything_seconds\": {:.4f}, \"pairs_per_second\": {:.4g}, \"error\": "
      "{:.2e}, \"checked_stations\": {}, \"floor_seconds\": {:.5f}, \"share_of_floor\": {:.3f}, "
      "\"expected_seconds\": {:.4f}, \"least_device_bytes\": {:.4g}}}",
      c.cells[0], c.cells[1], c.cells[2], prisms.size(), stations.size(), recognised, preparing, first,
      times[times.size() / 2], times.front(), times.back(), all,
      static_cast<double>(prisms.size()) * static_cast<double>(stations.size()) / all,
      test::largest_error(some, truth), checked, floor, floor / times[times.size() / 2], expected.seconds,
      expected.bytes);
  std::fflush(stdout);
}

int main_program(int argc, char** argv) {
  if (argc != 1 && argc != 2 && argc != 7) {
    fmt::print(stderr, "devices_lattice [device] [east north layers stations_east stations_north]\n");
    return 2;
  }
  const Device device = resolve(device_from_text(argc > 1 ? argv[1] : "auto"));
  std::vector<Case> cases;
  if (argc == 7) {
    std::size_t sizes[5];
    for (int i = 0; i < 5; ++i) sizes[i] = std::strtoull(argv[i + 2], nullptr, 10);
    cases = {{{sizes[0], sizes[1], sizes[2]}, {sizes[3], sizes[4]}}};
  } else if (device.kind == Device::Kind::cuda) {
    cases = {{{512, 512, 32}, {512, 512}}, {{1000, 1000, 100}, {1000, 1000}}};
  } else {
    cases = {{{64, 64, 8}, {64, 64}}};
  }
  fmt::print("{{\"device\": \"{}\", \"cases\": [\n", device_name(device));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i > 0) fmt::print(",\n");
    run(device, cases[i]);
  }
  fmt::print("\n]}}\n");
  return 0;
}

}  // namespace
}  // namespace terrane::gravity

int main(int argc, char** argv) { return terrane::gravity::main_program(argc, argv); }
