#include "terrane/physics/gravity/sensitivity/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace terrane::gravity {

namespace {

constexpr std::size_t least_cells = 1024;  // least number of cells in a block

/// Halves the cells again and again, each time across the longer horizontal side, with equal numbers of
/// cells.
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

}  // namespace

std::size_t count_of_blocks(std::size_t cells, std::size_t most) {
  std::size_t count = 1;
  while (count < most && cells / (2 * count) >= least_cells) count *= 2;
  return count;
}

std::vector<std::vector<std::uint32_t>> blocks_of(const PrismSet& cells, std::size_t most) {
  std::vector<std::uint32_t> all(cells.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::vector<std::uint32_t>> blocks;
  cut_blocks(cells, all, count_of_blocks(cells.size(), most), blocks);
  return blocks;
}

double accuracy_of_block(double accuracy, std::size_t blocks) {
  return accuracy / std::sqrt(static_cast<double>(blocks));
}

}  // namespace terrane::gravity
