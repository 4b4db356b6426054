#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t least_cells = 1024;  // of a block

std::size_t count_of_blocks(std::size_t cells) {
  std::size_t count = 1;
  while (count < TreeSensitivity::most_parts && cells / (2 * count) >= least_cells) count *= 2;
  return count;
}

/// Halves of halves, each cut across its longer horizontal side between the middle ones of its cells.
void cut_blocks(const PrismSet& cells, std::span<std::uint32_t> which, std::size_t count,
                std::vector<std::vector<std::uint32_t>>& blocks) {
  if (count == 1) {
    auto& block = blocks.emplace_back(which.begin(), which.end());
    std::sort(block.begin(), block.end());
    return;
  }
  const std::vector<double>*const low[2] = {&cells.west, &cells.south}, *const high[2] = {&cells.east,
                                                                                          &cells.north};
  double extent[2];
  for (std::size_t a = 0; a < 2; ++a) {
    double from = (*low[a])[which.front()], to = (*high[a])[which.front()];
    for (const auto c : which) {
      from = std::min(from, (*low[a])[c]);
      to = std::max(to, (*high[a])[c]);
    }
    extent[a] = to - from;
  }
  const std::size_t axis = extent[1] > extent[0] ? 1 : 0, half = which.size() / 2;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const double at_a = (*low[axis])[a] + (*high[axis])[a], at_b = (*low[axis])[b] + (*high[axis])[b];
    return at_a < at_b || (at_a == at_b && a < b);
  };
  std::nth_element(which.begin(), which.begin() + static_cast<std::ptrdiff_t>(half), which.end(), before);
  cut_blocks(cells, which.first(half), count / 2, blocks);
  cut_blocks(cells, which.subspan(half), count / 2, blocks);
}

std::vector<std::vector<std::uint32_t>> blocks_of(const PrismSet& cells) {
  std::vector<std::uint32_t> all(cells.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::vector<std::uint32_t>> blocks;
  cut_blocks(cells, all, count_of_blocks(cells.size()), blocks);
  return blocks;
}

/// Errors of the blocks add up as if they were random, and each block's is relative to its own largest value.
double accuracy_of_block(double accuracy, std::size_t blocks) {
  return accuracy / std::sqrt(static_cast<double>(blocks));
}

/// The steps of all trees side by side: the first of each, then the second.
void run_together(const std::vector<Steps>& trees, int threads) {
  for (std::size_t step = 0; !trees.empty() && step < trees.front().size(); ++step) {
    std::vector<std::size_t> first(1, 0);  // task of each tree
    for (const auto& steps : trees) first.push_back(first.back() + steps[step].count);
    for_each(first.back(), threads, [&](std::size_t task) {
      const auto tree =
          static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), task) - first.begin()) - 1;
      trees[tree][step].run(task - first[tree]);
    });
  }
}

}  // namespace

TreeSensitivity::TreeSensitivity(const SensitivityColumns& source, double accuracy, int threads,
                                 Progress* progress, solve::ShareOfParts share)
    : rows_(source.rows()), columns_(source.columns()), threads_(threads) {
  if (!(accuracy >= most_accurate))
    throw InputError("sensitivities by a tree",
                     "no finer than 1e-7: what is near is kept in single precision");
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  blocks_ = blocks_of(source.cells());
  held_ = share.of(parts());
  bar.start("sensitivities", columns_of(held_).size());
  trees_.resize(held_.size());
  const auto grow = [&](std::size_t i) {
    const auto& columns = blocks_[held_.first + i];
    ShareOfProgress quiet(bar, 0);  // asks whether it is cancelled
    PrismSet cells;
    cells.reserve(columns.size());
    for (const auto c : columns) cells.push_back(source.cells()[c]);
    trees_[i] = std::make_unique<CellTree>(std::move(cells), columns, source,
                                           accuracy_of_block(accuracy, parts()), threads, quiet);
    bar.advance(columns.size());
  };
  // A thread a tree where there are enough trees; otherwise one after the other, each on all threads.
  if (2 * trees_.size() > static_cast<std::size_t>(thread_count(threads)))
    for_each(trees_.size(), threads, grow);
  else
    for (std::size_t i = 0; i < trees_.size(); ++i) grow(i);
  bar.finish();
}

