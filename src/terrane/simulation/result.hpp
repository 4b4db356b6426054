// What a run returns: a data set, with a complete record of how it was computed.
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

/// A variable of single precision that is too large for memory: its values are read while a file is written,
/// one index of its first dimension after the other.
struct Entries {
  std::string variable;  ///< name of a variable of `data` whose values are on disk
  std::function<void(std::size_t entry, std::span<float> values)> read;
};

/// Named variables with dimensions, units and attributes: fields at stations (station_fields.hpp), shots and
/// times, complex values, cells. Values are in the units and the frame that were asked for.
struct Result {
  Dataset data;
  std::vector<Entries> entries;  ///< the variables of `data` whose values are on disk
  /// Program, version, frame, gravitational constant, text of the job: conclude() (describe.hpp) copies them
  /// to `data`, so that every file contains them.
  std::map<std::string, std::string> attributes;
  const Conventions* conventions = nullptr;  ///< names in other programs; null: only Terrane's names
  Report report;
};

}  // namespace terrane
