// The conductivity of the ground along an axis: the same rule for all physics and for models of any origin.
//
// The conductivity along AXIS (east, north or up) comes from the first of these properties that has a value:
//
//   conductivity_AXIS, 1/resistivity_AXIS, conductivity, 1/resistivity
//
// A cell, body or layer may therefore state one value for all axes, or different ones.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/model/earth_model.hpp"

namespace terrane {

inline constexpr std::array<std::string_view, 3> axis_names{"east", "north", "up"};
inline constexpr double conductivity_of_air = 1e-6;  ///< S/m; media with at most this are treated as air

/// A property from which conductivity is computed.
struct Conducts {
  std::string property;
  bool inverse;  ///< whether the property is a resistivity

  double conductivity(double value) const { return inverse ? 1 / value : value; }
};

/// The properties from which the conductivity along an axis is computed, by priority. If the axis is "": the
/// properties that hold for all axes.
std::vector<Conducts> conducts_along(std::string_view axis);
/// Whether the list, or the model, has a conductivity or resistivity along a single axis.
bool conduct_by_axis(const std::vector<std::string>& properties);
bool conducts_by_axis(const EarthModel& model);

/// Conductivity along an axis in all cells of the mesh [up, north, east], S/m; NaN in cells without a value.
/// Empty if the model has none of these properties. Throws InputError if two of them contradict each other.
std::vector<double> conductivity_along(const EarthModel& model, std::string_view axis);

/// The conductivity columns of a cell file, which conductivity_along() can read: one column, or one per axis
/// if they differ.  along: conductivity along easting, northing and up [cells], S/m; pointers to the same
/// array if axes do not differ; with_values: if false, the columns are empty and only show what a file can
/// hold
std::vector<Column> conductivity_columns(const std::array<const std::vector<double>*, 3>& along,
                                         bool with_values = true);
/// The columns of the Cole-Cole parameters of polarizable rock, for a file as conductivity_columns()
/// describes; an empty parameter has no column.
std::vector<Column> charge_columns(const std::vector<double>& chargeability, const std::vector<double>& time,
                                   const std::vector<double>& exponent, bool with_values = true);

}  // namespace terrane
