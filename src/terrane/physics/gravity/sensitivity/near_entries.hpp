// Entries of G for cells close to tiles of stations, in single precision: accurate to 6e-8 each.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/mesh/prism.hpp"
#include "terrane/physics/gravity/sensitivity/observable.hpp"
#include "terrane/physics/gravity/sensitivity/steps.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::gravity {

class NearEntries {
 public:
  /// Entries of the cells of a leaf at a tile of stations: [observable][station][cell], from index `entries`
  /// on.
  struct Near {
    /// Range of the leaf's cells in the order of the tree; index of the tile.
    std::uint32_t first, count, tile;
    std::size_t entries;
  };

  NearEntries();

  /// Lists the entries needed.  leaves [tiles]: first cell and number of cells of every leaf near a tile
  void list(const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& leaves,
            const Receivers& receivers, std::size_t observables);
  /// Computes the entries, leaf by leaf and cell by cell, at the tiles of stations near the leaf. cells: in
  /// the order of the leaves
  void make(const PrismSet& cells, const Receivers& receivers, const std::vector<Observable>& observables,
            const Switching& switching, int threads, Progress& progress);

  /// Returns value + Σ entry · model over the near cells of a tile, for one of the tile's stations. stations:
  /// number of stations in the tile
  double add_product(double value, const double* model, std::size_t tile, std::size_t stations,
                     std::size_t observable, std::size_t station) const;
  /// Calls add(entries of a row at the cells of a leaf, index of the row among the data) for every row near
  /// the leaf.
  template <class Add>
  void each_row(std::size_t leaf, std::size_t observables, std::size_t all_stations,
                const Receivers& receivers, const Add& add) const {
    for (std::size_t i = leaf_start[leaf]; i < leaf_start[leaf + 1]; ++i) {
      const auto& near = by_leaf[i];
      const auto count = static_cast<std::size_t>(receivers.tile(near.tile).count);
      for (std::size_t row = 0; row < observables * count; ++row)
        add(entries.data() + near.entries + row * near.count,
            row / count * all_stations + receivers.station(near.tile, static_cast<int>(row % count)));
    }
  }
  /// Tiles near the leaf that begins with this cell, ascending.
  std::vector<std::uint32_t> tiles_of(std::uint32_t first_cell) const;
  /// Number of operations for a tile and for a leaf, by which work is divided into tasks.
  double work_of_tile(std::size_t tile, std::size_t observables, const Receivers& receivers) const;
  double work_of_leaf(std::size_t leaf, std::size_t observables, const Receivers& receivers) const;
  std::size_t leaves() const { return leaf_start.size() - 1; }
  double bytes() const;

  /// The same pairs of leaf and tile, sorted by tile and by leaf; the first pair of each tile and leaf.
  std::vector<Near> by_tile, by_leaf;
  std::vector<std::size_t> tile_start, leaf_start;
  std::vector<float> entries;
  const solve::MatrixKernels& kernels;
};

}  // namespace terrane::gravity
