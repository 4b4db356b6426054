// Real Fourier transforms in two dimensions, in place, on the CPU (FFTW).
#pragma once

#include <cstddef>

namespace terrane {

/// Transforms arrays [rows][2 (columns / 2 + 1)] of doubles, aligned to 16 bytes. Transforms are not
/// normalised: forward and inverse together multiply by rows · columns. Several threads may use one object at
/// the same time.
class HostFft {
 public:
  HostFft(std::size_t columns, std::size_t rows);
  ~HostFft();
  HostFft(const HostFft&) = delete;
  HostFft& operator=(const HostFft&) = delete;

  void forward(double* array) const;
  void inverse(double* array) const;

 private:
  void *forward_, *inverse_;  // fftw_plan
};

}  // namespace terrane
