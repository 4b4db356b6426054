// Reads picks from files: shots, receivers, times and their uncertainties.
//
//   a table    columns shot_easting, shot_northing, shot_up and receiver_easting, … (or easting, …), m;
//              travel_time_observed or travel_time, and travel_time_uncertainty, s. A northing that is
//              missing is 0. Terrane writes its results as such tables.
//   .sgt       "shots, geophones, times" of pyGIMLi, and GIMLi's unified format: the number of positions, a
//              comment that names their columns, the positions; then the number of data, a comment that names
//              their columns (s g t, err or err/s), the data; s and g are numbers of positions, from 1 on
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/physics/traveltime/problem.hpp"

namespace terrane::traveltime {

struct Picked {
  std::vector<Point> shots, receivers;  ///< positions, each listed once; height NaN: on the ground
  std::vector<Pick> picks;
  std::vector<double> times,
      uncertainties;  ///< [pick] time and uncertainty, s; NaN: not given; empty: not given for any
  std::vector<std::string> notes;
};

/// Picks from the file that a key of the job names, or from data passed in place of the file. Throws
/// InputError, FileError.
Picked read_picks(const Config& table, const char* key);

}  // namespace terrane::traveltime
