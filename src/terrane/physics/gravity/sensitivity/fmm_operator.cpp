#include "terrane/physics/gravity/sensitivity/fmm_operator.hpp"

#include "terrane/base/error.hpp"

namespace terrane::gravity {

FmmSensitivity::FmmSensitivity(const SensitivityColumns& source, double accuracy, int threads,
                               Progress* progress, solve::ShareOfParts share)
    : BlockOperator(source, accuracy_in_single(accuracy, most_accurate, "sensitivities by fast multipoles"),
                    most_parts, threads, progress, share) {}

/// The cost as if all cells were one block, with the accuracy needed for several blocks.
FmmSensitivity::Cost FmmSensitivity::cost(const SensitivityColumns& source, double accuracy, int threads) {
  // Seconds of one core, measured with AVX-512: to compute a near entry; to sort a cell into the tree; per
  // operation of a product (mean of G and Gᵀ, measured while all blocks were computed at the same time).
  constexpr double near_made = 20e-9, cell_sorted = 400e-9, an_operation = 0.6e-9;
  const std::vector<double> unit_density(source.columns(), 1.0);
  Progress silent;
  const auto& c = source.cells();
  const std::size_t blocks = count_of_blocks(c.size(), most_parts), stations = source.stations().size();
  const double of_block = accuracy_of_block(accuracy, blocks);
  Fmm fmm({c.west, c.east, c.south, c.north, c.bottom, c.top, unit_density}, source.stations().view(),
          channels_of(source.observables()), of_block, threads, silent,
          CellFmm::kept(of_block, c.size(), stations, source.observables().size()));
  const auto counted = fmm.cost(silent);
  return {CellFmm::bytes(fmm, counted, source.observables().size(), blocks),
          counted.near_pairs * near_made + static_cast<double>(c.size()) * cell_sorted,
          counted.operations * an_operation};
}

}  // namespace terrane::gravity
