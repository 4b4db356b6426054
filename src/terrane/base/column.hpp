// A named column of numbers with its unit, as files, surveys and results have beside coordinates.
#pragma once

#include <string>
#include <vector>

namespace terrane {

struct Column {
  std::string name;         ///< "g_u", "observed", "longitude"
  std::string unit;         ///< "mGal", "m", "1"; empty when the source does not name one
  std::string description;  ///< a phrase for readers: long_name in NetCDF
  std::vector<double> values;
  bool single = false;  ///< stored in single precision where the format has it (NetCDF, .npy)
};

}  // namespace terrane
