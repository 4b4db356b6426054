// What a run returns: a data set, with everything needed to know how it came about.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/simulation/report.hpp"
#include "terrane/survey/convention.hpp"

namespace terrane {

/// A variable of single precision that is too large for memory: its values are read when a file is written,
/// one entry of its first dimension after another.
struct Entries {
  std::string variable;  ///< name of a variable of `data` whose values are on disk
  std::function<void(std::size_t entry, std::span<float> values)> read;
};

/// Named variables with dimensions, units and attributes: fields at stations (station_fields.hpp), shots and
/// times, complex values, cells. Values are in the units and the frame that were asked for.
struct Result {
  Dataset data;
  std::vector<Entries> entries;  ///< places of those variables of `data` whose values are on disk
  /// Program, version, frame, gravitational constant, the whole job: conclude() (describe.hpp) makes them
  /// those of `data`, which go into every file.
  std::map<std::string, std::string> attributes;
  const Conventions* conventions = nullptr;  ///< what other programs call them; none: only Terrane's names
  Report report;
};

}  // namespace terrane
