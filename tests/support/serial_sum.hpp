// Sums as the page on reproducible sums has them, written plainly: what Reduction is tested against.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane::test {

/// The values join in a binary tree; their number is a power of two.
inline double tree_sum(std::vector<double> values) {
  for (std::size_t half = values.size() / 2; half > 0; half /= 2)
    for (std::size_t n = 0; n < half; ++n) values[n] += values[n + half];
  return values[0];
}

/// Of value(k, j, i) over a box in three dimensions.
template <class Value>
double serial_sum(const IndexBox<3>& box, const Value& value) {
  using Cell = std::array<Index, 3>;
  std::map<Cell, std::vector<double>> blocks;  // 32 partial sums each
  for (Index k = box.first[0]; k < box.last[0]; ++k)
    for (Index j = box.first[1]; j < box.last[1]; ++j)
      for (Index i = box.first[2]; i < box.last[2]; ++i) {
        auto& sums = blocks[{k / 4, j / 4, i / 32}];
        sums.resize(32);
        sums[static_cast<std::size_t>(i % 32)] += value(k, j, i);
      }
  std::map<Cell, double> cells;
  for (const auto& [cell, sums] : blocks) cells[cell] = tree_sum(sums);
  while (cells.size() > 1) {
    std::map<Cell, std::vector<double>> parents;
    for (const auto& [cell, sum] : cells) {
      auto& children = parents[{cell[0] / 4, cell[1] / 4, cell[2] / 4}];
      children.resize(64);
      children[static_cast<std::size_t>((cell[0] % 4 * 4 + cell[1] % 4) * 4 + cell[2] % 4)] = sum;
    }
    cells.clear();
    for (const auto& [cell, children] : parents) cells[cell] = tree_sum(children);
  }
  return cells.empty() ? 0 : cells.begin()->second;
}

}  // namespace terrane::test
