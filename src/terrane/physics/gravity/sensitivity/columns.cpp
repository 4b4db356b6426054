#include "terrane/physics/gravity/sensitivity/columns.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

Observable Observable::of(Channel channel, double factor) {
  Observable made;
  made.weight[static_cast<std::size_t>(channel)] = factor;
  return made;
}

ChannelSet Observable::channels() const {
  ChannelSet set;
  for (std::size_t c = 0; c < channel_count; ++c)
    if (weight[c] != 0) set.insert(static_cast<Channel>(c));
  return set;
}

ChannelSet channels_of(const std::vector<Observable>& observables) {
  ChannelSet set;
  for (const auto& one : observables) set = set | one.channels();
  if (set.empty()) throw InputError("sensitivities", "nothing is observed");
  return set;
}

namespace {

Prisms view_of_cells(const PrismSet& p, std::span<const double> density) {
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, density};
}

std::vector<std::uint32_t> in_order(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

}  // namespace

struct SensitivityColumns::Kernels {
  std::vector<double> unit_density;
  Turn turn;
  std::size_t set;  ///< index of the set in kernel_sets
  Switching switching;
  Receivers receivers;
  std::vector<std::vector<double>> weight;  ///< [observable][channel of the kernel] weights

  Kernels(std::size_t cells, const Stations& stations, const std::vector<Observable>& observables,
          double accuracy)
      : unit_density(cells, 1.0),
        turn(turn_for(channels_of(observables))),
        set(smallest_kernel_set(turn.channels)),
        switching(Switching::for_accuracy(accuracy)),
        receivers(stations, turn, kernel_target().kernels[set].lanes) {
    // With rotated axes, a single channel is computed as another one, the only channel of the kernel.
    const auto kernel_channels = kernel_sets[set].list();
    const auto wanted = channels_of(observables);
    for (const auto& one : observables) {
      auto& weights = weight.emplace_back();
      for (const auto channel : kernel_channels) {
        const auto source = wanted.size() == 1 ? wanted.list().front() : channel;
        const bool used = wanted.size() != 1 || turn.channels.contains(channel);
        weights.push_back(used ? one.weight[static_cast<std::size_t>(source)] : 0.0);
      }
    }
  }
};

SensitivityColumns::SensitivityColumns(PrismSet cells, KeptStations stations,
                                       std::vector<Observable> observables, double accuracy,
                                       SingularPolicy singular)
    : cells_(std::move(cells)),
      stations_(std::move(stations)),
      observables_(std::move(observables)),
      accuracy_(accuracy),
      kernels_(std::make_shared<const Kernels>(cells_.size(), stations_.view(), observables_, accuracy)),
      contacts_(cells_, stations_, observables_, singular) {}

void SensitivityColumns::make(std::size_t first, std::size_t last, std::span<double> out) const {
  make_bare(first, last, out);
  const std::size_t width = last - first, n = stations_.size();
  for (std::size_t c = 0; c < contacts_.all().size(); ++c) {
    const auto& one = contacts_.all()[c];
    if (one.cell < first || one.cell >= last) continue;
    for (std::size_t o = 0; o < observables_.size(); ++o)
      out[(o * n + one.station) * width + one.cell - first] += contacts_.added(c)[o];
  }
}

void SensitivityColumns::make_bare(std::size_t first, std::size_t last, std::span<double> out) const {
  const auto& [unit_density, turn, set, switching, receivers, weight] = *kernels_;
  const std::size_t width = last - first, channels = kernel_sets[set].size(), n = stations_.size();
  if (out.size() != rows() * width) throw ShapeError("sensitivities", "the matrix has another shape");
  const TileKernels& kernels = kernel_target().kernels[set];
  const Sources source(view_of_cells(cells_, unit_density), turn, switching, in_order(0));
  auto tile = std::make_unique<PrismTile>();
  PlainNearPairs near_pairs(switching);
  std::vector<double> sums(channels * tile_size);
  for (std::size_t cell = first; cell < last; ++cell) {
    const auto centre = source.load_one(cell, *tile);
    const Bounds at{{centre[0], centre[1], centre[2]}, {centre[0], centre[1], centre[2]}};
    for (std::size_t t = 0; t < receivers.tiles(); ++t) {
      const auto kernel =
          choose_kernel(kernels, switching, squared_gap(at, receivers.bounds(t)), tile->longest[0]);
      std::fill(sums.begin(), sums.end(), 0.0);
      kernel(*tile, receivers.tile(t), near_pairs, sums.data());
      for (std::size_t o = 0; o < observables_.size(); ++o)
        for (int s = 0; s < receivers.tile(t).count; ++s) {
          double value = 0;
          for (std::size_t c = 0; c < channels; ++c)
            if (weight[o][c] != 0) value += weight[o][c] * sums[c * tile_size + static_cast<std::size_t>(s)];
          out[(o * n + receivers.station(t, s)) * width + cell - first] = value;
        }
    }
  }
}

}  // namespace terrane::gravity
