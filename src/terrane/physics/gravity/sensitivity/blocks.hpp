// Divides cells into blocks by vertical planes. Each block has its own operator for all stations; ranks share
// the blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "terrane/mesh/prism.hpp"

namespace terrane::gravity {

/// Number of blocks: a power of two, at most `most`.
std::size_t count_of_blocks(std::size_t cells, std::size_t most);

/// The cells of each block, ascending. Blocks are halved again and again, across their longer horizontal
/// side.
std::vector<std::vector<std::uint32_t>> blocks_of(const PrismSet& cells, std::size_t most);

/// The accuracy that blocks need: their errors add up as random ones, and each block's accuracy is relative
/// to its own largest value.
double accuracy_of_block(double accuracy, std::size_t blocks);

}  // namespace terrane::gravity
