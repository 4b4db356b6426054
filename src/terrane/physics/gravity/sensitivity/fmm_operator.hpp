// G and Gᵀ by fast multipoles, for very many stations that form no lattice: the cells are divided by
// vertical planes into at most four blocks, each with its own expansions (cell_fmm.hpp) for all stations.
#pragma once

#include "terrane/physics/gravity/sensitivity/block_operator.hpp"
#include "terrane/physics/gravity/sensitivity/cell_fmm.hpp"

namespace terrane::gravity {

class FmmSensitivity final : public BlockOperator<CellFmm> {
 public:
  /// Arguments are those of TreeSensitivity.
  FmmSensitivity(const SensitivityColumns& source, double accuracy, int threads = 0,
                 Progress* progress = nullptr, solve::ShareOfParts share = {});

  /// The best accuracy, because near entries are in single precision.
  static constexpr double most_accurate = 1e-7;
  /// Most blocks of cells: few, because each evaluates local expansions at all stations.
  static constexpr std::size_t most_parts = 4;

  /// Estimated cost of an operator, from a sample of the stations; seconds of one core.
  struct Cost {
    double bytes = 0, seconds_to_make = 0, seconds_per_product = 0;
  };
  static Cost cost(const SensitivityColumns& source, double accuracy, int threads);
};

}  // namespace terrane::gravity
