// The report of a gravity run: its entries in addition to those of every run.
#pragma once

#include <map>
#include <string>

#include "terrane/simulation/report.hpp"

namespace terrane::gravity {

struct Report : terrane::Report {
  std::size_t sources = 0, stations = 0;
  double pairs = 0;  ///< number of sources times number of stations
  /// Upper limit of the error, relative to the largest value of each kind of channel.
  double estimated_error = 0;
  /// Upper limit of the error from rounding, relative to the largest value, for each kind of channel
  /// requested ("potential", "vector", "tensor"): contributions cancel more in one kind than in another.
  std::map<std::string, double> rounding_floor;
  std::size_t rounding_stations = 0;  ///< stations at which rounding_floor was estimated
  std::size_t verified_stations = 0;
  std::string verified_by;    ///< "quadruple precision", or "the direct sum at its best"
  double verified_error = 0;  ///< largest difference from the reference `verified_by`, relative
  std::size_t singular_stations = 0, inside_stations = 0;

  /// This report as a list of entries with names, units and text, for code that all physics share.
  terrane::Report named() const;
};

}  // namespace terrane::gravity
