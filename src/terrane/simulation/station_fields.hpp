// Fields at stations, and their conversion into the data set of a result, for all physics and inversions.
//
//   dimensions   station; or northing and easting, if the stations form a grid
//   coordinates  easting, northing, up; from the survey: longitude, latitude, electrode positions, lines
//   variables    given columns (observed and others), computed fields, residuals, and the flag "singular"
#pragma once

#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/data/dataset.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane {

/// Fields at stations. No two columns have the same name. In an outline, columns have no values.
struct StationFields {
  Survey survey;                        ///< columns: observed data (compare.hpp) and all others as given
  std::vector<Column> fields;           ///< [stations] fields, one per requested channel
  std::vector<Column> residuals;        ///< observed - computed, one per field that was observed too
  std::vector<unsigned char> singular;  ///< 1 at stations where the tensor is singular; empty: nowhere
};

/// Converts to a data set. Columns in single precision remain so. The survey's projection, if any, becomes an
/// attribute.
Dataset to_dataset(StationFields stations);

}  // namespace terrane
