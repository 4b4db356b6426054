// The product R₀⁻¹ v of a KroneckerInverse on a device; v is copied from the host and back.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane::solve {

class KroneckerOnDevice {
 public:
  /// Arguments as in KroneckerInverse: for each axis, q [cell, mode], q transposed [mode, cell] and
  /// eigenvalues. device: a result of resolve(), not the CPU. Throws MemoryError.
  KroneckerOnDevice(Device device, const std::array<std::vector<double>, 3>& q,
                    const std::array<std::vector<double>, 3>& q_transposed,
                    const std::array<std::vector<double>, 3>& lambda, const std::array<double, 4>& alpha,
                    int threads);
  /// v ← R₀⁻¹ v
  void apply(std::span<double> v);

 private:
  void contract(const std::array<Buffer<double>, 3>& factor);

  Stream stream_;
  std::array<std::size_t, 3> n_{};
  std::array<Buffer<double>, 3> q_, q_transposed_, lambda_;
  std::array<double, 4> alpha_;
  Buffer<double> a_, b_;  ///< the vector v; work space
};

}  // namespace terrane::solve
