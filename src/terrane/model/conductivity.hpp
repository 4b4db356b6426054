// The conductivity of rock along an axis: one rule for every physics, for models of any origin.
//
// Along an axis rock has, of these, the first that it has a value of:
//
//   conductivity_AXIS, 1/resistivity_AXIS, conductivity, 1/resistivity
//
// So each cell, body or unit may say what it knows: one number, or some along axes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/model/earth_model.hpp"

namespace terrane {

inline constexpr std::array<std::string_view, 3> axis_names{"east", "north", "up"};
inline constexpr double conductivity_of_air = 1e-6;  ///< S/m; what conducts no more than this is air

/// A property that gives the conductivity of rock.
struct Conducts {
  std::string property;
  bool inverse;  ///< it is a resistivity

  double conductivity(double value) const { return inverse ? 1 / value : value; }
};

/// The properties that give the conductivity along an axis, the first before the next; "": along all axes.
std::vector<Conducts> conducts_along(std::string_view axis);
/// Whether one of these properties holds along one axis only.
bool conduct_by_axis(const std::vector<std::string>& properties);
bool conducts_by_axis(const EarthModel& model);

/// S/m of all cells of the mesh [up, north, east]; NaN where a cell has a value of none of them, and empty
/// where the model has none of these properties.
std::vector<double> conductivity_along(const EarthModel& model, std::string_view axis);

/// The columns of conductivity in a file of cells, which conductivity_along() can read: one, or one for each
/// axis where they differ.  along: S/m along easting, northing, up, [cells]; the same array where it serves
/// several axes · with_values: false: without values, to see what a file can hold
std::vector<Column> conductivity_columns(const std::array<const std::vector<double>*, 3>& along,
                                         bool with_values = true);
/// The same columns for the Cole-Cole model of chargeable rock; empty parameters have none.
std::vector<Column> charge_columns(const std::vector<double>& chargeability, const std::vector<double>& time,
                                   const std::vector<double>& exponent, bool with_values = true);

}  // namespace terrane
