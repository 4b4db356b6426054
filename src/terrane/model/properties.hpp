// The table of all properties of rock that bodies set, files hold and physics use.
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
  double least, most;        ///< values allowed, both included
  double absent;             ///< value of cells for which none is given; NaN: they have no value
  std::string_view meaning;  ///< one phrase
};

/// All properties, in the order of the reference. A new property is one row.
std::span<const PropertyKind> known_properties();

/// Null when the table has no such property.
const PropertyKind* find_property(std::string_view name);

/// Throws InputError at `where` that lists the names and the nearest one.
const PropertyKind& property_kind(std::string_view name, const std::string& where = "model");

/// Throws InputError at `where`: `value` is not finite, or outside the property's range.
void check_value(const PropertyKind& kind, double value, const std::string& where);

/// Values of one property, SI.
struct Property {
  std::string name;  ///< of the table
  std::vector<double> values;
};

/// One value of a property, SI.
struct PropertyValue {
  std::string property;
  double value = 0;
};

}  // namespace terrane
