// Traces of shots, as in seismic files, and their representation as a data set.
//
// The data set has one variable with dimension "time", and with "shot" and "receiver", or with "trace" if the
// receivers differ between shots. Its coordinates are time (s), source_easting, source_northing, source_up
// and the same for receiver_ (m); or source_longitude and source_latitude (degrees).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

struct Gathers {
  using Place = std::array<double, 3>;  ///< easting, northing, up, m

  double step = 0, first = 0;  ///< time between samples, and time of the first sample, s
  std::size_t samples = 0;
  std::vector<Place> source, receiver;  ///< [trace]
  std::vector<std::int32_t> shot;       ///< [trace] number of its shot
  std::vector<float> values;            ///< [trace, time]; empty if only the layout is known
  /// [trace] recorded quantity by its code in SEG-Y: 11 pressure; 12, 13 and 14 motion up, north and east
  /// (velocity, or by its unit displacement or acceleration). Empty: the quantity of all traces is `name`
  std::vector<std::int16_t> kind;
  std::vector<std::int16_t> unit_code;  ///< [trace] unit of the samples by its code in SEG-Y; empty: all
                                        ///< traces have the unit `unit`
  std::string name = "pressure", unit;
  Attributes attributes;
  bool geographic = false;  ///< true: longitude and latitude in degrees; false: easting and northing

  std::size_t traces() const noexcept { return source.size(); }
};

/// The unit of samples that SEG-Y (revision 1 and later) has for a code; empty if the code names none. The
/// code of a unit; 0 if SEG-Y has none.
std::string unit_of_code(std::int16_t code);
std::int16_t code_of_unit(std::string_view unit);
/// The name of a quantity by its code in SEG-Y and its unit: "pressure", "acceleration_up", "velocity".
std::string name_of_kind(std::int16_t kind, std::string_view unit);

/// Gathers from a data set. field: name of the variable; empty: the only one that has the dimension time.
/// If the data set has no values, the gathers have none. Throws InputError with the location `path`: no
/// such variable or coordinate, times that are not evenly spaced.
Gathers to_gathers(const std::string& path, const Dataset& data, const std::string& field = {});

/// Gathers of all variables that are one of the quantities in `kind`: for each shot the traces of the first
/// variable, then those of the others. The result is that of to_gathers() if there is only one variable or if
/// `field` is given.
Gathers to_gathers_of_kinds(const std::string& path, const Dataset& data, const std::string& field = {});

/// The data set of gathers. If all quantities have the same positions, each is a separate variable.
/// Dimensions are shot, time and receiver if all shots have the same number of receivers, otherwise trace and
/// time.
Dataset to_dataset(Gathers gathers);

}  // namespace terrane::io
