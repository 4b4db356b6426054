// The table of all properties of rock that bodies can have, files can contain, and physics use.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/units.hpp"

namespace terrane {

struct PropertyKind {
  std::string_view name;  ///< "density": key of job files, name of columns, attribute in Python
  Quantity quantity;
  double least, most;        ///< smallest and largest allowed value
  double absent;             ///< value of cells to which none is given; NaN: such cells have no value
  std::string_view meaning;  ///< description in one phrase
};

/// All properties, in the order of the reference. To add a property, add one row.
std::span<const PropertyKind> known_properties();

/// Null when the table has no such property.
const PropertyKind* find_property(std::string_view name);

/// The entry of a property. Throws InputError with the location `where`, the known names and the most similar
/// one.
const PropertyKind& property_kind(std::string_view name, const std::string& where = "model");

/// Whether `value` is finite and within the property's range.
bool allows(const PropertyKind& kind, double value);

/// Throws InputError with the location `where` if `value` is not finite or outside the property's range.
void check_value(const PropertyKind& kind, double value, const std::string& where);

/// Values of one property, SI.
struct Property {
  std::string name;  ///< name in the table of properties
  std::vector<double> values;
};

/// One value of a property, SI.
struct PropertyValue {
  std::string property;
  double value = 0;
};

}  // namespace terrane
