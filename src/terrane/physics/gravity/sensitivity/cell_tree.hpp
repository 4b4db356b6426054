// G and Gᵀ of some cells by a tree, for stations that form no lattice: multipole expansions of clusters of
// cells; near cells one by one.
//
//   d = G m  = Σ_clusters T D P m + S m
//   m = Gᵀ d = Pᵀ Dᵀ Σ_tiles Tᵀ d + Sᵀ d
//
// m, d: one value per cell, and per observable and station. P computes a cluster's expansion from its cells;
// D converts the expansion to one series in harmonics per observable; T evaluates these series at a tile of
// stations; S contains the entries of G for near cells. Gᵀ uses the same lists backwards: a cluster sums over
// the tiles at which it is evaluated, a cell over the clusters that contain it.
//
// Which clusters are evaluated at a tile of stations, and the orders, are determined once, for cells of unit
// density: so G is one matrix, close to the exact one, and Gᵀ is its transpose to rounding. Near entries S
// are stored in single precision, accurate to 6e-8 each.
//
// A product is bitwise the same for any number of threads.
#pragma once

#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/sensitivity/near_entries.hpp"
#include "terrane/physics/gravity/sensitivity/steps.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

/// The amount of work in one task.
struct TaskSizes {
  std::size_t cells_per_chunk = 2048;    ///< Gᵀ: cells to which one task adds the sums of their clusters
  std::size_t cells_per_piece = 4096;    ///< G: cells of a cluster whose moments one task computes
  std::size_t tiles_per_gathering = 32;  ///< Gᵀ: tiles of stations over which one task sums for a cluster
};

class CellTree {
 public:
  /// cells: some of the source's; columns: their indices in the source; accuracy: of a product, relative to
  /// the largest value that cells of unit density cause. Computes the lists and the near entries. Throws
  /// Cancelled.
  CellTree(PrismSet cells, std::vector<std::uint32_t> columns, const SensitivityColumns& source,
           double accuracy, int threads, Progress& progress, const TaskSizes& sizes = {});

  /// The steps that compute data = G model, and model = Gᵀ data. model: all columns of the source, of which
  /// only those of the tree's cells are used. The spans and the CellTree must outlive the steps.
  Steps product(std::span<const double> model, std::span<double> data) const;
  Steps transpose(std::span<const double> data, std::span<double> model) const;
  /// The steps that compute diag(GᵀWG), with data weights W. They treat distant clusters as points, accurate
  /// to some ten per cent: enough for weights and preconditioners.
  Steps diagonal(std::span<const double> weight, std::span<double> diagonal) const;

  /// Bytes of cells, stations, near entries, lists, and the arrays of products.
  double bytes() const;
  /// Upper estimates of the sizes of all blocks together, if the cells of a tree are divided into `trees`
  /// blocks. counted: cost() of the tree for all cells
  struct Numbers {
    /// near: entries of near cells; leaves_met, meetings: pairs of a tile with a near leaf, and with a
    /// distant cluster; around: pairs of a chunk of cells with a cluster; levels: of the tree
    double cells, rows, near, leaves_met, meetings, tiles, clusters, pieces, gatherings, around, levels;
    int degrees;  ///< degrees that the observables add to an expansion
  };
  static Numbers numbers(const Tree& whole, const TreeCost& counted,
                         const std::vector<Observable>& observables, std::size_t trees);
  /// Upper estimate of the bytes of `trees` blocks together. counted: cost() of the tree for all cells
  static double bytes(const Tree& whole, const TreeCost& counted, const std::vector<Observable>& observables,
                      std::size_t trees);

  /// A cluster whose series is evaluated at some distant stations.
  struct Cluster {
    Expansion at;                 ///< expansion of the cluster, without coefficients
    std::uint32_t first, count;   ///< range of the cluster's cells in the order of the tree
    int order;                    ///< highest order of the expansion that is used
    std::size_t pieces, gathers;  ///< indices of the cluster's first piece and first gathering
    std::size_t series;           ///< index of the series' first number in the array of all series
  };
  /// Cells of a cluster whose moments one task computes.
  struct Piece {
    std::uint32_t cluster, first, count;  ///< index of the cluster; range of cells in the order of the tree
    std::size_t coefficients;  ///< index of the piece's first coefficient in the array of all pieces
  };
  /// Tiles over which one task sums for a cluster.
  struct Gathering {
    std::uint32_t cluster;
    /// Range in far_by_cluster_; index of the sum's first number in the array of all series.
    std::size_t first, last, series;
  };
  /// A cluster, a tile of stations at which its series is evaluated, and the order that is accurate enough.
  struct Far {
    std::uint32_t cluster, tile;
    int order;
  };
  using Near = NearEntries::Near;

