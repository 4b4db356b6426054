// Fields at stations on their way into the data set of a result, for all physics and inversions alike.
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

/// No two columns have one name. In an outline they are without values.
struct StationFields {
  Survey survey;                  ///< its columns: what was observed (compare.hpp), and all else as given
  std::vector<Column> fields;     ///< one per channel asked for, [stations]
  std::vector<Column> residuals;  ///< observed - computed, one per field that was observed too
  std::vector<unsigned char> singular;  ///< 1 where the tensor is singular at the station; empty if nowhere
};

/// Columns of single precision are so in the data set. Its attributes say the survey's projection, if any.
Dataset to_dataset(StationFields stations);

}  // namespace terrane
