// Multipole expansions of the tree's clusters on a device, in solid harmonics (formula/harmonics.hpp). They
// are computed on the CPU, in Cartesian form, when they are needed.
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
  /// unit: the unit of length in all expansions, m; if 0, that of each expansion is the scale of its cluster.
  /// The tree must outlive this object.
  DeviceExpansions(Stream& stream, Tree& tree, double unit);

  /// Computes and uploads the wanted expansions that are not on the device yet.  wanted: [clusters]
  void bring(const std::vector<std::uint8_t>& wanted, Progress& progress);
  /// The coefficients on the device: [expansions][harmonic_count(order)].
  View<const ComplexNumber> view() const { return coefficients_.view(); }

  /// Bytes on the device.
  static double bytes(const Tree& tree);

  /// An expansion whose coefficients are converted.
  struct Given {
    double scale;             ///< length unit of the Cartesian expansion, relative to that of the result
    std::uint32_t expansion;  ///< index of the expansion
  };

 private:
  Stream& stream_;
  Tree& tree_;
  double unit_;
  std::vector<std::uint8_t> brought_;  // [clusters] whether the cluster's expansion is on the device
  Buffer<CartesianToHarmonic> table_;
  Buffer<double> given_;  // Cartesian expansions while they are converted; which_: their clusters
  Buffer<Given> which_;
  Buffer<ComplexNumber> coefficients_;
};

}  // namespace terrane::gravity
