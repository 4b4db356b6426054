// What a run returns: fields at stations, with everything needed to know how they came about.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/data/dataset.hpp"
#include "terrane/io/content.hpp"
#include "terrane/simulation/report.hpp"
#include "terrane/survey/convention.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// A variable of single precision that is too large for memory: its values are read when a file is written,
/// one entry of its first dimension after another.
struct Entries {
  std::string variable;  ///< of `data`, where it has no values
  std::function<void(std::size_t entry, std::span<float> values)> read;
};

/// A physics whose results are no fields at stations (shots and times, complex values, cells) fills `data`;
/// it then is the result, and of the rest only the report counts. to_dataset (write_result.hpp) gives either
/// as a Dataset.
///
/// Fields in the units and the frame that were asked for. `attributes` is written into every file: program,
/// version, frame, gravitational constant, and the whole job. No two columns have one name.
struct Result {
  Dataset data;                       ///< without variables where the fields are at stations
  std::vector<Entries> entries;       ///< of variables of `data` that are on disk
  Dataset cells;                      ///< beside fields at stations: those of all cells, where asked for
  Survey survey;                      ///< its columns: what was observed (compare.hpp), and all else as given
  std::vector<Column> fields;         ///< one per channel asked for, [stations]
  std::vector<Column> residuals;      ///< observed - computed, one per field that was observed too
  std::vector<io::TextColumn> words;  ///< beside fields at stations: columns of words of the survey, as given
  std::vector<unsigned char> singular;  ///< 1 where the tensor is singular at the station; empty if nowhere
  std::map<std::string, std::string> attributes;
  const Conventions* conventions = nullptr;  ///< what other programs call them; none: only Terrane's names
  Report report;
};

}  // namespace terrane
