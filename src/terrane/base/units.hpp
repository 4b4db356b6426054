// Units are converted once, when data are read or written: everything inside Terrane is SI.
#pragma once

#include <string>
#include <string_view>

namespace terrane {

/// What a number measures; each has one SI unit, named by si_unit().
enum class Quantity {
  dimensionless,          ///< a plain number: takes no unit in job files
  fraction,               ///< 1, a part of a whole: also in % and mV/V
  susceptibility,         ///< 1 (SI)
  length,                 ///< m
  angle,                  ///< degree: angles stay in degrees
  density,                ///< kg/m3
  gravity_potential,      ///< m2/s2
  acceleration,           ///< m/s2
  acceleration_gradient,  ///< 1/s2
  time,                   ///< s
  frequency,              ///< Hz
  velocity,               ///< m/s
  pressure,               ///< Pa (also elastic moduli)
  conductivity,           ///< S/m
  resistivity,            ///< Ohm.m
  resistance,             ///< Ohm (also impedance)
  conductance,            ///< S
  voltage,                ///< V
  current,                ///< A
  current_moment,         ///< A.m, an electric dipole
  magnetic_moment,        ///< A.m2, a loop
  electric_field,         ///< V/m
  magnetic_field,         ///< A/m (also magnetisation)
  flux_density,           ///< T
  flux_density_rate,      ///< T/s
  flux_density_gradient,  ///< T/m
  force,                  ///< N
  torque,                 ///< N.m (also the moment of an earthquake)
  temperature,            ///< K
  thermal_conductivity,   ///< W/(m.K)
  specific_heat,          ///< J/(kg.K)
  heat_capacity,          ///< J/(m3.K), per volume
  diffusivity,            ///< m2/s
  heat_flow,              ///< W/m2
  heat_production,        ///< W/m3
};

/// The SI unit of a quantity: "m", "kg/m3", "m/s2", ...
std::string_view si_unit(Quantity quantity);

/// The number of SI units in one `unit`: si_factor(Quantity::acceleration, "mGal") == 1e-5.
/// Case is ignored in spellings unless another unit differs only by case ("mgal", "Eotvos", "E", "g/cm3",
/// "g/cc"; but "MHz" and "mHz" are two units). Throws InputError that lists the allowed units.
double si_factor(Quantity quantity, std::string_view unit);

/// The spellings si_factor accepts, for messages and help: "m, km, cm, ft".
std::string allowed_units(Quantity quantity);

}  // namespace terrane
