// The tree: a hierarchy of clusters of prisms; the field of a distant cluster is that of one multipole
// expansion.
//
// The hierarchy is an octree over the prisms' centres. A prism much larger than an octree cell belongs to a
// coarser cell, so that it does not enlarge the clusters of its small neighbours. At a tile of stations, a
// cluster is evaluated with the lowest order whose error bound is small enough; if there is none, its
// children are tried. Leaves that remain are summed pair by pair by the direct kernels, which treat stations
// inside and on prisms as the direct method does. docs/theory/fast.md has the bound and measurements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/mesh/octree.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/physics/gravity/tree/expansion.hpp"

namespace terrane::gravity {

/// Seconds to compute a pair in extended precision.
inline constexpr double seconds_per_pair_by_itself = 1.5e-6;

/// The work of one evaluation, counted on a sample of the stations.
struct TreeCost {
  double expansions = 0;       ///< number of evaluations, expansion · station
  double expansion_terms = 0;  ///< Σ (order + 1)² of the expansions
  double near_pairs = 0;       ///< prism · station pairs summed directly
  double seconds = 0;          ///< seconds on one core, without the time to compute the expansions
  /// The part of `seconds` for pairs inside, on and close to stretched prisms, which devices leave to the
  /// CPU.
  double one_by_one_seconds = 0;
  double most_far = 0, most_near = 0;  ///< most expansions and near prisms of one tile of stations
  std::size_t memory_bytes = 0;
};

class TileSums;

/// The sum by the tree. A part is about 512 stations that lie close together.
class Tree final : public Summation {
 public:
  /// A cluster.
  struct Node : Octree::Cell {
    double low[3], high[3];                     // box around the prisms, m
    double centre[3];                           // centre of mass, from |density|, m
    double scale = 0;                           // distance from the centre to the farthest corner, m
    double mass = 0;                            // Σ |density · volume|
    std::size_t expansion = std::string::npos;  // index of the node's expansion

    bool expanded() const { return expansion != std::string::npos; }
    /// Distance from the centre to the nearest point of a box.
    double distance(const Bounds& b) const {
      double sum = 0;
      for (int a = 0; a < 3; ++a) {
        const double d = std::max({b.low[a] - centre[a], centre[a] - b.high[a], 0.0});
        sum += d * d;
      }
      return std::sqrt(sum);
    }
  };
  /// The largest relative error allowed in an expansion: of the potential V, gravity g and gradients Γ.
  struct Tolerance {
    double of[3];
  };

  /// Coefficients of expansions, each computed when it is first needed.
  struct Expansions {
    int order = 0;
    std::unique_ptr<double[]> coefficients;  // [expansions][coefficient_count(order)]
    std::vector<std::uint8_t> made;          // [nodes] whether the expansion of each was made

    Expansion of(const Node& node) const {
      return {{node.centre[0], node.centre[1], node.centre[2]},
              node.scale,
              coefficients.get() + node.expansion * static_cast<std::size_t>(coefficient_count(order))};
    }
  };

  /// Settings for methods that are built on the tree; 0: the best value for the tree itself.
  struct Leaves {
    std::size_t prisms = 0;            ///< most prisms in a leaf
    std::uint32_t least_expanded = 0;  ///< fewest prisms of a leaf that has an expansion
    int order = 0;                     ///< highest order of expansions
    std::size_t stations = 0;          ///< most stations in a tile
  };

  /// Sorts the prisms into clusters. Expansions are computed when they are needed. The views must outlive the
  /// tree. accuracy: relative to the largest value of each kind of channel over the survey.
  Tree(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
       Progress& progress, Leaves leaves = {0, 0, 0, 0});
  ~Tree() override;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  /// Estimates the work of sum() from a few tiles of stations.
  TreeCost cost(Progress& progress);

  std::size_t parts() const override;
  Part part(std::size_t index) const override;
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override;

  /// A bound of the error, known once sum() has run: relative to the largest value of each kind.
  double error_bound() const noexcept { return error_bound_; }

  // Functions for evaluation on a device (tree_device.hpp):

  /// Computes masses, sizes and error bounds of the clusters, and the tolerance, unless this is done already.
  void prepare(Progress& progress);
  /// Computes expansions of clusters, each once; they do not depend on the order of the calls.  wanted:
  /// [clusters], not 0 for those that meetings() found
  void make_expansions(std::vector<std::uint8_t> wanted, Progress& progress);
  const Prisms& prisms() const noexcept { return prisms_; }
  const Stations& stations() const noexcept { return stations_; }
  ChannelSet channels() const noexcept { return channels_; }
  int threads() const noexcept { return threads_; }
  int order() const noexcept { return order_; }
  double accuracy() const noexcept { return accuracy_; }
  /// Relative accuracy of every pair of prism and station that is summed directly.
  double pair_accuracy() const noexcept { return pair_accuracy_; }
  const std::vector<std::uint32_t>& prism_order() const { return sources_->order(); }
  std::size_t clusters() const;
  /// The cluster's prisms: index of the first in prism_order(), and their number.
  std::pair<std::uint32_t, std::uint32_t> prisms_of(std::size_t cluster) const;
  bool is_leaf(std::size_t cluster) const;
  /// The stations, in tiles.
  const Receivers& receivers() const noexcept { return *receivers_; }
  std::shared_ptr<const Receivers> shared_receivers() const noexcept { return receivers_; }
  /// The cluster's expansion. Its coefficients are null if the cluster has none, and are valid once
  /// make_expansions() has computed them.
  Expansion expansion(std::size_t cluster) const;
  /// Number of clusters that have an expansion.
  std::size_t expansions() const noexcept { return radial_.size() / radials(); }
  /// The clusters with which stations within a box interact: distant ones by expansions, with the order
  /// needed; leaves pair by pair.
  struct Meetings {
    struct Far {
      std::uint32_t cluster;
      std::uint32_t order;
    };
    std::vector<Far> far;
    std::vector<std::uint32_t> near;
  };
  Meetings meetings(const Bounds& bounds) const;

