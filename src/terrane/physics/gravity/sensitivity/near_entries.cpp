#include "terrane/physics/gravity/sensitivity/near_entries.hpp"

#include <algorithm>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity {

NearEntries::NearEntries() : kernels(solve::matrix_kernels()) {}

void NearEntries::list(const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& leaves,
                       const Receivers& receivers, std::size_t observables) {
  std::size_t numbers = 0;
  tile_start.assign(1, 0);
  for (std::size_t t = 0; t < leaves.size(); ++t) {
    for (const auto& [first, count] : leaves[t]) {
      by_tile.push_back({first, count, static_cast<std::uint32_t>(t), numbers});
      numbers += observables * static_cast<std::size_t>(receivers.tile(t).count) * count;
    }
    tile_start.push_back(by_tile.size());
  }
  entries.resize(numbers);
  by_leaf = by_tile;
  std::sort(by_leaf.begin(), by_leaf.end(), [](const Near& a, const Near& b) {
    return a.first < b.first || (a.first == b.first && a.tile < b.tile);
  });
  leaf_start.assign(1, 0);
  for (std::size_t i = 1; i <= by_leaf.size(); ++i)
    if (i == by_leaf.size() || by_leaf[i].first != by_leaf[i - 1].first) leaf_start.push_back(i);
}

void NearEntries::make(const PrismSet& cells, const Receivers& receivers,
                       const std::vector<Observable>& observables, const Switching& switching, int threads,
                       Progress& progress) {
  const auto channels = channels_of(observables);
  const std::size_t set = smallest_kernel_set(channels);
  const auto list = kernel_sets[set].list();
  const TileKernels& tile_kernels = kernel_target().kernels[set];
  const std::vector<double> unit_density(cells.size(), 1.0);
  const Sources sources(
      {cells.west, cells.east, cells.south, cells.north, cells.bottom, cells.top, unit_density},
      Turn{{0, 1, 2}, channels}, switching, std::vector<std::uint32_t>{});
  progress.start("sensitivities", entries.size());
  for_each(leaves(), threads, [&](std::size_t l) {
    if (progress.cancelled()) throw Cancelled();
    auto tile = std::make_unique<PrismTile>();
    PlainNearPairs near_pairs(switching);
    std::vector<double> sums(list.size() * tile_size);
    const auto here = std::span(by_leaf).subspan(leaf_start[l], leaf_start[l + 1] - leaf_start[l]);
    for (std::uint32_t p = 0; p < here.front().count; ++p) {
      const auto centre = sources.load_one(here.front().first + p, *tile);
      const Bounds at{{centre[0], centre[1], centre[2]}, {centre[0], centre[1], centre[2]}};
      for (const auto& near : here) {
        const auto& stations = receivers.tile(near.tile);
        const auto kernel = choose_kernel(tile_kernels, switching,
                                          squared_gap(at, receivers.bounds(near.tile)), tile->longest[0]);
        std::fill(sums.begin(), sums.end(), 0.0);
        kernel(*tile, stations, near_pairs, sums.data());
        float* to = entries.data() + near.entries + p;
        for (const auto& observable : observables)
          for (int s = 0; s < stations.count; ++s, to += near.count) {
            double value = 0;
            for (std::size_t c = 0; c < list.size(); ++c)
              value += observable.weight[static_cast<std::size_t>(list[c])] *
                       sums[c * tile_size + static_cast<std::size_t>(s)];
            *to = static_cast<float>(value);
          }
      }
    }
    for (const auto& near : here)
      progress.advance(observables.size() * static_cast<std::size_t>(receivers.tile(near.tile).count) *
                       near.count);
  });
  progress.finish();
}

double NearEntries::add_product(double value, const double* model, std::size_t tile, std::size_t stations,
                                std::size_t observable, std::size_t station) const {
  for (std::size_t i = tile_start[tile]; i < tile_start[tile + 1]; ++i) {
    const auto& near = by_tile[i];
    value += kernels.dot(entries.data() + near.entries + (observable * stations + station) * near.count,
                         model + near.first, near.count);
  }
  return value;
}

std::vector<std::uint32_t> NearEntries::tiles_of(std::uint32_t first_cell) const {
  std::vector<std::uint32_t> tiles;
  auto near = std::lower_bound(by_leaf.begin(), by_leaf.end(), first_cell,
                               [](const Near& n, std::uint32_t cell) { return n.first < cell; });
  for (; near != by_leaf.end() && near->first == first_cell; ++near) tiles.push_back(near->tile);
  return tiles;
}

double NearEntries::work_of_tile(std::size_t tile, std::size_t observables,
                                 const Receivers& receivers) const {
  double cells = 0;
  for (std::size_t i = tile_start[tile]; i < tile_start[tile + 1]; ++i) cells += by_tile[i].count;
  return static_cast<double>(observables) * receivers.tile(tile).count * cells;
}

double NearEntries::work_of_leaf(std::size_t leaf, std::size_t observables,
                                 const Receivers& receivers) const {
  double stations = 0;
  for (std::size_t i = leaf_start[leaf]; i < leaf_start[leaf + 1]; ++i)
    stations += receivers.tile(by_leaf[i].tile).count;
  return static_cast<double>(observables) * stations * by_leaf[leaf_start[leaf]].count;
}

double NearEntries::bytes() const {
  return static_cast<double>(entries.size() * sizeof(float) + 2 * by_tile.size() * sizeof(Near));
}

}  // namespace terrane::gravity
