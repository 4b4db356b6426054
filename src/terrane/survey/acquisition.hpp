// Surveys with sources: sources, receivers, frequencies or times, and recorded data.
//
// The kinds of sources and receivers ("electric_dipole", "pressure", ...) depend on the physics, which passes
// their list to check(). Surveys of fields without sources (gravity) are a Survey of stations.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace terrane {

/// Sources or receivers, all of one kind. If an array that may be empty is empty, all elements have the one
/// value stated beside it.
struct Elements {
  std::string kind;       ///< "magnetic_dipole", "pressure"
  std::string component;  ///< the quantity sent or recorded: "h", "e", "v"; empty if the kind determines it
  std::vector<double> easting, northing, up;  ///< [n] m, centres
  std::vector<double> azimuth;                ///< [n] degrees clockwise from north; empty: 0
  std::vector<double> dip;                    ///< [n] degrees below the horizontal; empty: 0. 90 points down
  std::vector<double> length;                 ///< [n] m, length of dipoles and bipoles; empty: points
  std::vector<double> strength;               ///< [n] in the unit of the kind (A.m, N, ...); empty: 1
  std::vector<std::string> name;              ///< [n]; empty: elements are numbered

  std::size_t size() const noexcept { return easting.size(); }
  /// Unit vector (east, north, up) of element n.
  std::array<double, 3> direction(std::size_t n) const;
  /// Both ends of element n: centre ∓ length/2 · direction.
  std::array<std::array<double, 3>, 2> ends(std::size_t n) const;
};

/// Evenly spaced times, s.
struct TimeAxis {
  double first = 0, step = 0;
  std::size_t count = 0;

  double operator[](std::size_t n) const noexcept { return first + step * static_cast<double>(n); }
};

/// Frequencies in Hz, or times; monostate for physics that need neither.
using SpectralAxis = std::variant<std::monostate, std::vector<double>, TimeAxis>;

/// Recorded data, one number per [source, receiver, frequency or time]; NaN where nothing was recorded.
struct Observations {
  std::variant<std::vector<double>, std::vector<std::complex<double>>> values;  ///< [source, receiver, axis]
  std::vector<double>
      uncertainty;  ///< standard deviations, of the real and of the imaginary part; empty: unknown
  std::string unit;
};

struct Acquisition {
  Elements sources, receivers;
  SpectralAxis axis;
  /// For each source, the ascending indices of the receivers that record it; empty: all receivers record all
  /// sources.
  std::vector<std::vector<std::uint32_t>> recorded;
  std::optional<Observations> observed;

  /// Number of frequencies or times; 1 if there is neither.
  std::size_t axis_size() const;
  /// Number of recorded pairs of source and receiver.
  std::size_t pairs() const;
  /// Number of data in a complete data set: pairs() · axis_size().
  std::size_t data_size() const { return pairs() * axis_size(); }
};

/// Throws InputError with the location `where` and the element: no elements, a kind that is not among
/// `kinds`, NaN or infinite coordinates, a dip beyond ±90°, a length below zero. Throws ShapeError: arrays of
/// unequal lengths.
void check(const Elements& elements, std::span<const std::string_view> kinds, const std::string& where);

/// Checks sources and receivers, and also: frequencies not above zero or given twice, a step or count of
/// zero, receivers that do not exist, data of another size, uncertainties not above zero. Physics without
/// sources leave the source arguments empty.
void check(const Acquisition& acquisition, std::span<const std::string_view> source_kinds,
           std::span<const std::string_view> receiver_kinds, const std::string& where = "survey");

/// Standard deviations √((relative · |d|)² + floor²) of the data d; NaN where there is no datum.
std::vector<double> uncertainty_of(const Observations& observed, double relative, double floor);

/// ½ Σ |(predicted − observed) / uncertainty|² over all data that are not NaN, and the number of real values
/// among these (a complex datum counts twice). predicted: of the type and order of `observed`. Throws
/// ShapeError; InputError: the uncertainty is unknown.
struct WeightedMisfit {
  double value = 0;
  std::size_t count = 0;
};
WeightedMisfit misfit(const Observations& observed,
                      const std::variant<std::vector<double>, std::vector<std::complex<double>>>& predicted);

}  // namespace terrane
