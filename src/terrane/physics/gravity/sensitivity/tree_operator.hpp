// G and Gᵀ by trees, for stations that form no lattice: the cells are divided by vertical planes into at most
// 16 blocks, each with its own tree (cell_tree.hpp) for all stations. The planes are vertical because near
// cells, which need most of the memory and of the time, lie below the stations: each block gets its share of
// them.
#pragma once

#include "terrane/physics/gravity/sensitivity/block_operator.hpp"
#include "terrane/physics/gravity/sensitivity/cell_tree.hpp"

namespace terrane::gravity {

class TreeSensitivity final : public BlockOperator<CellTree> {
 public:
  /// Rows and columns are those of `source`. accuracy: of a product, relative to the largest value that cells
  /// of unit density cause; at least `most_accurate`. Throws InputError, Cancelled.
  TreeSensitivity(const SensitivityColumns& source, double accuracy, int threads = 0,
                  Progress* progress = nullptr, solve::ShareOfParts share = {});

  /// The best accuracy, because near entries are in single precision.
  static constexpr double most_accurate = 1e-7;
  static constexpr std::size_t most_parts = 16;

  /// Estimated cost of an operator, from a sample of the stations: bytes, and seconds of one core and of a
  /// GPU (device_operators.hpp); on the GPU without the transfer of vectors.
  struct Cost {
    double bytes = 0, seconds_to_make = 0, seconds_per_product = 0;
    double bytes_on_device = 0, seconds_per_product_on_device = 0;
  };
  static Cost cost(const SensitivityColumns& source, double accuracy, int threads);
};

}  // namespace terrane::gravity
