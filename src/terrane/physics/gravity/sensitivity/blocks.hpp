// Cells cut into upright blocks, each with an operator of its own for all stations: the parts that ranks
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "terrane/mesh/prism.hpp"

namespace terrane::gravity {

/// A power of two, at most `most`.
std::size_t count_of_blocks(std::size_t cells, std::size_t most);

/// Which cells each has, in order: halves of halves, cut across their longer horizontal sides.
std::vector<std::vector<std::uint32_t>> blocks_of(const PrismSet& cells, std::size_t most);

/// Errors of the blocks add up as if they were random, and each block's is relative to its own largest value.
double accuracy_of_block(double accuracy, std::size_t blocks);

}  // namespace terrane::gravity
