// Real Fourier transforms in two dimensions, in place, of many arrays at a time: by cuFFT on a GPU, by FFTW
// on the debug device.
#pragma once

#include <memory>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// Transforms arrays [rows][2 (columns / 2 + 1)] of doubles, stored one after the other. Transforms are not
/// normalised: forward and inverse together multiply by rows · columns. The number of columns must be even:
/// for an odd one cuFFT transforms two arrays at a time, as the real and the imaginary part of one transform,
/// and the larger one leaves rounding errors in the smaller.
class DeviceFft {
 public:
  /// threads: number of CPU threads for the debug device, 0 for all. Throws ShapeError, MemoryError.
  DeviceFft(Stream& stream, std::size_t columns, std::size_t rows, int threads);
  ~DeviceFft();

  /// The number of arrays that one call of cuFFT transforms. It depends on columns and rows alone, so that
  /// the bits of an array's transform do not depend on how many others there are.
  static std::size_t at_once(std::size_t columns, std::size_t rows);
  /// `count` rounded up to a multiple of at_once(): as many arrays must be allocated.
  std::size_t rounded(std::size_t count) const;

  /// Transforms the first `count` arrays; those up to rounded(count) are changed too.
  void forward(View<double> arrays, std::size_t count);
  void inverse(View<double> arrays, std::size_t count);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace terrane
