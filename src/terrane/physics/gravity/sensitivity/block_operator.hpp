// The matrix G of sensitivities, divided into blocks of cells. Each block is a part
// (solve/matrices/parted.hpp): several ranks may share the blocks, and each rank stores only its own. Blocks
// depend on the cells alone, so a product is bitwise the same for any number of threads and ranks.
//
// A Block has product(), transpose() and diagonal(), which return Steps, and bytes().
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sensitivity/blocks.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"
#include "terrane/physics/gravity/sensitivity/steps.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::gravity {

/// Returns `accuracy`. Throws InputError if it is below most_accurate, the best that entries of near cells in
/// single precision allow.
inline double accuracy_in_single(double accuracy, double most_accurate, const char* where) {
  if (accuracy >= most_accurate) return accuracy;
  throw InputError(where, "no finer than 1e-7: what is near is kept in single precision");
}

template <class Block>
class BlockOperator : public solve::PartedOperator {
 public:
  /// Rows and columns are those of `source`. accuracy: of a product of all blocks. Throws Cancelled.
  BlockOperator(const SensitivityColumns& source, double accuracy, std::size_t most_parts, int threads,
                Progress* progress, solve::ShareOfParts share)
      : rows_(source.rows()),
        columns_(source.columns()),
        threads_(threads),
        blocks_(blocks_of(source.cells(), most_parts)),
        held_(share.of(blocks_.size())) {
    Progress silent;
    Progress& bar = progress ? *progress : silent;
    bar.start("sensitivities", columns_of(held_).size());
    made_.resize(held_.size());
    const auto make = [&](std::size_t i) {
      const auto& columns = blocks_[held_.first + i];
      ShareOfProgress quiet(bar, 0);  // advances no progress, but reports cancellation
      PrismSet cells;
      cells.reserve(columns.size());
      for (const auto c : columns) cells.push_back(source.cells()[c]);
      made_[i] = std::make_unique<Block>(std::move(cells), columns, source,
                                         accuracy_of_block(accuracy, parts()), threads, quiet);
      bar.advance(columns.size());
    };
    // One thread per block if there are enough blocks; otherwise one block after the other, each on all
    // threads.
    if (2 * made_.size() > static_cast<std::size_t>(thread_count(threads)))
      for_each(made_.size(), threads, make);
    else
      for (std::size_t i = 0; i < made_.size(); ++i) make(i);
    bar.finish();
  }

  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  std::size_t parts() const override { return blocks_.size(); }
  Range held() const override { return held_; }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override {
    std::vector<std::uint32_t> columns;
    for (std::size_t p = parts.first; p < parts.last; ++p)
      columns.insert(columns.end(), blocks_[p].begin(), blocks_[p].end());
    return columns;
  }
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override {
    run(parts, [&](const Block& block, std::size_t i) {
      return block.product(model, sums.subspan(i * rows_, rows_));
    });
  }
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override {
    run(parts, [&](const Block& block, std::size_t) { return block.transpose(data, model); });
  }
  /// Treats distant clusters as points, accurate to some ten per cent: enough for weights and
  /// preconditioners.
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override {
    run(parts, [&](const Block& block, std::size_t) { return block.diagonal(weight, diagonal); });
  }

  /// Bytes of all parts that this process stores.
  double bytes() const {
    double sum = 0;
    for (const auto& block : made_) sum += block->bytes();
    return sum;
  }
  /// Transfers ownership of a stored part; after that the operator must not be used.
  std::unique_ptr<Block> take(std::size_t part) { return std::move(made_[part - held_.first]); }

 private:
  /// Runs the steps of all blocks in `parts` together.  steps_of(block, its index in `parts`) returns those
  /// of one.
  template <class StepsOf>
  void run(const Range& parts, const StepsOf& steps_of) const {
    std::vector<Steps> all;
    for (std::size_t p = parts.first; p < parts.last; ++p)
      all.push_back(steps_of(*made_[p - held_.first], p - parts.first));
    run_together(all, threads_);
  }

  std::size_t rows_, columns_;
  int threads_;
  std::vector<std::vector<std::uint32_t>> blocks_;  ///< columns that belong to each part
  Range held_;
  std::vector<std::unique_ptr<Block>> made_;  ///< blocks that this rank stores
};

}  // namespace terrane::gravity
