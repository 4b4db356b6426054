// The report of a gravity run: entries beside those of every run.
#pragma once

#include <map>
#include <string>

#include "terrane/simulation/report.hpp"

namespace terrane::gravity {

struct Report : terrane::Report {
  std::size_t sources = 0, stations = 0;
  double pairs = 0;            ///< source-station pairs the direct sum has
  double estimated_error = 0;  ///< bound of the error, relative to the largest value of each kind of channel
  /// The part of this error that rounding may cause, at most, for each kind of channel asked for
  /// ("potential", "vector", "tensor"), because contributions cancel more in one than in another.
  std::map<std::string, double> rounding_floor;
  std::size_t rounding_stations = 0;  ///< stations at which it was estimated
  std::size_t verified_stations = 0;
  std::string verified_by;    ///< "quadruple precision", or "the direct sum at its best"
  double verified_error = 0;  ///< against quadruple precision, largest over the stations verified
  std::size_t singular_stations = 0, inside_stations = 0;

  /// The same report with names, units and lines, for code that is not about gravity.
  terrane::Report named() const;
};

}  // namespace terrane::gravity
