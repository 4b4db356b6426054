#include "terrane/model/properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double strongest = 1e9;  // A/m; the strongest magnets have 1e6

// name, quantity, least, most, absent, meaning
constexpr std::array kinds{
    PropertyKind{"density", Quantity::density, -infinite, infinite, 0,
                 "Density, or its contrast to what surrounds it"},

    PropertyKind{"porosity", Quantity::fraction, 0, 1, none,
                 "Part of the volume that is pores; others come from it by laws (model.maps)"},

    PropertyKind{"susceptibility", Quantity::susceptibility, -1, infinite, 0, "Magnetic susceptibility (SI)"},
    PropertyKind{"permeability", Quantity::dimensionless, 0, infinite, 1, "Relative magnetic permeability"},
    PropertyKind{"magnetization_east", Quantity::magnetic_field, -strongest, strongest, 0,
                 "Remanent magnetization, eastward"},
    PropertyKind{"magnetization_north", Quantity::magnetic_field, -strongest, strongest, 0,
                 "Remanent magnetization, northward"},
    PropertyKind{"magnetization_up", Quantity::magnetic_field, -strongest, strongest, 0,
                 "Remanent magnetization, upward"},

    PropertyKind{"conductivity", Quantity::conductivity, 0, infinite, none, "Electric conductivity"},
    PropertyKind{"conductivity_east", Quantity::conductivity, 0, infinite, none,
                 "Electric conductivity along easting, where it differs by direction"},
    PropertyKind{"conductivity_north", Quantity::conductivity, 0, infinite, none,
                 "Electric conductivity along northing"},
    PropertyKind{"conductivity_up", Quantity::conductivity, 0, infinite, none,
                 "Electric conductivity along up"},
    PropertyKind{"resistivity", Quantity::resistivity, 0, infinite, none, "Electric resistivity"},
    PropertyKind{"resistivity_east", Quantity::resistivity, 0, infinite, none,
                 "Electric resistivity along easting, where it differs by direction"},
    PropertyKind{"resistivity_north", Quantity::resistivity, 0, infinite, none,
                 "Electric resistivity along northing"},
    PropertyKind{"resistivity_up", Quantity::resistivity, 0, infinite, none, "Electric resistivity along up"},
    PropertyKind{"chargeability", Quantity::fraction, 0, 1, 0,
                 "Chargeability, intrinsic: V/V, or with a unit as \"20 mV/V\""},
    PropertyKind{"cole_cole_time", Quantity::time, 0, infinite, none,
                 "Time constant of the Cole-Cole model of a chargeable rock"},
    PropertyKind{"cole_cole_exponent", Quantity::dimensionless, 0, 1, none,
                 "Frequency exponent of the Cole-Cole model; 1: one Debye relaxation"},
    PropertyKind{"permittivity", Quantity::dimensionless, 1, infinite, 1, "Relative permittivity"},

    PropertyKind{"velocity_p", Quantity::velocity, 0, infinite, none,
                 "Velocity of compressional waves, along the symmetry axis where it differs by direction"},
    PropertyKind{"velocity_s", Quantity::velocity, 0, infinite, none,
                 "Velocity of shear waves, along the symmetry axis where it differs by direction"},
    PropertyKind{"quality_p", Quantity::dimensionless, 0, infinite, none,
                 "Quality factor Q of compressional waves"},
    PropertyKind{"quality_s", Quantity::dimensionless, 0, infinite, none, "Quality factor Q of shear waves"},
    PropertyKind{"quality_kappa", Quantity::dimensionless, 0, infinite, none,
                 "Quality factor Q of the bulk modulus"},
    PropertyKind{"quality_mu", Quantity::dimensionless, 0, infinite, none,
                 "Quality factor Q of the shear modulus"},
    PropertyKind{"epsilon", Quantity::dimensionless, -0.5, infinite, 0,
                 "Anisotropy of compressional waves (Thomsen, 1986)"},
    PropertyKind{"delta", Quantity::dimensionless, -0.5, infinite, 0,
                 "Anisotropy of compressional waves near the symmetry axis (Thomsen, 1986)"},
    PropertyKind{"gamma", Quantity::dimensionless, -0.5, infinite, 0,
                 "Anisotropy of horizontal shear waves (Thomsen, 1986)"},
    PropertyKind{"tilt", Quantity::angle, -180, 180, 0, "Angle of the symmetry axis to the vertical"},
    PropertyKind{"tilt_azimuth", Quantity::angle, -360, 360, 0,
                 "Azimuth towards which the upper end of the symmetry axis leans, clockwise from north"},

    PropertyKind{"thermal_conductivity", Quantity::thermal_conductivity, 0, infinite, none,
                 "Thermal conductivity"},
    PropertyKind{"specific_heat", Quantity::specific_heat, 0, infinite, none, "Heat capacity per mass"},
    PropertyKind{"heat_capacity", Quantity::heat_capacity, 0, infinite, none, "Heat capacity per volume"},
    PropertyKind{"heat_production", Quantity::heat_production, -infinite, infinite, 0,
                 "Heat produced per volume and time"},
    PropertyKind{"diffusivity", Quantity::diffusivity, 0, infinite, none, "Thermal diffusivity"},
    PropertyKind{"temperature", Quantity::temperature, -infinite, infinite, none,
                 "Temperature above that of the surroundings"},
};

}  // namespace

std::span<const PropertyKind> known_properties() { return kinds; }

const PropertyKind* find_property(std::string_view name) {
  const auto it =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  return it == kinds.end() ? nullptr : &*it;
}

const PropertyKind& property_kind(std::string_view name, const std::string& where) {
  if (const auto* kind = find_property(name)) return *kind;
  std::vector<std::string_view> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  throw InputError(where,
                   fmt::format("\"{}\" is not a property known here.{}", name, did_you_mean(name, names)),
                   "Allowed: " + joined(names) + ".");
}

bool allows(const PropertyKind& kind, double value) {
  return std::isfinite(value) && kind.least <= value && value <= kind.most;
}

void check_value(const PropertyKind& kind, double value, const std::string& where) {
  if (allows(kind, value)) return;
  const auto si = si_unit(kind.quantity);
  const auto unit = si == "1" ? std::string{} : fmt::format(" {}", si);
  if (!std::isfinite(value))
    throw InputError(where, fmt::format("the {} is {}", kind.name, value), "Give a finite number.");
  throw InputError(where, fmt::format("the {} is {}{}", kind.name, value, unit),
                   std::isinf(kind.most)
                       ? fmt::format("It must be {}{} or more.", kind.least, unit)
                       : fmt::format("It must lie between {} and {}{}.", kind.least, kind.most, unit));
}

}  // namespace terrane