std::vector<std::uint32_t> TreeSensitivity::columns_of(const Range& parts) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = parts.first; p < parts.last; ++p)
    columns.insert(columns.end(), blocks_[p].begin(), blocks_[p].end());
  return columns;
}

/// steps_of(the tree of a part, its place among the parts)
template <class StepsOf>
void TreeSensitivity::run(const Range& parts, const StepsOf& steps_of) const {
  std::vector<Steps> trees;
  for (std::size_t p = parts.first; p < parts.last; ++p)
    trees.push_back(steps_of(*trees_[p - held_.first], p - parts.first));
  run_together(trees, threads_);
}

void TreeSensitivity::apply_parts(const Range& parts, std::span<const double> model,
                                  std::span<double> sums) const {
  run(parts, [&](const CellTree& tree, std::size_t i) {
    return tree.product(model, sums.subspan(i * rows_, rows_));
  });
}

void TreeSensitivity::transpose_parts(const Range& parts, std::span<const double> data,
                                      std::span<double> model) const {
  run(parts, [&](const CellTree& tree, std::size_t) { return tree.transpose(data, model); });
}

void TreeSensitivity::diagonal_parts(const Range& parts, std::span<const double> weight,
                                     std::span<double> diagonal) const {
  run(parts, [&](const CellTree& tree, std::size_t) { return tree.diagonal(weight, diagonal); });
}

double TreeSensitivity::bytes() const {
  double sum = 0;
  for (const auto& tree : trees_) sum += tree->bytes();
  return sum;
}

/// Of one tree for all cells, whose blocks take hardly more time.
TreeSensitivity::Cost TreeSensitivity::cost(const SensitivityColumns& source, double accuracy, int threads) {
  // Measured on one core with AVX2: a near entry made and multiplied, (p + 1)² of an expansion at a station,
  // and a moment of a cell.
  constexpr double near_made = 20e-9, near_product = 0.6e-9, term = 0.25e-9, moment = 0.05e-9;
  const std::vector<double> unit_density(source.columns(), 1.0);
  Progress silent;
  const auto channels = channels_of(source.observables());
  const auto& c = source.cells();
  Tree tree({c.west, c.east, c.south, c.north, c.bottom, c.top, unit_density}, source.stations().view(),
            channels, accuracy_of_block(accuracy, count_of_blocks(c.size())), threads, silent);
  const auto counted = tree.cost(silent);
  const double kinds = static_cast<double>(source.observables().size()), entries = counted.near_pairs * kinds,
               terms = counted.expansion_terms * kinds, p = tree.order(),
               cells = static_cast<double>(source.columns());
  const double levels = std::log2(std::max(2.0, cells / 64)) / 3,
               moments = cells * levels * (p + 1) * (p + 2) * (p + 3) / 6;
  const std::size_t blocks = count_of_blocks(c.size());
  // The same on an H200, and what its kernels wait for each other in a block: 7.5 to 46 ms, where 7.7 to 43
  // were measured (benchmarks/records/2026-11-23-tree_sensitivity-1-gpu.json, its last part).
  constexpr double near_on_device = 8e-12, term_on_device = 4e-12, moment_on_device = 7e-13,
                   block_on_device = 0.45e-3;
  return {CellTree::bytes(tree, counted, source.observables(), blocks),
          counted.near_pairs * near_made + cells * 300e-9,
          entries * near_product + terms * term + moments * moment,
          bytes_of_trees_on_device(tree, counted, source.observables(), blocks),
          entries * near_on_device + terms * term_on_device + moments * moment_on_device +
              static_cast<double>(blocks) * block_on_device};
}

}  // namespace terrane::gravity
