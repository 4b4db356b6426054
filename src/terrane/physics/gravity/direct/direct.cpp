// The direct sum is limited by flops. A tile of 64 prisms (25 kB) acts on a tile of 64 stations (1.5 kB):
// 4096 pairs of 60 to 700 flops from the L1 cache; memory traffic is negligible.
//
// Sums are added over the prisms of a tile in sequence, over the tiles of a strip of 32, over the strips of a
// chunk, and over the chunks in a binary tree. Each level starts from zero. So the rounding error grows as
// the sum 64 + 32 + ... of the numbers of terms on each level, not as the number of prisms; and the order of
// additions does not depend on the number of threads.
#include "terrane/physics/gravity/direct/direct.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t block_tiles = 16;  // station tiles in a block
constexpr std::size_t block_stations = block_tiles * tile_size;
constexpr std::size_t strip_tiles = 32;  // prism tiles in a strip
constexpr std::size_t most_prism_chunks_direct = 64;
constexpr std::size_t least_tasks_at_once = 512, tasks_per_thread = 16;  // enough to keep all threads busy

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

void add(std::vector<double>& to, const std::vector<double>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

DirectPlan::DirectPlan(std::size_t prisms, std::size_t stations, ChannelSet channels, int threads) {
  station_blocks = ceil_div(stations, block_stations);
  prism_chunks =
      std::clamp<std::size_t>(ceil_div(prisms, strip_tiles * tile_size), 1, most_prism_chunks_direct);
  const auto team = static_cast<std::size_t>(thread_count(threads));
  blocks_at_once =
      std::max<std::size_t>(1, std::max(least_tasks_at_once, tasks_per_thread * team) / prism_chunks);
  const std::size_t sums =
      block_stations * kernel_sets[smallest_kernel_set(turn_for(channels).channels)].size() * sizeof(double);
  memory_bytes = prisms * (sizeof(std::uint32_t) + 3 * sizeof(double)) +
                 stations * (sizeof(std::uint32_t) + 3 * sizeof(double) + channels.size() * sizeof(double)) +
                 std::min(blocks_at_once, station_blocks) * prism_chunks * sums +
                 team * (2 * sums + sizeof(PrismTile));
}

DirectSummation::DirectSummation(const Prisms& prisms, const Stations& stations, ChannelSet channels,
                                 double accuracy, int threads)
    : channels_(channels),
      turn_(turn_for(channels)),
      set_(smallest_kernel_set(turn_.channels)),
      switching_(Switching::for_accuracy(accuracy)),
      threads_(threads),
      prisms_(prisms.size()),
      stations_(stations.size()),
      receivers_(std::make_shared<Receivers>(stations, turn_, kernel_target().kernels[set_].lanes)),
      sources_(prisms, turn_, switching_) {}

DirectSummation::DirectSummation(const Prisms& prisms, const DirectSummation& same)
    : channels_(same.channels_),
      turn_(same.turn_),
      set_(same.set_),
      switching_(same.switching_),
      threads_(same.threads_),
      prisms_(prisms.size()),
      stations_(same.stations_),
      receivers_(same.receivers_),
      sources_(prisms, turn_, switching_) {}

std::size_t DirectSummation::parts() const { return ceil_div(stations_, block_stations); }

Summation::Part DirectSummation::part(std::size_t index) const {
  return {receivers_->stations(index * block_tiles, (index + 1) * block_tiles), channels_};
}

namespace {

/// Sums over one chunk of prisms at one block of stations, values: [station tiles][channels of the
/// kernel][tile_size]
struct ChunkSums {
  std::vector<double> values;
  std::vector<Contact> contacts;
};

/// What all tasks of a sum share.
struct DirectTasks {
  const Switching& switching;
  const Sources& sources;
  const Receivers& receivers;
  const Turn& turn;
  std::size_t set, chunks;  ///< index of the set in kernel_sets; number of chunks of prisms

  std::size_t width() const { return kernel_sets[set].size(); }  ///< number of channels of the kernel
  ChunkSums sum(std::size_t block, std::size_t chunk, Progress& progress) const;
  /// Adds the chunks of a block, in a binary tree.
  PartSums join(ChunkSums* chunk, std::size_t stations) const;
};

ChunkSums DirectTasks::sum(std::size_t block, std::size_t chunk, Progress& progress) const {
  const TileKernels& kernels = kernel_target().kernels[set];
  const std::size_t first_tile = block * block_tiles,
                    last_tile = std::min(first_tile + block_tiles, receivers.tiles());
  const std::size_t first_source = sources.tiles() * chunk / chunks,
                    last_source = sources.tiles() * (chunk + 1) / chunks;
  std::vector<double> total(block_stations * width()), strip(total.size()), sums(width() * tile_size);
  NearPairsOfTask near_pairs(switching, receivers);
  auto tile = std::make_unique<PrismTile>();
  for (std::size_t s = first_source; s < last_source; ++s) {
    sources.load(s, *tile);
    for (std::size_t t = first_tile; t < last_tile; ++t) {
      if (progress.cancelled()) throw Cancelled();
      near_pairs.station_tile = t;
      const auto kernel = choose_kernel(
          kernels, switching, squared_gap(sources.bounds(s), receivers.bounds(t)), sources.longest(s));
      double* const at = strip.data() + (t - first_tile) * width() * tile_size;
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
  return {std::move(total), std::move(near_pairs.contacts)};
}

PartSums DirectTasks::join(ChunkSums* chunk, std::size_t stations) const {
  PartSums done;
  for (std::size_t apart = 1; apart < chunks; apart *= 2)
    for (std::size_t k = 0; k + apart < chunks; k += 2 * apart) add(chunk[k].values, chunk[k + apart].values);
  std::size_t column = 0;
  for (const auto channel : kernel_sets[set].list()) {
    if (turn.channels.contains(channel)) {
      auto& values = done.values.emplace_back(stations);
      for (std::size_t s = 0; s < stations; ++s)
        values[s] = chunk[0].values[(s / tile_size * width() + column) * tile_size + s % tile_size];
    }
    ++column;
  }
  for (std::size_t k = 0; k < chunks; ++k)
    for (auto contact : chunk[k].contacts) {
      contact.octants = turned_back(contact.octants, turn);
      done.contacts.push_back(contact);
    }
  return done;
}

}  // namespace

void DirectSummation::sum(std::size_t first_block, std::size_t last_block, const Take& take,
                          Progress& progress) {
  const DirectPlan plan(prisms_, stations_, channels_, threads_);
  const std::size_t chunks = plan.prism_chunks;
  const DirectTasks tasks{switching_, sources_, *receivers_, turn_, set_, chunks};
  std::size_t stations = 0;
  for (std::size_t b = first_block; b < last_block; ++b) stations += part(b).stations.size();

  progress.start("gravity", prisms_ * stations);
  for (std::size_t batch = first_block; batch < last_block; batch += plan.blocks_at_once) {
    const std::size_t blocks = std::min(plan.blocks_at_once, last_block - batch);
    std::vector<ChunkSums> partial(blocks * chunks);
    for_each(partial.size(), threads_, [&](std::size_t task) {
      partial[task] = tasks.sum(batch + task / chunks, task % chunks, progress);
    });
    std::vector<PartSums> done(blocks);
    for_each(blocks, threads_, [&](std::size_t b) {
      done[b] = tasks.join(partial.data() + b * chunks, part(batch + b).stations.size());
    });
    for (std::size_t b = 0; b < blocks; ++b) take(batch + b, std::move(done[b]));
  }
  progress.finish();
}

PartSums direct_sum(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy,
                    int threads, Progress& progress) {
  DirectSummation summation(prisms, stations, channels, accuracy, threads);
  return sum_all(summation, channels, stations.size(), progress);
}

}  // namespace terrane::gravity
