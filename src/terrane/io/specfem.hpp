// Small text files of SPECFEM3D Cartesian, read without any conversion.
//
//   Par_file        NAME = value # comment, in any order; if a name occurs twice, the first one counts
//   STATIONS        name network latitude longitude elevation burial         burial: m below the surface
//   CMTSOLUTION     13 lines per source: keys with a colon; moments in dyne cm, r up, t (θ) south, p (φ) east
//   FORCESOLUTION   10 or 11 lines per source
//
// Lines of sources are identified by their keys. Without a projection, latitude and longitude are northing
// and easting. (SPECFEM3D Cartesian, user manual 4.0, chapters "The parameter file", "Running the solver" and
// "Sources".)
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Parses a number in Fortran's notation, also 1.5d0. Throws InputError with the location `where`.
double fortran_number(std::string word, const std::string& where);

struct ParFileLine {
  std::string name, value;  ///< value: all words before the comment
  std::size_t line = 0;
};
/// Throws InputError: no line has the form NAME = value.
std::vector<ParFileLine> read_par_lines(const std::string& file, const std::string& text);

struct SpecfemStation {
  std::string name, network;
  double latitude = 0, longitude = 0, elevation = 0, burial = 0;  ///< first two: degrees or m; others: m
  std::string where;                                              ///< "STATIONS:3", for messages
};
/// Throws InputError with the line.
std::vector<SpecfemStation> read_specfem_stations(const std::string& file, const std::string& text);

struct SpecfemSource {
  bool is_force = false;
  double latitude = 0, longitude = 0;  ///< degrees or m
  double depth = 0;                    ///< km below the surface or, depending on the Par_file, a height in m
  double time_shift = 0;               ///< s
  double duration = 0;                 ///< half duration, s; for forces possibly a frequency, Hz
  std::array<double, 6> moment{};      ///< Mrr, Mtt, Mpp, Mrt, Mrp, Mtp, dyne cm
  std::array<double, 3> direction{};   ///< east, north, up
  double factor = 0;                   ///< N
  std::optional<double> function;      ///< number of the source time function; older files have none

  std::string file;
  std::size_t line = 0;                      ///< line in which the source begins
  std::map<std::string, std::size_t> lines;  ///< line of each key; keys in small letters
  /// "CMTSOLUTION:7: depth": the location of the first of these keys that the source has.
  std::string where(std::initializer_list<const char*> keys) const;
};
/// Reads a CMTSOLUTION or a FORCESOLUTION, distinguished by its lines. Throws InputError with the line: a
/// missing key, a word that is no number, no source.
std::vector<SpecfemSource> read_specfem_sources(const std::string& file, const std::string& text);

// Functions for `terrane info`, `convert` and Python.

/// Whether the first lines are those of a Par_file; of a CMTSOLUTION or FORCESOLUTION; of STATIONS.
bool begins_par_file(std::string_view head);
bool begins_specfem_sources(std::string_view head);
bool resembles_specfem_stations(std::string_view head);

/// Text columns: name and value.
Table to_table(const std::vector<ParFileLine>& lines);
/// Columns latitude, longitude, elevation, burial; text columns name and network. The numbers have no units,
/// because positions may be in degrees or m.
Table to_table(const std::vector<SpecfemStation>& stations);
/// One row per source; columns have the names of the file's keys.
Table to_table(const std::vector<SpecfemSource>& sources);

}  // namespace terrane::io
