// What a source sends: one number per time step.
//
//   Ricker   s = (1 − 2a) e^{−a},  a = (π f (t − t₀))²                                      t₀ = 1.5 / f
//   Ormsby   s = (T₄ − T₃)/(f₄ − f₃) − (T₂ − T₁)/(f₂ − f₁),  T_n = f_n² sinc²(f_n (t − t₀)), over its peak
//            amplitude spectrum 1 on f₂ … f₃ and linear ramps beside it                      t₀ = 4 / (f₂ −
//            f₁)
//   Gabor    s = exp(−(2π f (t − t₀) / γ)²) cos(2π f (t − t₀)),  γ = 4                       t₀ = 0.75 γ / f
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace terrane::acoustic {

enum class WaveletKind { ricker, ormsby, gabor, samples };

struct Wavelet {
  WaveletKind kind = WaveletKind::ricker;
  double frequency = 0;             ///< Hz, of the peak (Ricker, Gabor)
  std::array<double, 4> corners{};  ///< Hz, of Ormsby, ascending
  double delay = -1;                ///< t₀, s; below zero: as above
  double amplitude = 1;             ///< of the peak, Pa m (3-D), Pa (2-D)
  std::vector<double> samples;      ///< of a wavelet that is given
  double sample_step = 0;           ///< s

  /// t₀.
  double start() const;
  double largest() const;  ///< |s| at the peak, or of the samples
  /// Between them it is more than next to nothing; t₀ and the last of samples.
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
  double half_length() const;  ///< from the middle to where it is next to nothing; of samples all of it
};

}  // namespace terrane::acoustic
