// The names, axes, signs and units that programs give to the quantities which a physics computes at stations:
// tables that each physics fills (Physics::conventions) and general code takes as an argument.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/base/units.hpp"

namespace terrane {

/// si: SI units.  geo: those of the field's programs (mGal, E, nT).
enum class UnitSystem { si, geo };

/// "si" or "geo". Throws InputError.
UnitSystem unit_system_from_name(std::string_view name);

/// One channel in one convention: the convention's value = sign · Terrane's value.
struct ConventionChannel {
  std::string_view channel;  ///< Terrane's own name: "g_u"
  std::string_view name;     ///< there: "g_z"
  int sign = 1;              ///< +1 or -1
  Quantity quantity = Quantity::dimensionless;
  std::string_view geo_unit;  ///< "mGal"
  std::string description;    ///< "gravity, downward component"

  std::string_view unit(UnitSystem units) const {
    return units == UnitSystem::si ? si_unit(quantity) : geo_unit;
  }
};

/// The names of one program, or of Terrane itself.
struct Convention {
  std::string_view name;  ///< name of the frame: "enu", "harmonica"
  std::vector<ConventionChannel> channels;
  UnitSystem usual = UnitSystem::geo;  ///< units that the program of this frame reads and writes

  /// The channel with this name there, or with this name in Terrane; null when there is none.
  const ConventionChannel* find(std::string_view name) const;
  const ConventionChannel* of_channel(std::string_view channel) const;
};

/// All conventions of a physics; the first one is Terrane's own.
struct Conventions {
  std::vector<Convention> all;

  const Convention& own() const { return all.front(); }
  const Convention* find(std::string_view name) const;
  /// Throws InputError that lists the names and the nearest one.
  const Convention& named(std::string_view name) const;
};

/// The conventions of several physics: those of one name become one, with the channels of all.
Conventions joined(std::span<const Conventions* const> of_physics);

/// Converts Terrane's values [n] (own axes, SI) to the column that programs of the convention expect.
Column in_convention(const ConventionChannel& there, std::span<const double> values, UnitSystem units);

}  // namespace terrane
