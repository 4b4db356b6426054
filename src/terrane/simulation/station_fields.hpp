// Fields at stations, and their conversion into the data set of a result, for all physics and inversions.
//
//   dimensions   station n; or northing and easting, where the stations form a grid
//   coordinates  easting, northing, up; of the survey: longitude, latitude, places of electrodes, lines
//   variables    what was given (observed, other columns), computed, the residuals, and the mark "singular"
#pragma once

#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/data/dataset.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// Fields at stations. No two columns have the same name. In an outline, columns have no values.
struct StationFields {
  Survey survey;                        ///< its columns: observed data (compare.hpp) and all others as given
  std::vector<Column> fields;           ///< one per channel asked for, [stations]
  std::vector<Column> residuals;        ///< observed - computed, one per field that was observed too
  std::vector<unsigned char> singular;  ///< 1 where the tensor is singular at the station; empty if nowhere
};

/// Converts to a data set. Columns in single precision remain so. The survey's projection, if any, becomes an
/// attribute.
Dataset to_dataset(StationFields stations);

}  // namespace terrane
