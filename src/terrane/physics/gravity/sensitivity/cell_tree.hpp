// G and Gᵀ by a tree, for stations that form no lattice: clusters of cells as multipole expansions, near
// cells one by one.
//
//   d = Σ_clusters T M + S m      M = P m:  the expansions of the clusters, each from its cells
//   m = Pᵀ Σ_tiles Tᵀ d + Sᵀ d    the same lists read backwards: every cluster gathers from the stations that
//                                 meet it, and every cell from the clusters that it lies in
//
// Which clusters serve a tile of stations, and with which order, is found once, for cells of unit density: so
// G is one matrix, near the exact one, and Gᵀ its transpose to rounding. Near entries S are kept in single
// precision, which is right to 6e-8 of each.
//
// The bits of a product depend on the cells and the stations alone, never on the number of threads.
#pragma once

#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

class CellTree final : public solve::LinearOperator {
 public:
  /// Rows and columns as of the source, which it keeps. accuracy: of a product, relative to the largest value
  /// that cells of unit density give. Makes the lists and the near entries. Throws Cancelled.
  CellTree(std::shared_ptr<const SensitivityColumns> source, double accuracy, int threads,
           Progress& progress);
  ~CellTree() override;

  std::size_t rows() const override { return source_->rows(); }
  std::size_t columns() const override { return source_->columns(); }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  /// Far clusters as points, which is right to some ten per cent: enough for weights and to precondition.
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;

  /// Of near entries and lists.
  double bytes() const;

 private:
  /// A cluster that serves some stations from afar.
  struct Cluster {
    Expansion at;                ///< without coefficients
    std::uint32_t first, count;  ///< of its cells, in the order of the tree
    int order;                   ///< the highest that is asked for
    std::size_t coefficients;    ///< where its numbers lie among those of all
  };
  struct Far {
    std::uint32_t cluster, tile;
    int order;
  };
  /// Entries of the cells of a leaf at a tile of stations: [observable][station][cell] from `entries` on.
  struct Near {
    std::uint32_t first, count, tile;
    std::size_t entries;
  };
  /// Cells of a cluster whose moments one task gathers.
  struct Piece {
    std::uint32_t cluster, first, count;
    std::size_t coefficients;
  };

  void find_lists(Progress& progress);
  void list_clusters(const std::vector<std::vector<Tree::Meetings::Far>>& met);
  void make_near(Progress& progress);
  std::vector<double> expansions(std::span<const double> model) const;
  std::vector<double> weights_at_tiles(std::span<const double> data) const;
  std::size_t station_of(std::size_t tile, std::size_t s) const;
  template <class Begin, class Pass>
  void pass_down(const Begin& begin, const Pass& pass) const;
  template <class Add>
  void add_near(std::span<const double> data, std::span<double> model, const Add& add) const;

  std::shared_ptr<const SensitivityColumns> source_;
  int threads_;
  std::vector<double> unit_density_;
  std::unique_ptr<Tree> tree_;
  bool tensor_ = false;
  std::vector<Cluster> clusters_;
  std::vector<Piece> pieces_;
  std::size_t coefficients_ = 0, all_coefficients_ = 0;  ///< of clusters, and of their further pieces
  std::vector<Far> far_by_tile_, far_by_cluster_;
  std::vector<std::size_t> far_tile_start_, far_cluster_start_;
  std::vector<std::vector<std::uint32_t>> around_;  ///< [chunks of cells] the clusters that they lie in
  std::vector<Near> near_by_tile_, near_by_leaf_;
  std::vector<std::size_t> near_tile_start_, near_leaf_start_;
  std::vector<float> near_;
};

}  // namespace terrane::gravity
