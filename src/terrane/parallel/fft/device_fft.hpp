// Real Fourier transforms in two dimensions, in place, of many arrays at once: by cuFFT on a GPU, by FFTW on
// the debug device.
#pragma once

#include <memory>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// Of arrays [rows][2 (columns / 2 + 1)] doubles, one after the other; a transform and its inverse multiply
/// by rows · columns. There must be an even number of columns: of odd rows cuFFT makes the real and the
/// imaginary part of one transform, two arrays at a time, and the larger leaves its rounding in the smaller.
class DeviceFft {
 public:
  /// threads: of the debug device, 0 for all. Throws ShapeError, MemoryError.
  DeviceFft(Stream& stream, std::size_t columns, std::size_t rows, int threads);
  ~DeviceFft();

  /// How many arrays are always transformed together: it depends on the size alone, so that an array has the
  /// same bits in whatever company.
  static std::size_t at_once(std::size_t columns, std::size_t rows);
  /// Arrays that must be there for `count` of them.
  std::size_t rounded(std::size_t count) const;

  /// The first `count` arrays; those up to rounded(count) are changed too.
  void forward(View<double> arrays, std::size_t count);
  void inverse(View<double> arrays, std::size_t count);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace terrane
