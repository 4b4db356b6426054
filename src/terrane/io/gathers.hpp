// Traces of shots: what seismic files hold, and how a data set shows them.
//
// In a data set they are one variable on "time" and on "shot" and "receiver", or on "trace" where shots
// differ in their receivers, with coordinates time (s), source_easting, source_northing, source_up and the
// same of receiver_ (m); or source_longitude and source_latitude (degrees).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

struct Gathers {
  using Place = std::array<double, 3>;  ///< easting, northing, up, m

  double step = 0, first = 0;  ///< time between samples, and of the first, s
  std::size_t samples = 0;
  std::vector<Place> source, receiver;  ///< [trace]
  std::vector<std::int32_t> shot;       ///< [trace]: the number of its shot
  std::vector<float> values;            ///< [trace, time]; empty in an outline
  /// [trace] what it holds, as SEG-Y counts: 1 or 11 pressure, 12, 13 and 14 the velocities up, north and
  /// east; empty: all hold `name`
  std::vector<std::int16_t> kind;
  std::string name = "pressure", unit;
  Attributes attributes;
  bool geographic = false;  ///< longitude and latitude, degrees, in place of easting and northing

  std::size_t traces() const noexcept { return source.size(); }
};

/// field: which variable; empty: the only one that varies with time. A data set without values makes an
/// outline. Throws InputError at `path`: no such variable or coordinate, times that are not even.
Gathers to_gathers(const std::string& path, const Dataset& data, const std::string& field = {});

/// Gathers of all variables that have a kind, trace by trace: for each shot the traces of the first variable,
/// then of the others. As to_gathers() where there is one variable, or where `field` names one.
Gathers to_gathers_of_kinds(const std::string& path, const Dataset& data, const std::string& field = {});

/// A data set in which each kind at the same places is a variable of its own: on shot, time and receiver
/// where all shots have equally many receivers; else on trace and time.
Dataset to_dataset(Gathers gathers);

}  // namespace terrane::io
