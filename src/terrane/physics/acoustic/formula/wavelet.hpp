// Wavelets: the time series s(t) that a source sends.
//
//   Ricker   s = (1 − 2a) e^{−a},  a = (π f (t − t₀))²                                      t₀ = 1.5 / f
//   Ormsby   s = (T₄ − T₃)/(f₄ − f₃) − (T₂ − T₁)/(f₂ − f₁),  T_n = f_n² sinc²(f_n (t − t₀)), over its peak
//            amplitude spectrum 1 on f₂ … f₃, linear ramps beside it                      t₀ = 4 / (f₂ − f₁)
//   Gabor    s = exp(−(2π f (t − t₀) / γ)²) cos(2π f (t − t₀)),  γ = 4                       t₀ = 0.75 γ / f
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/field.hpp"

namespace terrane::acoustic {

enum class WaveletKind { ricker, ormsby, gabor, samples };
inline constexpr std::array<std::string_view, 4> wavelet_names{"ricker", "ormsby", "gabor", "file"};

struct Wavelet {
  WaveletKind kind = WaveletKind::ricker;
  double frequency = 0;             ///< Hz, of the peak (Ricker, Gabor)
  std::array<double, 4> corners{};  ///< Hz, of Ormsby, ascending
  double delay = -1;                ///< t₀, s; below zero: the usual one of this kind, see above
  double amplitude = 1;             ///< value at the peak, Pa m in 3-D, Pa in 2-D
  std::vector<double> samples;      ///< samples of a wavelet from a file
  double sample_step = 0;           ///< s

  template <class Self, class Field>
  static void fields(Self& w, Field& field) {
    field("wavelet", w.kind, one_of(wavelet_names), "ricker, ormsby, gabor, or file.");
    field("frequency", w.frequency, own_key("frequency", "none", "wavelet"),
          "Peak frequency of ricker and gabor.", "\"15 Hz\"");
    field("corners", w.corners, own_key("list of 4 numbers", "none", "wavelet"),
          "For ormsby: the four corners of its trapezoidal spectrum, Hz.");
    field("delay", w.delay, number(Quantity::time, not_negative).or_open(-1),
          "Time of the wavelet's middle; by default late enough for the wavelet to begin at zero.");
    field("amplitude", w.amplitude, number(finite), "Peak amplitude, Pa m; in two dimensions Pa.");
    field("file", w.samples, own_key("path", "none", "wavelet"),
          "Samples of the wavelet: a table with one column, or .npy.");
    field("sample_step", w.sample_step, own_key("time", "none", "wavelet"),
          "Time between the samples of the file.");
  }

  /// t₀.
  double start() const;
  double largest() const;  ///< |s| at the peak, or of the samples
  /// The times between which the wavelet is not negligible; of samples, those of the first and the last.
  double begins() const;
  double ends() const;
  /// The highest frequency that counts: 2.5 f of a Ricker wavelet (3 % of its peak), f₄, 1.7 f; of samples
  /// where the spectrum falls below 3 % for good.
  double highest_frequency() const;
  /// The frequency that layers are made for: f, the middle of the corners, the peak of the spectrum.
  double main_frequency() const;
  /// s(t). Samples are read between their points by their spectrum (sinc), and are zero outside.
  std::function<double(double)> course() const;
  /// [count] at the times n · step.
  std::vector<double> at(double step, std::size_t count) const;
  /// Throws InputError.
  void check() const;

 private:
  double half_length() const;  ///< time from the middle until s is negligible; of samples the whole length
};

}  // namespace terrane::acoustic
