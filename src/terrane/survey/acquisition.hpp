// Sources, receivers, frequencies or times, and recorded data: surveys of physics with sources.
//
// The kinds of sources and receivers ("electric_dipole", "pressure", ...) are those of the physics, which
// hands its list to check(). A survey of a field that needs no sources (gravity) is a Survey of stations.
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

/// Sources or receivers, all of one kind. Lists that may be left empty mean the same for all.
struct Elements {
  std::string kind;       ///< "magnetic_dipole", "pressure"
  std::string component;  ///< what is sent or recorded: "h", "e", "v"; empty when the kind says it
  std::vector<double> easting, northing, up;  ///< [n] m, of the centres
  std::vector<double> azimuth;                ///< [n] degrees clockwise from north; empty: 0
  std::vector<double> dip;                    ///< [n] degrees below the horizontal; empty: 0. 90 points down
  std::vector<double> length;     ///< [n] m, of dipoles and bipoles along their direction; empty: points
  std::vector<double> strength;   ///< [n] in the unit that the kind has (A.m, N, ...); empty: 1
  std::vector<std::string> name;  ///< [n]; empty: numbers

  std::size_t size() const noexcept { return easting.size(); }
  /// Unit vector east, north, up.
  std::array<double, 3> direction(std::size_t n) const;
  /// Both ends: centre -+ length/2 · direction.
  std::array<std::array<double, 3>, 2> ends(std::size_t n) const;
};

/// Evenly spaced times, s.
struct TimeAxis {
  double first = 0, step = 0;
  std::size_t count = 0;

  double operator[](std::size_t n) const noexcept { return first + step * static_cast<double>(n); }
};

/// Frequencies in Hz, or times; neither, for physics that need none.
using SpectralAxis = std::variant<std::monostate, std::vector<double>, TimeAxis>;

/// What was recorded: one number per entry, NaN where nothing was.
struct Observations {
  std::variant<std::vector<double>, std::vector<std::complex<double>>> values;  ///< [source, receiver, axis]
  std::vector<double>
      uncertainty;  ///< standard deviations, of each part of a complex number; empty: not known
  std::string unit;
};

struct Acquisition {
  Elements sources, receivers;
  SpectralAxis axis;
  /// [source] lists of the receivers that record it, each ascending; empty: all receivers record all sources.
  std::vector<std::vector<std::uint32_t>> recorded;
  std::optional<Observations> observed;

  /// Entries of the axis: frequencies or times; 1 without an axis.
  std::size_t axis_size() const;
  /// Pairs of source and receiver that are recorded.
  std::size_t pairs() const;
  /// Numbers in a full set of data: pairs() · axis_size().
  std::size_t data_size() const { return pairs() * axis_size(); }
};

/// Throws InputError at `where` and the element: no elements, a kind that is not among `kinds`, NaN or
/// infinite places, a dip beyond ±90°, a length below zero. Throws ShapeError: lists of unequal lengths.
void check(const Elements& elements, std::span<const std::string_view> kinds, const std::string& where);

/// Also frequencies that are not above zero or are there twice, a step or count of zero, receivers that do
/// not exist, data of another size, uncertainties that are not above zero. Physics without sources leave
/// those empty.
void check(const Acquisition& acquisition, std::span<const std::string_view> source_kinds,
           std::span<const std::string_view> receiver_kinds, const std::string& where = "survey");

/// Standard deviations √((relative · |d|)² + floor²); NaN where there is no datum.
std::vector<double> uncertainty_of(const Observations& observed, double relative, double floor);

/// ½ Σ |(predicted - observed) / uncertainty|² over the data that are there, and how many real numbers these
/// are (a complex datum counts twice). predicted as observed. Throws ShapeError; InputError: the uncertainty
/// is not known.
struct WeightedMisfit {
  double value = 0;
  std::size_t count = 0;
};
WeightedMisfit misfit(const Observations& observed,
                      const std::variant<std::vector<double>, std::vector<std::complex<double>>>& predicted);

}  // namespace terrane