  // Functions for methods that use the tree (fmm/):

  /// Number of operations on packs to evaluate an expansion at a pack of stations, and to compute an average
  /// pair in the direct kernels.
  static double evaluation_work(int order, bool tensor);
  static double pair_work(double accuracy);
  /// Number of pairs of a prism of a leaf and a station of a tile that touch, or are too close to a stretched
  /// prism for the stable form.
  std::size_t pairs_one_by_one(const Node& leaf, std::size_t tile, const Switching& switching) const;
  /// Bytes that sum() needs after prepare().
  std::size_t memory_bytes() const;
  /// Bytes that were needed to build the tree, without expansions.
  std::size_t bytes_to_grow() const;
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Node> children(const Node& node) const {
    return {nodes_.data() + node.child, node.children};
  }
  std::size_t number(const Node& node) const { return static_cast<std::size_t>(&node - nodes_.data()); }
  const Sources& sources() const { return *sources_; }
  const Expansions& made() const { return expansions_; }
  bool wants(int kind) const { return wanted_[kind]; }
  bool wants_tensor() const { return wanted_[2]; }
  /// Bounds b_n, n = 0 .. order + 1, of the absolute moments Σ |m| |η|^n / Σ |m| of a cluster with an
  /// expansion. m: masses of its prisms; η: their points relative to its centre, in units of its scale.
  std::span<const float> moment_bounds(const Node& node) const {
    return std::span(radial_).subspan(node.expansion * radials(), radials());
  }
  /// Whether an expansion is computed from the prisms directly rather than from the children's expansions.
  bool gathers(const Node& node) const;
  /// Tolerance at a tile of receivers(), after prepare().
  Tolerance tolerance(std::size_t tile) const;
  /// The lowest order up to `highest` whose error, at this distance from the centre, is within the tolerance;
  /// -1: none.
  int serving_order(const Node& node, double distance, const Tolerance& tolerance, int highest) const;

 private:
  /// [V, g, Γ] Sums over clusters of the magnitude of each cluster's field, and of its square.
  struct AbsoluteFields {
    double sum[3], square[3];
  };

  void measure(Progress& progress);
  void number_expansions();
  /// Box of the prism at an index of prism_order(), m.
  Bounds box_of(std::size_t place) const;
  void weigh(Node& node) const;
  double reach(const Node& node) const;
  void bound_moments(const Node& node);
  void add_moments(const Node& child, const Node& node, double* even) const;
  /// Number of bounds of absolute moments that an expansion has.
  std::size_t radials() const noexcept { return static_cast<std::size_t>(order_ + 2); }
  Expansions room_for_expansions(int order) const;
  void make(const Node& node, Expansions& to) const;
  void make_expansions(std::vector<std::uint8_t> wanted, Expansions& to, Progress& progress) const;
  void make_expansions(std::span<const std::size_t> tiles, std::span<const Tolerance> tolerances,
                       Expansions& to, Progress& progress) const;
  void find_tolerance(Progress& progress);
  std::vector<std::array<double, 3>> absolute_fields_of_tiles(Progress& progress);
  std::vector<std::size_t> tiles_to_try(const std::vector<std::array<double, 3>>& fields) const;
  std::vector<std::array<double, 3>> largest_at(const std::vector<std::size_t>& sample, double relative,
                                                Expansions& expansions, Progress& progress);
  Tolerance tolerance_at(const Bounds& bounds) const;
  double tolerance_of(double together, int kind) const;
  void add_to(TileSums& sums, std::span<const Tolerance> tolerances, int highest) const;
  template <class Far, class Near>
  void traverse(const Bounds& bounds, const Tolerance& tolerance, int highest, const Far& far,
                const Near& near) const;
  AbsoluteFields absolute_fields(const Bounds& bounds) const;
  std::size_t tiles_per_task() const;

  Prisms prisms_;
  Stations stations_;
  ChannelSet channels_;
  double accuracy_;
  int threads_;
  bool wanted_[3] = {};  ///< whether V, g, Γ are requested
  int order_ = 0;        ///< highest order of expansions
  std::size_t leaf_ = 64, stations_per_tile_ = 16;
  /// Fewest prisms of a node with an expansion (see Leaves); 0: computed from the order.
  std::uint32_t least_expanded_ = 0;
  const ExpansionKernels& kernels_;
  std::unique_ptr<Sources> sources_;
  std::shared_ptr<const Receivers> receivers_;
  std::vector<Node> nodes_;          // nodes, level by level; children come after their parents
  std::vector<std::size_t> levels_;  // first node of each level, and the end
  Expansions expansions_;
  std::vector<float> radial_;                   // [expansions][order + 2] moment_bounds()
  std::vector<std::array<float, 3>> together_;  // [tiles][V, g, Γ] square roots of AbsoluteFields::square
  double largest_[3] = {};                      // [V, g, Γ] lower bounds of the largest value
  double pair_accuracy_ = best_accuracy;
  bool measured_ = false, tolerance_known_ = false;
  double error_bound_ = 0;
};

}  // namespace terrane::gravity
