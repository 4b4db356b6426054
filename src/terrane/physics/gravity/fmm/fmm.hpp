// The fast multipole method: the fields of clusters of prisms at boxes of stations.
//
// The stations form a tree of their own: the tiles of the compact order, cut in halves again and again. Both
// trees are traversed together. If a cluster is far enough from a box of stations, its multipole expansion is
// translated to the local expansion about the centre of the box. Local expansions are shifted from each box
// to its children, and evaluated once at each tile of stations. Clusters that are too near are computed as by
// the tree (tree/): by a multipole expansion at the tile, or pair by pair. So the work is proportional to
// prisms plus stations.
//
// Error of a multipole expansion of order p about c, translated to a local expansion about t:
//   terms of degree n ≤ p in the source y (from c) and j in the station x (from t) are kept if n + j ≤ p + 2;
//   neglected terms of the k-th derivatives (k = 0, 1, 2 for V, g, Γ) have degree n + j ≥ p + 1 + k in the
//   Taylor series of 1/|t − c + x − y|.
// With R = |t − c|, the radii σ of the box and s of the cluster, q = (σ + s)/R, N = p + 1, Σ|m| the mass of
// the cluster, b_N its moment (Tree::moment_bounds()) and c_k of Tree::serving_order() in tree.cpp
//   error ≤ Σ|m| / R^(k+1) · c_k(N) ((σ + s b_N^(1/N))/R)^N / (1 − q c_k(N + 1)/c_k(N))
// because, by Minkowski's inequality, the N-th mean of |x − y| over the cluster is at most |x| plus that of
// |y|. It is the tree's bound with both radii in place of one. The tolerance is the tree's.
// Derivation: docs/theory/fast.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/fmm/local.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

/// The work of a sum, estimated from a sample of its parts.
struct FmmCost {
  double translations = 0;  ///< number of translations, multipole to local
  double expansions = 0;    ///< number of multipole evaluations, expansion · station
  double near_pairs = 0;    ///< prism · station pairs summed directly
  double operations = 0;    ///< all operations on packs
  double seconds = 0;       ///< seconds of one core
  /// The part of `seconds` for pairs inside, on and close to stretched prisms.
  double one_by_one_seconds = 0;
  std::size_t memory_bytes = 0;
  std::size_t asked_bytes = 0;  ///< memory needed to make this estimate
};

