// What a gravity run has to report beside what every run does.
#pragma once

#include <map>
#include <string>

#include "terrane/simulation/report.hpp"

namespace terrane::gravity {

struct Report : terrane::Report {
  std::size_t sources = 0, stations = 0;
  double pairs = 0;            ///< source-station pairs the direct sum has
  double estimated_error = 0;  ///< relative to the largest value of each kind of channel, at most
  /// What rounding takes of it, at most: of each kind asked for ("potential", "vector", "tensor"), because
  /// contributions cancel more in one than in another.
  std::map<std::string, double> rounding_floor;
  std::size_t rounding_stations = 0;  ///< at which it was looked for
  std::size_t verified_stations = 0;
  std::string verified_by;    ///< "quadruple precision", or "the direct sum at its best"
  double verified_error = 0;  ///< against quadruple precision, largest over the stations verified
  std::size_t singular_stations = 0, inside_stations = 0;

  /// The same with names, units and lines, for whoever knows nothing of gravity.
  terrane::Report named() const;
};

}  // namespace terrane::gravity
