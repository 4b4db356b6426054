// Floor of the direct sum: flops. A tile of 64 prisms (25 kB) meets a tile of 64 stations (1.5 kB): 4096
// pairs of 60 to 700 flops from the first-level cache; memory traffic is nothing.
//
// Order of summation: over the prisms of a tile in sequence, over the tiles of a strip of 32, over the strips
// of a chunk, over the chunks: each level starts from zero, so the error grows as 64 + 32 + ... and not as
// the number of prisms, and no level depends on the threads.
#include "terrane/physics/gravity/direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/for_each.hpp"
#include "terrane/physics/gravity/tile_sets.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t block_tiles = 16;  // station tiles in a block
constexpr std::size_t block_stations = block_tiles * tile_size;
constexpr std::size_t strip_tiles = 32;    // prism tiles in a strip
constexpr std::size_t tasks_wanted = 256;  // enough for balance on many threads
constexpr std::size_t most_chunks = 64;

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

DirectPlan::DirectPlan(std::size_t prisms, std::size_t stations, ChannelSet channels) {
  station_blocks = std::max<std::size_t>(1, ceil_div(stations, block_stations));
  const std::size_t strips = std::max<std::size_t>(1, ceil_div(prisms, strip_tiles * tile_size));
  prism_chunks = std::min({most_chunks, strips, std::max<std::size_t>(1, tasks_wanted / station_blocks)});
  blocks_at_once = std::max<std::size_t>(1, 2 * tasks_wanted / prism_chunks);
  const std::size_t sums =
      block_stations * kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size() * sizeof(double);
  memory_bytes = prisms * (sizeof(std::uint32_t) + 3 * sizeof(double)) +
                 stations * (sizeof(std::uint32_t) + 3 * sizeof(double) + channels.size() * sizeof(double)) +
                 std::min(blocks_at_once, station_blocks) * prism_chunks * sums +
                 static_cast<std::size_t>(thread_count(0)) * (2 * sums + sizeof(PrismTile));
}

DirectSums direct_sum(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                      int threads, Progress& progress) {
  const DirectPlan plan(prisms.size(), stations.size(), channels);
  const Turn turn = turn_for(channels);
  const std::size_t set = smallest_kernel_set(turn.channels);
  const TileKernels& kernels = kernel_target().kernels[set];
  const Switching switching = Switching::for_accuracy(accuracy);
  const Sources sources(prisms, turn, switching);
  const Receivers receivers(stations, turn, kernels.lanes);
  const std::size_t width = kernel_sets[set].size();  // channels of the kernel

  DirectSums out;
  out.values.assign(channels.size(), std::vector<double>(stations.size()));
  progress.start("gravity", prisms.size() * stations.size());
  for (std::size_t batch = 0; batch < plan.station_blocks; batch += plan.blocks_at_once) {
    const std::size_t blocks = std::min(plan.blocks_at_once, plan.station_blocks - batch);
    std::vector<std::vector<double>> partial(blocks * plan.prism_chunks);
    std::vector<std::vector<Contact>> contacts(partial.size());

    for_each(partial.size(), threads, [&](std::size_t task) {
      const std::size_t block = batch + task / plan.prism_chunks, chunk = task % plan.prism_chunks;
      const std::size_t first_tile = block * block_tiles,
                        last_tile = std::min(first_tile + block_tiles, receivers.tiles());
      const std::size_t first_source = sources.tiles() * chunk / plan.prism_chunks,
                        last_source = sources.tiles() * (chunk + 1) / plan.prism_chunks;
      std::vector<double> total(block_stations * width), strip(total.size()), sums(width * tile_size);
      NearPairsOfTask near_pairs(switching, receivers);
      auto tile = std::make_unique<PrismTile>();
      for (std::size_t s = first_source; s < last_source; ++s) {
        sources.load(s, *tile);
        for (std::size_t t = first_tile; t < last_tile; ++t) {
          if (progress.cancelled()) throw Cancelled();
          near_pairs.station_tile = t;
          const auto kernel = choose_kernel(
              kernels, switching, squared_gap(sources.bounds(s), receivers.bounds(t)), sources.longest(s));
          double* const at = strip.data() + (t - first_tile) * width * tile_size;
          std::fill(sums.begin(), sums.end(), 0.0);
          kernel(*tile, receivers.tile(t), near_pairs, sums.data());
          for (std::size_t i = 0; i < sums.size(); ++i) at[i] += sums[i];
          progress.advance(static_cast<std::uint64_t>(tile->count) *
                           static_cast<std::uint64_t>(receivers.tile(t).count));
        }
        if ((s + 1 - first_source) % strip_tiles == 0 || s + 1 == last_source) {
          add(total, strip);
          std::fill(strip.begin(), strip.end(), 0.0);
        }
      }
      partial[task] = std::move(total);
      contacts[task] = std::move(near_pairs.contacts);
    });

    for (std::size_t b = 0; b < blocks; ++b) {
      auto& total = partial[b * plan.prism_chunks];
      for (std::size_t chunk = 1; chunk < plan.prism_chunks; ++chunk)
        add(total, partial[b * plan.prism_chunks + chunk]);
      for (std::size_t t = 0; t < block_tiles && (batch + b) * block_tiles + t < receivers.tiles(); ++t) {
        const std::size_t tile = (batch + b) * block_tiles + t;
        std::size_t column = 0, wanted = 0;
        for (auto channel : kernel_sets[set].list()) {
          if (turn.channels.contains(channel)) {
            for (int s = 0; s < receivers.tile(tile).count; ++s)
              out.values[wanted][receivers.station(tile, s)] =
                  total[(t * width + column) * tile_size + static_cast<std::size_t>(s)];
            ++wanted;
          }
          ++column;
        }
      }
    }
    for (auto& list : contacts) out.contacts.insert(out.contacts.end(), list.begin(), list.end());
  }
  // Back to the axes of the earth: octants are the only thing that knows them here.
  for (auto& contact : out.contacts) {
    std::uint8_t octants = 0;
    for (int o = 0; o < 8; ++o)
      if (contact.octants >> o & 1) {
        int turned = 0;
        for (int a = 0; a < 3; ++a) turned |= (o >> a & 1) << turn.axis[a];
        octants = static_cast<std::uint8_t>(octants | 1 << turned);
      }
    contact.octants = octants;
  }
  std::stable_sort(out.contacts.begin(), out.contacts.end(),
                   [](const Contact& a, const Contact& b) { return a.station < b.station; });
  progress.finish();
  return out;
}

}  // namespace terrane::gravity
