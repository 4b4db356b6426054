#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

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

}  // namespace

/// A thread a tree where there are enough trees; otherwise one tree after the other, each on all threads. (On
/// 16 threads trees one after the other took twice the time: each ends with a few large clusters.)
template <class Body>
void TreeSensitivity::for_each_part(const Range& parts, const Body& body) const {
  if (2 * parts.size() > static_cast<std::size_t>(thread_count(threads_)))
    for_each(parts.size(), threads_, [&](std::size_t i) { body(parts.first + i); });
  else
    for (std::size_t p = parts.first; p < parts.last; ++p) body(p);
}

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
  for_each_part(held_, [&](std::size_t p) {
    ShareOfProgress quiet(bar, 0);  // asks whether it is cancelled
    PrismSet cells;
    cells.reserve(blocks_[p].size());
    for (const auto c : blocks_[p]) cells.push_back(source.cells()[c]);
    auto own = std::make_shared<SensitivityColumns>(std::move(cells), source.stations(), source.observables(),
                                                    source.accuracy());
    trees_[p - held_.first] =
        std::make_unique<CellTree>(std::move(own), accuracy_of_block(accuracy, parts()), threads, quiet);
    bar.advance(blocks_[p].size());
  });
  bar.finish();
}

std::vector<std::uint32_t> TreeSensitivity::columns_of(const Range& parts) const {
  std::vector<std::uint32_t> columns;
  for (std::size_t p = parts.first; p < parts.last; ++p)
    columns.insert(columns.end(), blocks_[p].begin(), blocks_[p].end());
  return columns;
}

void TreeSensitivity::apply_parts(const Range& parts, std::span<const double> model,
                                  std::span<double> sums) const {
  for_each_part(parts, [&](std::size_t p) {
    std::vector<double> own(blocks_[p].size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = model[blocks_[p][i]];
    tree(p).apply(own, sums.subspan((p - parts.first) * rows_, rows_));
  });
}

/// fill(tree of a part, its columns), and from there into the model.
template <class Fill>
void TreeSensitivity::scatter(const Range& parts, std::span<double> model, const Fill& fill) const {
  for_each_part(parts, [&](std::size_t p) {
    std::vector<double> own(blocks_[p].size());
    fill(tree(p), own);
    for (std::size_t i = 0; i < own.size(); ++i) model[blocks_[p][i]] = own[i];
  });
}

void TreeSensitivity::transpose_parts(const Range& parts, std::span<const double> data,
                                      std::span<double> model) const {
  scatter(parts, model,
          [&](const CellTree& tree, std::span<double> own) { tree.apply_transpose(data, own); });
}

void TreeSensitivity::diagonal_parts(const Range& parts, std::span<const double> weight,
                                     std::span<double> diagonal) const {
  scatter(parts, diagonal,
          [&](const CellTree& tree, std::span<double> own) { tree.weighted_diagonal(weight, own); });
}

double TreeSensitivity::bytes() const {
  double sum = 0;
  for (const auto& tree : trees_) sum += tree->bytes();
  return sum;
}

/// Of one tree for all cells: blocks take hardly more.
TreeSensitivity::Cost TreeSensitivity::cost(const SensitivityColumns& source, double accuracy, int threads) {
  // Measured on one core with AVX2: a near entry made and multiplied, a number of an expansion at a station,
  // and the moments of a cell.
  constexpr double near_made = 20e-9, near_product = 0.6e-9, term = 3e-9, moments = 0.25e-9;
  const std::vector<double> unit_density(source.columns(), 1.0);
  Progress silent;
  const auto channels = channels_of(source.observables());
  const auto& c = source.cells();
  Tree tree({c.west, c.east, c.south, c.north, c.bottom, c.top, unit_density}, source.stations().view(),
            channels, accuracy_of_block(accuracy, count_of_blocks(c.size())), threads, silent);
  const auto counted = tree.cost(silent);
  const double entries = counted.near_pairs * static_cast<double>(source.observables().size()),
               p = tree.order(), cells = static_cast<double>(source.columns());
  const double levels = std::log2(std::max(2.0, cells / 64)) / 3;
  const double a_pair = (channels & tensor_channels).empty() ? 1 : 2;
  return {entries * sizeof(float) + cells * 130, counted.near_pairs * near_made + cells * 300e-9,
          entries * near_product + counted.expansion_terms * term * a_pair +
              cells * levels * moments * (p + 1) * (p + 2) * (p + 3) / 6};
}

}  // namespace terrane::gravity
