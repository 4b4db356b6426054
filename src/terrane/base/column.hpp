// A named column of numbers with its unit: what travels beside coordinates in files, surveys and results.
#pragma once

#include <string>
#include <vector>

namespace terrane {

struct Column {
  std::string name;         ///< "g_u", "observed", "longitude"
  std::string unit;         ///< "mGal", "m", "1"; empty when the source did not say
  std::string description;  ///< a phrase for readers: becomes long_name in NetCDF
  std::vector<double> values;
  bool single = false;  ///< stored in single precision where the format has it (NetCDF, .npy)
};

}  // namespace terrane