/// The sum by fast multipoles. A part is the stations of one box, 512 to 1024 if there are so many.
class Fmm final : public Summation {
 public:
  /// Sorts prisms and stations. The views must outlive this object. accuracy: relative to the largest value
  /// of each kind of channel over the survey.
  Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
      Progress& progress);

  /// Settings for operators that are built on this method (sensitivity/cell_fmm.hpp): the matrix entries of
  /// near pairs are stored, so that a near pair costs little, and all distant clusters use local expansions.
  struct Kept {
    std::size_t leaf;  ///< most prisms in a leaf
    int order;         ///< highest order of multipoles
    double pair_work;  ///< operations per pack of pairs
  };
  Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
      Progress& progress, const Kept& kept);

  /// Settings for sums on a device (fmm_device.hpp): a group of threads computes a tile, a pair costs little
  /// compared with a translation, and all distant clusters use local expansions. 0: the best value.
  struct ForDevice {
    std::size_t leaf;  ///< most prisms in a leaf
    int order;         ///< highest order of multipoles
  };
  Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
      Progress& progress, const ForDevice& device);

  /// The estimated cost; computed by the first call only.
  FmmCost cost(Progress& progress);

  std::size_t parts() const override { return parts_.size(); }
  Part part(std::size_t index) const override;
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override;

  /// A bound of the error, known once sum() has run: relative to the largest value of each kind.
  double error_bound() const noexcept { return tree_.error_bound(); }
  const Tree& tree() const noexcept { return tree_; }
  Tree& tree() noexcept { return tree_; }

  /// A box of stations: tiles first .. last − 1 of the receivers.
  struct Cell {
    std::uint32_t first, last;
    std::uint32_t child = 0, children = 0;
    std::uint32_t level = 0;
    std::uint32_t first_part = 0,
                  last_part = 0;  // range of parts within this box, or the part that this box lies in
    Bounds bounds{};
    LocalPlace place{};
    double radius = 0;
    Tree::Tolerance tolerance{};
    bool leaf() const { return children == 0; }
  };
  /// A cluster whose expansion is used, and the order that is accurate enough.
  struct Serving {
    std::uint32_t cluster;
    int order;
  };
  /// The clusters with which a cell interacts.
  struct Served {
    // local: clusters whose expansion is translated to the cell's local one; far: clusters whose expansion is
    // evaluated at the stations of a leaf.
    std::vector<Serving> local, far;
    std::vector<std::uint32_t> near;  // leaves of the tree whose pairs are summed one by one
    std::vector<std::uint32_t> open;  // clusters that are left to the child boxes
  };

  /// All boxes, level by level, parents before children.
  const std::vector<Cell>& cells() const noexcept { return cells_; }
  /// Degrees that local expansions keep beyond the order of multipoles.
  int added() const noexcept { return added_; }
  /// The clusters with which every box interacts; `open` is left empty.
  std::vector<Served> served(Progress& progress);
  /// Like served(progress), for the boxes of all parts that contain one of the tiles first .. last − 1, and
  /// for the boxes around these parts; the lists of other boxes are empty.
  std::vector<Served> served(std::size_t first, std::size_t last, Progress& progress);
  /// Computes the sizes, bounds and tolerances of clusters and boxes, unless this is done already.
  void prepare(Progress& progress);

 private:
  struct Settings {
    Tree::Leaves leaves;
    double pair_work, close_pair_work;
    bool at_stations;
    bool on_device;
  };
  Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
      Progress& progress, const Settings& settings);

  struct Local {
    int degree = -1;  // −1: no expansion
    LocalPlace place{};
    std::vector<double> numbers;
  };
  struct Nothing {};
  struct Counted;
  struct Sample;

  void cut_cells();
  void measure_cells();
  int local_order(const Tree::Node& cluster, const Cell& cell, double near, double distance) const;
  bool serves(const Tree::Node& cluster, const Cell& cell, double near, double distance, int order) const;
  bool serve_at_once(const Tree::Node& cluster, const Cell& cell, Served& to) const;
  void serve(const Cell& cell, std::span<const std::uint32_t> list, Served& to) const;
  Local local_of(const Cell& cell, const Local& above, Served& served) const;
  double stations_of(const Cell& cell) const;
  double packs_of(const Cell& cell) const;
  int count(const Cell& cell, int above, const Served& served, const Switching& switching, Counted& to) const;
  Sample sample_parts() const;
  void walk_sample(Sample& sample, Progress& progress) const;
  Counted count_all(const Sample& sample) const;
  double expansions_met(const Sample& sample) const;
  std::size_t memory_bytes(double expansions) const;
  bool meet_most(std::size_t first, std::size_t last) const;
  static bool holds_parts(const Cell& cell);
  void make_expansions(std::size_t first, std::size_t last, Progress& progress);
  PartSums sum_part(std::size_t part, std::span<const std::uint32_t> list, const Local& above,
                    const Switching& switching, Progress& progress) const;
  template <class State, class Handle>
  void descend(const Cell& cell, std::span<const std::uint32_t> list, const State& above,
               const Handle& handle) const;
  template <class State, class Handle, class Use>
  void walk(const std::vector<std::uint8_t>& wanted, State root, const Handle& handle, const Use& use) const;

  Tree tree_;
  const LocalKernels& kernels_;
  int added_ = 0;  // degrees beyond the order of multipoles
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> parts_;  // index of each part's cell
  std::vector<float> norms_;  // [expansions][order + 2] b_n^(1/n) of the error bound, n = 0 .. order + 1
  double collect_work_[most_order + 1] = {};
  double pair_work_ = 0, close_pair_work_ = 0;
  bool at_stations_ = true;  // whether a multipole expansion may be evaluated at stations
  int lanes_ = 1;            // lanes of a pack on the CPU, threads of a group on a GPU
  bool prepared_ = false;
  std::optional<FmmCost> cost_;
};

}  // namespace terrane::gravity
