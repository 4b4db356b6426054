// Wavelets: the time series s(t) that a source sends.
//
//   Ricker   s = (1 − 2a) e^{−a},  a = (π f (t − t₀))²                                      t₀ = 1.5 / f
//   Ormsby   s = (T₄ − T₃)/(f₄ − f₃) − (T₂ − T₁)/(f₂ − f₁),  T_n = f_n² sinc²(f_n (t − t₀)), scaled to peak 1
//            amplitude spectrum 1 on f₂ … f₃, linear ramps on both sides                  t₀ = 4 / (f₂ − f₁)
//   Gabor    s = exp(−(2π f (t − t₀) / γ)²) cos(2π f (t − t₀)),  γ = 4                       t₀ = 0.75 γ / f
//
// f: peak frequency; f₁ … f₄: corner frequencies; t₀: time of the wavelet's middle. Formulas are multiplied
// by the amplitude.
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
  double frequency = 0;             ///< peak frequency, Hz (Ricker, Gabor)
  std::array<double, 4> corners{};  ///< corner frequencies f₁ … f₄, Hz, ascending (Ormsby)
  double delay = -1;                ///< t₀, s; negative: the default of this kind, see above
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

  /// t₀, s: `delay`, or the default of this kind.
  double start() const;
  double largest() const;  ///< largest |s|: at the peak, or over the samples
  /// The times between which the wavelet is not negligible; for samples, times of the first and the last.
  double begins() const;
  double ends() const;
  /// The highest significant frequency: Ricker 2.5 f (where the spectrum is 3 % of its peak), Ormsby f₄,
  /// Gabor 1.7 f; for samples, the frequency above which the spectrum stays below 3 % of its peak.
  double highest_frequency() const;
  /// The frequency for which absorbing layers are designed: Ricker and Gabor f, Ormsby the middle of the
  /// corners; for samples, the peak of the spectrum.
  double main_frequency() const;
  /// s(t) as a function. Samples are interpolated through their spectrum (sinc), and s is zero outside them.
  std::function<double(double)> course() const;
  /// s at the times n · step, n = 0 … count − 1.
  std::vector<double> at(double step, std::size_t count) const;
  /// Throws InputError.
  void check() const;

 private:
  double half_length() const;  ///< time from the middle until s is negligible; for samples the whole length
};

}  // namespace terrane::acoustic
