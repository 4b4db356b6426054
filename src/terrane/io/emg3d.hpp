// Reads models, meshes and surveys from files of emg3d 1.0 and later (emsig.xyz), written by emg3d.save and
// to_file of its classes: .npz, .h5 and .json. Fields and survey data are left out. (Python reads these, and
// writes files: terrane.compat.emg3d_files.)
//
// A file is a tree of tables. Tables with "__class__" are objects: TensorMesh (hx, hy, hz, origin), Model
// (grid; property_x, _y, _z as [x, y, z]; mapping), Survey (sources, receivers, frequencies). x is east, y
// north, z up; azimuths are from east towards north, elevations upwards.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

struct Emg3dSource {
  std::string name;
  bool wire = true;  ///< false: a point dipole
  std::vector<std::array<double, 3>>
      points;                      ///< east, north, up, m: corners of the wire, or position of the dipole
  std::array<double, 3> moment{};  ///< moment of a dipole: A m east, north, up
  double current = 1;              ///< current of a wire: A
};
struct Emg3dSurvey {
  std::vector<Emg3dSource> sources;
  Table receivers;  ///< easting, northing, up, azimuth (from north), dip (below the horizontal)
  std::vector<double> frequencies;  ///< Hz
};

/// Whether an HDF5 file contains objects of emg3d.
bool holds_emg3d(const std::string& path);

/// The first model or mesh of a file; if there is none, the receivers of its survey. memory: maximum number
/// of bytes for reading; 0: the free memory.  Throws InputError (none of these, a key missing, magnetic
/// permeability), FileError.
Content read_emg3d(const std::string& path, std::size_t memory = 0);
/// The first survey of a file.  Throws what read_emg3d throws; InputError also for receivers relative to
/// sources.
Emg3dSurvey read_emg3d_survey(const std::string& path, std::size_t memory = 0);
/// The first survey of a file; empty if the file contains none.
std::optional<Emg3dSurvey> find_emg3d_survey(const std::string& path, std::size_t memory = 0);
/// Like read_emg3d and read_emg3d_survey, for the bytes of a .npz or .json file.
Content parse_emg3d(const std::string& name, const std::string& bytes, std::size_t memory = 0);
Emg3dSurvey parse_emg3d_survey(const std::string& name, const std::string& bytes, std::size_t memory = 0);

}  // namespace terrane::io
