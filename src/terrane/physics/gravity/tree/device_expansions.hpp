// Multipole expansions of the tree's clusters on a device, in solid harmonics (formula/harmonics.hpp). They
// are made on the CPU, in Cartesian form, when they are wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/gravity/formula/harmonics.hpp"
#include "terrane/physics/gravity/tree/harmonic_series.hpp"
#include "terrane/physics/gravity/tree/tree.hpp"

namespace terrane::gravity {

class DeviceExpansions {
 public:
  /// unit: of their lengths, m; 0: of each the scale of its cluster. The tree must outlive them.
  DeviceExpansions(Stream& stream, Tree& tree, double unit);

  /// wanted [clusters]: makes and brings those that are not there yet.
  void bring(const std::vector<std::uint8_t>& wanted, Progress& progress);
  /// [expansions][harmonic_count(order)]
  View<const ComplexNumber> view() const { return coefficients_.view(); }

  /// Bytes on the device.
  static double bytes(const Tree& tree);

  /// An expansion whose coefficients are converted.
  struct Given {
    double scale;             ///< unit of length of its Cartesian expansion
    std::uint32_t expansion;  ///< its number
  };

 private:
  Stream& stream_;
  Tree& tree_;
  double unit_;
  std::vector<std::uint8_t> brought_;  // [clusters]
  Buffer<CartesianToHarmonic> table_;
  Buffer<double> given_;  // Cartesian expansions, and the clusters that they are of, while they are converted
  Buffer<Given> which_;
  Buffer<ComplexNumber> coefficients_;
};

}  // namespace terrane::gravity