  /// References to all data, for products on a device (cell_tree_device.cu).
  struct Contents {
    const PrismSet& cells;
    const std::vector<std::uint32_t>& columns;
    std::size_t stations;
    std::size_t observables;
    int degrees;
    const Receivers& receivers;
    const std::vector<Cluster>& clusters;
    const std::vector<Piece>& pieces;
    const std::vector<Gathering>& gatherings;
    const std::vector<Far>&far_by_tile, &far_by_cluster;
    const std::vector<std::size_t>&far_tile_start, &far_cluster_start;
    const std::vector<Near>&near_by_tile, &near_by_leaf;
    const std::vector<std::size_t>&near_tile_start, &near_leaf_start;
    const std::vector<float>& near;
  };
  Contents contents() const {
    return {cells_,
            columns_,
            stations_,
            observables_.size(),
            degrees_,
            *receivers_,
            clusters_,
            pieces_,
            gatherings_,
            far_by_tile_,
            far_by_cluster_,
            far_tile_start_,
            far_cluster_start_,
            near_.by_tile,
            near_.by_leaf,
            near_.tile_start,
            near_.leaf_start,
            near_.entries};
  }

 private:
  void find_lists(const Tree& tree, Progress& progress);
  void list_clusters(const Tree& tree, const std::vector<std::vector<Tree::Meetings::Far>>& met);
  void cut_clusters();
  void cut_tasks();
  void sort_cells(const std::vector<std::uint32_t>& order);
  int top_of(int order) const { return order + degrees_; }
  std::size_t numbers_of(const Cluster& cluster) const;
  Series series_of(const Cluster& cluster, const double* numbers) const;
  void gather(const Piece& piece, const double* model, double* coefficients) const;
  void make_series_of(std::size_t cluster, const double* coefficients, double* series) const;
  void evaluate(std::size_t tile, const double* model, const double* series, std::span<double> data) const;
  void collect(const Gathering& gathering, const double* weights, double* series) const;
  void bring_series_back(std::size_t cluster, const double* series, double* coefficients) const;
  double point_squares(const Cluster& cluster, std::span<const Far> met,
                       std::span<const double> weight) const;
  Tasks weights_at_tiles(std::span<const double> data, const std::shared_ptr<double[]>& to) const;
  template <class Pass>
  Tasks pass_down(std::span<double> model, const Pass& pass) const;
  template <class Add>
  Tasks add_near(std::span<const double> data, std::span<double> model, const Add& add) const;

  PrismSet cells_;                      ///< cells in the order of the tree
  std::vector<std::uint32_t> columns_;  ///< index of each cell in the source
  std::size_t stations_;
  std::vector<Observable> observables_;
  int threads_, degrees_ = 0;  ///< degrees_: degrees that the observables add to an expansion
  std::shared_ptr<const Receivers> receivers_;
  std::size_t stride_ = 0;  ///< row length of the weights of a tile
  std::vector<Cluster> clusters_;
  std::vector<Piece> pieces_;
  std::vector<Gathering> gatherings_;
  std::size_t coefficients_ = 0, series_ = 0, collected_ = 0;  ///< sizes of the arrays of all clusters
  std::vector<Far> far_by_tile_, far_by_cluster_;
  std::vector<std::size_t> far_tile_start_, far_cluster_start_;
  /// [chunks of cells] the clusters that contain at least one cell of the chunk
  std::vector<std::vector<std::uint32_t>> around_;
  NearEntries near_;
  /// Index of the first piece, gathering, tile or leaf of every task, and the end.
  std::vector<std::size_t> piece_tasks_, gathering_tasks_, tile_tasks_, leaf_tasks_;
  TaskSizes sizes_;
  const ExpansionKernels& kernels_;
  mutable Scratch scratch_;
};

}  // namespace terrane::gravity
