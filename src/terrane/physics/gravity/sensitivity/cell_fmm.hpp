// G and Gᵀ of some cells by fast multipoles, for many stations that form no lattice: multipole expansions of
// clusters of cells, translated to local expansions of boxes of stations (fmm/); near cells one by one.
//
//   d = G m  = L2P L2L M2L M2M P2M m + S m
//   m = Gᵀ d = P2Mᵀ M2Mᵀ M2Lᵀ L2Lᵀ L2Pᵀ d + Sᵀ d
//
// X2Y computes Y from X. P: cells (P2M) or stations (L2P); M: multipole expansions of clusters; L: local
// expansions of boxes; S: entries of G for near cells.
//
// The transpose does the same steps in reverse order. Boxes sum the weights of their stations, or the sums of
// their child boxes; clusters add the sums of the boxes that they interact with, and pass them down to their
// cells. M2Lᵀ is M2L with the two expansions exchanged; L2Lᵀ is M2M, and M2Mᵀ is L2L, with the signs of all
// centres changed (fmm/local.hpp).
//
// Which clusters and boxes interact, and the orders, are determined once, for cells of unit density: so G is
// one matrix, close to the exact one, and Gᵀ is its transpose to rounding. A product is bitwise the same for
// any number of threads.
#pragma once

#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/fmm/fmm.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/sensitivity/near_entries.hpp"
#include "terrane/physics/gravity/sensitivity/steps.hpp"

namespace terrane::gravity {

class CellFmm {
 public:
  /// cells: some of the source's; columns: their indices in the source; accuracy: of a product, relative to
  /// the largest value that cells of unit density cause. Computes the lists and the near entries. Throws
  /// Cancelled.
  CellFmm(PrismSet cells, std::vector<std::uint32_t> columns, const SensitivityColumns& source,
          double accuracy, int threads, Progress& progress);

  /// The steps that compute data = G model, and model = Gᵀ data.  model: all columns of the source, of which
  /// only those of these cells are used. The spans and this object must outlive the steps.
  Steps product(std::span<const double> model, std::span<double> data) const;
  Steps transpose(std::span<const double> data, std::span<double> model) const;
  /// The steps that compute diag(GᵀWG), with data weights W. They treat distant cells and boxes as points,
  /// accurate to some ten per cent: enough for weights and preconditioners.
  Steps diagonal(std::span<const double> weight, std::span<double> diagonal) const;

  /// Bytes of cells, stations, near entries, lists, and the arrays of products.
  double bytes() const;
  /// Upper estimate of the bytes of all blocks.  whole, counted: the method and its cost if all cells are one
  /// block
  static double bytes(const Fmm& whole, const FmmCost& counted, std::size_t observables, std::size_t blocks);

  /// The settings of the fast multipoles: order of expansions, size of leaves, work of near pairs.
  static Fmm::Kept kept(double accuracy, std::size_t cells, std::size_t stations, std::size_t observables);

 private:
  struct Cluster {
    LocalPlace place;
    std::uint32_t first, count, child, children;
    int order = -1;           ///< order of the cluster's expansion; −1: none is used
    bool moves = false;       ///< whether the cluster's expansion is computed from those of its children
    std::size_t numbers = 0;  ///< index of the cluster's first coefficient in an array of all
    /// The cluster's ranges in by_cluster_ and in gathered_.
    std::size_t first_box = 0, last_box = 0, first_gathered = 0, last_gathered = 0;
  };
  struct Box {
    LocalPlace place;
    double radius;
    std::uint32_t tile, child, children, parent;
    int degree = -1;          ///< degree of the box's local expansion; −1: it has none
    std::size_t numbers = 0;  ///< index of the box's first coefficient in an array of all
    std::size_t first_source = 0, last_source = 0;  ///< range of the box's interactions in by_box_
  };
  /// An interaction of a cluster and a box, in one of two lists.
  struct Pair {
    std::uint32_t other;  ///< index of the cluster (in by_box_) or of the box (in by_cluster_)
    int order;            ///< order of the multipole expansion that is translated
  };
  /// Cells from which a cluster's expansion is computed directly.
  struct Gathered {
    std::uint32_t cluster, first, count;
  };
  struct PointWeights;

  void take_boxes(const Fmm& fmm);
  void take_pairs(const Fmm& fmm, const std::vector<Fmm::Served>& served);
  void take_clusters(const Fmm& fmm);
  void number_expansions();
  void list_gathered(const Fmm& fmm);
  void list_by_cluster();
  std::size_t count_of(int degree) const { return static_cast<std::size_t>(coefficient_count(degree)); }
  void gather(const Cluster& cluster, const double* model, double* numbers) const;
  void move(const Cluster& cluster, double* numbers) const;
  void make_local(const Box& box, const double* clusters, double* boxes) const;
  void evaluate(std::size_t tile, const double* model, const double* boxes, std::span<double> data) const;
  void weigh(std::size_t tile, std::span<const double> data, double* boxes) const;
  void gather_boxes(const Box& box, double* boxes) const;
  void gather_from_boxes(const Cluster& cluster, const double* boxes, double* clusters) const;
  void pass_to_children(const Cluster& cluster, double* clusters) const;
  void pass_to_cells(std::size_t chunk, const double* clusters, std::span<double> model) const;
  template <class WeightOf>
  double squares(const double (&mass)[3], const double (&station)[3], const WeightOf& weight_of) const;
  void add_squares(const Cluster& leaf, const PointWeights& from, std::span<double> diagonal) const;
  void add_level_steps(Steps& steps, bool upwards, const std::vector<std::size_t>& levels,
                       const std::function<void(std::size_t)>& body) const;
  template <class Add>
  Tasks add_near(std::span<double> model, const Add& add) const;

  PrismSet cells_;                      ///< cells in the order of the tree
  std::vector<std::uint32_t> columns_;  ///< index of each cell in the source
  std::size_t stations_;
  std::vector<Observable> observables_;
  int threads_, added_ = 0;
  bool tensor_ = false;
  std::shared_ptr<const Receivers> receivers_;
  std::vector<Cluster> clusters_;  ///< clusters, level by level; children come after their parents
  std::vector<Box> boxes_;
  /// Index of the first cluster and of the first box of each level, and the end.
  std::vector<std::size_t> cluster_levels_, box_levels_;
  /// Box that contains each tile; indices of leaves, which are clusters without children.
  std::vector<std::uint32_t> box_of_tile_, leaves_;
  std::vector<Pair> by_box_,
      by_cluster_;  ///< pairs of each box, and of each cluster; the highest orders first
  std::vector<Gathered> gathered_;
  /// [chunks of cells] indices in gathered_ of those that contain cells of the chunk
  std::vector<std::vector<std::uint32_t>> around_;
  std::size_t cluster_numbers_ = 0, box_numbers_ = 0;
  NearEntries near_;
  std::vector<std::size_t> tile_tasks_, leaf_tasks_;
  const ExpansionKernels& kernels_;
  const LocalKernels& local_kernels_;
  mutable Scratch scratch_;
};

}  // namespace terrane::gravity
