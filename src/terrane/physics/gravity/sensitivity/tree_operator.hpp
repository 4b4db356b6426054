// G and Gᵀ by trees, for stations that form no lattice: the cells are cut into at most 16 upright blocks,
// each with a tree of its own (cell_tree.hpp) for all stations. A block is a part (solve/parted.hpp), so
// several ranks may share them, each with the lists and near entries of its own blocks only.
//
// Blocks depend on the cells alone, so a product has the same bits on any number of threads and ranks. They
// are upright because near cells, which take most of the memory and of the time, lie below the stations: each
// block has its share of them.
#pragma once

#include <memory>
#include <vector>

#include "terrane/physics/gravity/sensitivity/cell_tree.hpp"
#include "terrane/solve/parted.hpp"

namespace terrane::gravity {

class TreeSensitivity final : public solve::PartedOperator {
 public:
  /// Rows and columns as of the source. accuracy: of a product, relative to the largest value that cells of
  /// unit density give, from `most_accurate` up. Throws InputError, Cancelled.
  TreeSensitivity(const SensitivityColumns& source, double accuracy, int threads = 0,
                  Progress* progress = nullptr, solve::ShareOfParts share = {});

  static constexpr double most_accurate = 1e-7;  ///< what near entries in single precision allow
  static constexpr std::size_t most_parts = 16;

  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  std::size_t parts() const override { return blocks_.size(); }
  Range held() const override { return held_; }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override;
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override;
  /// Far clusters as points, which is right to some ten per cent: enough for weights and to precondition.
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override;

  /// Of all parts that are held (CellTree::bytes).
  double bytes() const;
  /// Hands the tree of a part over that is held: the operator is of no use any more.
  std::unique_ptr<CellTree> take(std::size_t part) { return std::move(trees_[part - held_.first]); }

  /// What one will take, from a sample of the stations; bytes and seconds of one core, and of a GPU that it
  /// is brought to (device_operators.hpp), there without the vectors' way to it and back.
  struct Cost {
    double bytes = 0, seconds_to_make = 0, seconds_per_product = 0;
    double bytes_on_device = 0, seconds_per_product_on_device = 0;
  };
  static Cost cost(const SensitivityColumns& source, double accuracy, int threads);

 private:
  template <class StepsOf>
  void run(const Range& parts, const StepsOf& steps_of) const;

  std::size_t rows_, columns_;
  int threads_;
  std::vector<std::vector<std::uint32_t>> blocks_;  ///< columns of each part
  Range held_;
  std::vector<std::unique_ptr<CellTree>> trees_;  ///< of the parts that are held
};

}  // namespace terrane::gravity
