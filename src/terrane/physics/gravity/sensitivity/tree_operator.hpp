// G and Gᵀ by trees, for stations that form no lattice: the cells are cut into at most 16 upright blocks,
// each with a tree of its own (cell_tree.hpp) for all stations. They are upright because near cells, which
// take most of the memory and of the time, lie below the stations: each block has its share of them.
#pragma once

#include "terrane/physics/gravity/sensitivity/block_operator.hpp"
#include "terrane/physics/gravity/sensitivity/cell_tree.hpp"

namespace terrane::gravity {

class TreeSensitivity final : public BlockOperator<CellTree> {
 public:
  /// Rows and columns as of the source. accuracy: of a product, relative to the largest value that cells of
  /// unit density give, from `most_accurate` up. Throws InputError, Cancelled.
  TreeSensitivity(const SensitivityColumns& source, double accuracy, int threads = 0,
                  Progress* progress = nullptr, solve::ShareOfParts share = {});

  /// The best accuracy, as near entries are in single precision.
  static constexpr double most_accurate = 1e-7;
  static constexpr std::size_t most_parts = 16;

  /// Estimated cost of an operator, from a sample of the stations: bytes, and seconds of one core and of a
  /// GPU (device_operators.hpp), there without the transfer of vectors.
  struct Cost {
    double bytes = 0, seconds_to_make = 0, seconds_per_product = 0;
    double bytes_on_device = 0, seconds_per_product_on_device = 0;
  };
  static Cost cost(const SensitivityColumns& source, double accuracy, int threads);
};

}  // namespace terrane::gravity
