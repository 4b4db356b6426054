// Conventions (frames): the names, axes, signs and units that programs use for the quantities computed at
// stations. Each physics defines its tables (Physics::conventions); general code gets them as an argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/base/units.hpp"

namespace terrane {

/// si: SI units.  geo: the usual units of the geophysical method (mGal, E, nT).
enum class UnitSystem { si, geo };

/// "si" or "geo". Throws InputError.
UnitSystem unit_system_from_name(std::string_view name);

/// One channel in one convention: the value in that convention = sign · Terrane's value.
struct ConventionChannel {
  std::string_view channel;  ///< Terrane's own name: "g_u"
  std::string_view name;     ///< name in this convention: "g_z"
  int sign = 1;              ///< +1 or -1
  Quantity quantity = Quantity::dimensionless;
  std::string_view geo_unit;  ///< "mGal"
  std::string description;    ///< "gravity, downward component"

  std::string_view unit(UnitSystem units) const {
    return units == UnitSystem::si ? si_unit(quantity) : geo_unit;
  }
};

/// The channel names of one program, or of Terrane itself.
struct Convention {
  std::string_view name;  ///< name of the frame: "enu", "harmonica"
  std::vector<ConventionChannel> channels;
  UnitSystem usual = UnitSystem::geo;  ///< units that programs with this convention read and write

  /// The channel with this name in the convention, or (of_channel) in Terrane; null if there is none.
  const ConventionChannel* find(std::string_view name) const;
  const ConventionChannel* of_channel(std::string_view channel) const;
};

/// All conventions of one physics; the first is Terrane's own.
struct Conventions {
  std::vector<Convention> all;

  const Convention& own() const { return all.front(); }
  const Convention* find(std::string_view name) const;
  /// The convention with this name. Throws InputError that lists the names and the most similar one.
  const Convention& named(std::string_view name) const;
};

/// The conventions of several physics: conventions of the same name are merged into one with all their
/// channels.
Conventions joined(std::span<const Conventions* const> of_physics);

/// Converts Terrane's values [n] (its own axes, SI) to the column that programs with the convention expect.
Column in_convention(const ConventionChannel& there, std::span<const double> values, UnitSystem units);

}  // namespace terrane
