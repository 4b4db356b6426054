#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"

namespace terrane::gravity {

TreeSensitivity::TreeSensitivity(const SensitivityColumns& source, double accuracy, int threads,
                                 Progress* progress, solve::ShareOfParts share)
    : BlockOperator(source, accuracy_in_single(accuracy, most_accurate, "sensitivities by a tree"),
                    most_parts, threads, progress, share) {}

/// The cost of one tree for all cells: several blocks need hardly more time.
TreeSensitivity::Cost TreeSensitivity::cost(const SensitivityColumns& source, double accuracy, int threads) {
  // Seconds, measured on one core with AVX2: to compute a near entry; to multiply it; for one of the (p + 1)²
  // terms of an expansion at a station; and for a moment of a cell.
  constexpr double near_made = 20e-9, near_product = 0.6e-9, term = 0.25e-9, moment = 0.05e-9;
  const std::vector<double> unit_density(source.columns(), 1.0);
  Progress silent;
  const auto channels = channels_of(source.observables());
  const auto& c = source.cells();
  Tree tree({c.west, c.east, c.south, c.north, c.bottom, c.top, unit_density}, source.stations().view(),
            channels, accuracy_of_block(accuracy, count_of_blocks(c.size(), most_parts)), threads, silent);
  const auto counted = tree.cost(silent);
  const double kinds = static_cast<double>(source.observables().size()), entries = counted.near_pairs * kinds,
               terms = counted.expansion_terms * kinds, p = tree.order(),
               cells = static_cast<double>(source.columns());
  const double levels = std::log2(std::max(2.0, cells / 64)) / 3,
               moments = cells * levels * (p + 1) * (p + 2) * (p + 3) / 6;
  const std::size_t blocks = count_of_blocks(c.size(), most_parts);
  // Seconds on an H200 per near entry, per term of a series and per moment, and per block the time in which
  // its kernels wait for each other. Products estimated at 7.5 to 46 ms were measured at 7.7 to 43 ms
  // (benchmarks/records/2026-11-23-tree_sensitivity-1-gpu.json, its last part).
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
