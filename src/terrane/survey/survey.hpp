// Stations: the points at which fields are observed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "terrane/base/column.hpp"

namespace terrane {

/// The grid that a survey's stations form: index of a station = i + n_east · j.
struct SurveyGrid {
  std::vector<double> easting, northing;  ///< m, ascending
};

/// Stations in metres, in the model's coordinates. All three arrays have one entry per station.
struct Survey {
  std::vector<double> easting, northing, up;
  std::optional<SurveyGrid> grid;  ///< the grid, if the stations form one and are in its order
  std::vector<Column> columns;     ///< further columns: longitude, observed, line, ...
  std::string projection;  ///< PROJ string or EPSG code of easting and northing; empty if they are local
  std::string frame;  ///< convention of columns that are channels: "ubc"; empty if the source states none

  std::size_t size() const noexcept { return easting.size(); }
  const Column* find(const std::string& name) const;
};

}  // namespace terrane
