// Seismic sources: forces and moment tensors at points, each with a source time function (course) s(t).
//
//   force   f_n += F φ_n(ξ_s) s(t)            moment   f_n,i += Σ_j M_ij ∂_j φ_n(ξ_s) s(t)
//
// f_n: force at point n of the element that contains the source, i, j: its components; F: force, M: moment
// tensor of the source; φ_n: basis function of point n; ξ_s: the source's coordinates in the element.
//
// Time dispersion: leapfrog steps oscillate too fast. They shift the angular frequency ω of the spatially
// discretised equation to ϑ / Δt, where 2 sin(ϑ / 2) = ω Δt. The shift is known, so it is corrected exactly:
// sources are shifted to ϑ before a run, seismograms back to ω after it. Values after the last step are
// assumed to be zero; without additional steps the last twenty samples would be wrong by some per cent. (Wang
// & Xu 2015, Geophysical Journal International 201; Koene, Robertsson, Broggini & Andersson 2018, same
// journal 213.)
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "terrane/base/field.hpp"
#include "terrane/physics/elastic/element/hexahedron.hpp"

namespace terrane::elastic {

/// ricker    (1 − 2 a t²) e^{−a t²}, a = π² f²              f: width as a frequency, Hz
/// gaussian  e^{−(t/τ)²} / (√π τ)                           τ: width as a time, s
/// step      ½ (1 + erf(t/τ)), the integral of gaussian     τ
/// samples   linear between evenly spaced values, the first at time 0; before them 0, after them the last
/// value
enum class Pulse { ricker, gaussian, step, samples };
inline constexpr std::array<std::string_view, 4> pulse_names{"ricker", "gaussian", "step", "samples"};

struct Course {
  Pulse pulse = Pulse::ricker;
  double width = 1;  ///< frequency, Hz, or duration, s, of the time function; for samples their interval, s
  double delay = 0;  ///< s
  std::vector<double> samples;  ///< samples of the function; only for Pulse::samples

  template <class Self, class Field>
  static void fields(Self& c, Field& field) {
    field("pulse", c.pulse, one_of(pulse_names),
          "ricker, gaussian (of unit area), step (its integral; usual for moment tensors), or samples.");
    field("width", c.width, carried("sources or receivers"));
    field("delay", c.delay, number(Quantity::time, finite), "Time of the middle of the pulse.");
    field("samples", c.samples, own_key("list of numbers", "none", "sources or receivers"),
          "The time function, from `delay` on; linear in between.");
  }

  double at(double time) const;
  /// The time before which the course is less than 1e-6 of its largest value.
  double begins() const;
  /// The time after which the course changes by less than 1e-6 of its largest value.
  double ends() const;
  /// The frequency above which amplitudes are less than a hundredth of the largest, Hz.
  double highest_frequency() const;
  friend bool operator==(const Course&, const Course&) = default;
};

struct Source {
  Vector at{};             ///< m
  bool is_moment = false;  ///< true: moment tensor; false: force
  /// Force east, north, up in N; moment xx, yy, zz, yz, xz, xy in N m.
  std::array<double, 6> strength{};
  Course course;

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("at", s.at, carried("sources or receivers"));
    field("is_moment", s.is_moment, carried("sources or receivers"));
    field("strength", s.strength, carried("sources or receivers"));
    field("course", s.course, carried("sources or receivers"));
  }

  /// Whether the source is an isotropic moment tensor.
  bool is_explosion() const {
    const auto& m = strength;
    return is_moment && m[0] == m[1] && m[1] == m[2] && m[3] == 0 && m[4] == 0 && m[5] == 0;
  }
};

/// The output of FrequencyShift. Its input is changes: changes[n] is the change of a series from instant n to
/// n + 1; before the first and after the last the series does not change. change: the changes; rate: Δt times
/// the derivative in the middle of each step, which differs a little from the change over the step; value:
/// the values at the beginning of each step, if the input has values instead of changes.
enum class Wanted { change, rate, value };
/// Shifts the frequencies of time series of one length such that leapfrog steps produce the right ones
/// (to_leapfrog), or back (from_leapfrog). Coefficients that depend only on the length are computed once.
/// Several threads may use one object.
class FrequencyShift {
 public:
  static FrequencyShift to_leapfrog(std::size_t size);
  static FrequencyShift from_leapfrog(std::size_t size, Wanted wanted = Wanted::change);
  FrequencyShift(FrequencyShift&&) noexcept;
  ~FrequencyShift();
  std::vector<double> operator()(std::span<const double> x) const;

 private:
  class Plan;
  FrequencyShift(std::size_t size, bool to_leapfrog, Wanted wanted);
  std::unique_ptr<Plan> plan_;  ///< null for length 0
};
std::vector<double> to_leapfrog(std::span<const double> changes);
std::vector<double> from_leapfrog(std::span<const double> changes, Wanted wanted = Wanted::change);

}  // namespace terrane::elastic
