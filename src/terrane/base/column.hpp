// A named column of numbers with its unit: files, surveys and results have such columns in addition to
// coordinates.
#pragma once

#include <string>
#include <vector>

namespace terrane {

struct Column {
  std::string name;         ///< "g_u", "observed", "longitude"
  std::string unit;         ///< empty if the source names no unit
  std::string description;  ///< a phrase for readers; stored as long_name in NetCDF
  std::vector<double> values;
  bool single = false;  ///< whether to store in single precision if the format allows it (NetCDF, .npy)
};

}  // namespace terrane
