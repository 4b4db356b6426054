// Files of SPECFEM3D that say where the ground moves and where it is recorded, as they are.
//
//   STATIONS        name network latitude longitude elevation burial         burial: m below the surface
//   there CMTSOLUTION     13 lines per source: keys with a colon; moments in dyne cm, r up, t (θ) south, p
//   (φ) east FORCESOLUTION   10 or 11 lines per source
//
// Lines are read by their keys. Latitude and longitude are northing and easting where a mesh has no
// projection. Depths are in km below the surface. Of several sources the smallest time shift counts as none.
// (SPECFEM3D Cartesian, user manual 4.0, chapters "Running the solver" and "Sources".)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/physics/elastic/source.hpp"

namespace terrane::elastic {

/// A number as Fortran writes it: 1.5d0 is one as well. Throws InputError at `where`.
double fortran_number(std::string word, const std::string& where);

struct SpecfemStation {
  std::string name, network;
  double latitude = 0, longitude = 0, elevation = 0, burial = 0;  ///< degrees or m; m
};
/// Throws FileError, InputError with the line.
std::vector<SpecfemStation> read_stations(const std::filesystem::path& file);
std::vector<SpecfemStation> read_stations(const std::string& name, const std::string& text);

struct SpecfemSource {
  double latitude = 0, longitude = 0, depth = 0;  ///< degrees or m; m below the surface
  Source source;                                  ///< but for its place
};
/// A CMTSOLUTION or a FORCESOLUTION, as its first lines say. Throws FileError, InputError with the line: a
/// key that is not there, no number, a time function that is not offered, a half duration of zero.
std::vector<SpecfemSource> read_solution(const std::filesystem::path& file);
std::vector<SpecfemSource> read_solution(const std::string& name, const std::string& text);

}  // namespace terrane::elastic
