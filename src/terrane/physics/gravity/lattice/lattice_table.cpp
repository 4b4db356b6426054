#include "terrane/physics/gravity/lattice/lattice_table.hpp"

#include <algorithm>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

LatticeLayers::LatticeLayers(const Lattice& lattice, int threads) : start(lattice.layers.size() + 1) {
  const std::size_t layers = lattice.layers.size(), plane = lattice.plane(), prisms = lattice.place.size(),
                    chunk = std::max<std::size_t>(1 << 16, prisms / 64),
                    chunks = (prisms + chunk - 1) / chunk;
  const auto in_chunk = [&](std::size_t c, const auto& body) {
    for (std::size_t n = c * chunk; n < std::min((c + 1) * chunk, prisms); ++n)
      body(n, lattice.place[n] / plane);
  };
  // Numbers of a chunk's prisms in each layer, which later become offsets.
  std::vector<std::size_t> next(chunks * layers);
  for_each(chunks, threads, [&](std::size_t c) {
    in_chunk(c, [&](std::size_t, std::size_t layer) { ++next[c * layers + layer]; });
  });
  std::size_t total = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    start[l] = total;
    for (std::size_t c = 0; c < chunks; ++c) {
      const std::size_t count = next[c * layers + l];
      next[c * layers + l] = total;
      total += count;
    }
  }
  start[layers] = total;
  member.resize(prisms);
  for_each(chunks, threads, [&](std::size_t c) {
    in_chunk(c, [&](std::size_t n, std::size_t layer) {
      member[next[c * layers + layer]++] = static_cast<std::uint32_t>(n);
    });
  });
}

void lattice_table(const LatticePlan& plan, const Lattice::Group& group, const Convolution& sizes,
                   std::size_t layer, std::size_t j, ChannelSet channels, double* values) {
  const Lattice& lattice = plan.lattice();
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  const Prism shape = lattice.cell(layer);
  const double one = 1;
  const Prisms cell{{&shape.west, 1},   {&shape.east, 1}, {&shape.south, 1}, {&shape.north, 1},
                    {&shape.bottom, 1}, {&shape.top, 1},  {&one, 1}};
  const auto switching = Switching::for_accuracy(best_accuracy);
  const Sources source(cell, Turn{{0, 1, 2}, plan.computed()}, switching, {0});
  PrismTile tile;
  const double origin[3] = {0, 0, shape.bottom};
  source.load(0, 1, origin, tile);
  const std::size_t set = smallest_kernel_set(plan.computed()), width = kernel_sets[set].size();
  const auto& kernels = kernel_target().kernels[set];
  const auto from_set = kernel_sets[set].list();
  PlainNearPairs near_pairs(switching);
  StationTile stations{};
  std::vector<double> sums(width * tile_size);
  for (std::size_t first = 0; first < x.distances; first += tile_size) {
    stations.count = static_cast<int>(std::min<std::size_t>(tile_size, x.distances - first));
    for (std::size_t s = 0; s < tile_size; ++s) {
      stations.x[s] = x.distance(std::min(first + s, x.distances - 1)) * lattice.spacing[0];
      stations.y[s] = y.distance(j) * lattice.spacing[1];
      stations.z[s] = group.up;
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    kernels.near(tile, stations, near_pairs, sums.data());
    std::size_t to = 0;
    for (std::size_t c = 0; c < width; ++c)
      if (channels.contains(from_set[c]))
        std::copy_n(sums.data() + c * tile_size, stations.count,
                    values + to++ * sizes.distances() + j * x.distances + first);
  }
}

void spread_table(const Convolution& sizes, Channel channel, const double* from, double* to) {
  const Lags &x = sizes.lags[0], &y = sizes.lags[1];
  std::fill_n(to, sizes.reals, 0.0);
  const bool odd_x = odd_channels[0].contains(channel), odd_y = odd_channels[1].contains(channel);
  for (long lag_y = y.first; lag_y < y.first + y.count; ++lag_y) {
    double* const row = to + y.place(lag_y) * sizes.width();
    const double* const values = from + y.index(lag_y) * x.distances;
    const double sign_y = odd_y && y.mirrored(lag_y) ? -1 : 1;
    for (long lag_x = x.first; lag_x < x.first + x.count; ++lag_x)
      row[x.place(lag_x)] = (odd_x && x.mirrored(lag_x) ? -sign_y : sign_y) * values[x.index(lag_x)];
  }
}

}  // namespace terrane::gravity
