#include "terrane/base/units.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

struct Unit {
  Quantity quantity;
  std::string_view name;
  double factor;
};

// The first unit of each quantity is the SI unit. Names are compared without brackets, '^' and '**', with µ,
// Ω and ² spelled out, and without regard to case unless two units differ by case.
constexpr auto units = std::to_array<Unit>({
    {Quantity::dimensionless, "1", 1.0},
    {Quantity::dimensionless, "%", 1e-2},
    {Quantity::dimensionless, "mV/V", 1e-3},
    {Quantity::dimensionless, "SI", 1.0},
    {Quantity::fraction, "1", 1.0},
    {Quantity::fraction, "%", 1e-2},
    {Quantity::fraction, "V/V", 1.0},
    {Quantity::fraction, "mV/V", 1e-3},
    {Quantity::susceptibility, "1", 1.0},
    {Quantity::susceptibility, "SI", 1.0},
    {Quantity::susceptibility, "cgs", 12.566370614359172},
    {Quantity::length, "m", 1.0},
    {Quantity::length, "km", 1e3},
    {Quantity::length, "cm", 1e-2},
    {Quantity::length, "mm", 1e-3},
    {Quantity::length, "ft", 0.3048},
    {Quantity::length, "meter", 1.0},
    {Quantity::length, "meters", 1.0},
    {Quantity::length, "metre", 1.0},
    {Quantity::length, "metres", 1.0},
    {Quantity::angle, "degree", 1.0},
    {Quantity::angle, "degrees", 1.0},
    {Quantity::angle, "deg", 1.0},
    {Quantity::angle, "degrees_east", 1.0},
    {Quantity::angle, "degrees_north", 1.0},
    {Quantity::angle, "rad", 57.29577951308232},
    {Quantity::angle, "mrad", 0.05729577951308232},
    {Quantity::density, "kg/m3", 1.0},
    {Quantity::density, "kg.m-3", 1.0},
    {Quantity::density, "kgm-3", 1.0},
    {Quantity::density, "g/cm3", 1e3},
    {Quantity::density, "g/cc", 1e3},
    {Quantity::density, "g.cm-3", 1e3},
    {Quantity::density, "t/m3", 1e3},
    {Quantity::gravity_potential, "m2/s2", 1.0},
    {Quantity::gravity_potential, "J/kg", 1.0},
    {Quantity::gravity_potential, "m2.s-2", 1.0},
    {Quantity::acceleration, "m/s2", 1.0},
    {Quantity::acceleration, "m.s-2", 1.0},
    {Quantity::acceleration, "ms-2", 1.0},
    {Quantity::acceleration, "mGal", 1e-5},
    {Quantity::acceleration, "milligal", 1e-5},
    {Quantity::acceleration, "uGal", 1e-8},
    {Quantity::acceleration, "Gal", 1e-2},
    {Quantity::acceleration, "um/s2", 1e-6},
    {Quantity::acceleration, "nm/s2", 1e-9},
    {Quantity::acceleration_gradient, "1/s2", 1.0},
    {Quantity::acceleration_gradient, "s-2", 1.0},
    {Quantity::acceleration_gradient, "E", 1e-9},
    {Quantity::acceleration_gradient, "Eotvos", 1e-9},
    {Quantity::acceleration_gradient, "E\xC3\xB6tvos", 1e-9},
    {Quantity::acceleration_gradient, "E\xC3\xB6tv\xC3\xB6s", 1e-9},
    {Quantity::acceleration_gradient, "mGal/m", 1e-5},
    {Quantity::time, "s", 1.0},
    {Quantity::time, "second", 1.0},
    {Quantity::time, "seconds", 1.0},
    {Quantity::time, "ms", 1e-3},
    {Quantity::time, "us", 1e-6},
    {Quantity::time, "ns", 1e-9},
    {Quantity::time, "min", 60.0},
    {Quantity::time, "h", 3600.0},
    {Quantity::time, "day", 86400.0},
    {Quantity::time, "year", 3.15576e7},
    {Quantity::time, "ka", 3.15576e10},
    {Quantity::time, "Ma", 3.15576e13},
    {Quantity::frequency, "Hz", 1.0},
    {Quantity::frequency, "mHz", 1e-3},
    {Quantity::frequency, "kHz", 1e3},
    {Quantity::frequency, "MHz", 1e6},
    {Quantity::frequency, "GHz", 1e9},
    {Quantity::frequency, "1/s", 1.0},
    {Quantity::frequency, "s-1", 1.0},
    {Quantity::velocity, "m/s", 1.0},
    {Quantity::velocity, "m.s-1", 1.0},
    {Quantity::velocity, "km/s", 1e3},
    {Quantity::velocity, "km.s-1", 1e3},
    {Quantity::velocity, "ft/s", 0.3048},
    {Quantity::velocity, "mm/s", 1e-3},
    {Quantity::velocity, "um/s", 1e-6},
    {Quantity::velocity, "nm/s", 1e-9},
    {Quantity::pressure, "Pa", 1.0},
    {Quantity::pressure, "hPa", 1e2},
    {Quantity::pressure, "kPa", 1e3},
    {Quantity::pressure, "MPa", 1e6},
    {Quantity::pressure, "GPa", 1e9},
    {Quantity::pressure, "mPa", 1e-3},
    {Quantity::pressure, "uPa", 1e-6},
    {Quantity::pressure, "bar", 1e5},
    {Quantity::pressure, "N/m2", 1.0},
    {Quantity::conductivity, "S/m", 1.0},
    {Quantity::conductivity, "S.m-1", 1.0},
    {Quantity::conductivity, "mS/m", 1e-3},
    {Quantity::conductivity, "uS/cm", 1e-4},
    {Quantity::conductivity, "mS/cm", 1e-1},
    {Quantity::conductivity, "1/(ohm m)", 1.0},
    {Quantity::resistivity, "ohm m", 1.0},
    {Quantity::resistivity, "ohmm", 1.0},
    {Quantity::resistivity, "ohm-m", 1.0},
    {Quantity::resistivity, "kohm m", 1e3},
    {Quantity::resistivity, "mohm m", 1e-3},
    {Quantity::resistivity, "Mohm m", 1e6},
    {Quantity::resistivity, "ohm cm", 1e-2},
    {Quantity::resistance, "ohm", 1.0},
    {Quantity::resistance, "mohm", 1e-3},
    {Quantity::resistance, "kohm", 1e3},
    {Quantity::resistance, "Mohm", 1e6},
    {Quantity::resistance, "V/A", 1.0},
    {Quantity::resistance, "mV/A", 1e-3},
    {Quantity::conductance, "S", 1.0},
    {Quantity::conductance, "mS", 1e-3},
    {Quantity::conductance, "uS", 1e-6},
    {Quantity::voltage, "V", 1.0},
    {Quantity::voltage, "mV", 1e-3},
    {Quantity::voltage, "uV", 1e-6},
    {Quantity::voltage, "nV", 1e-9},
    {Quantity::voltage, "kV", 1e3},
    {Quantity::current, "A", 1.0},
    {Quantity::current, "mA", 1e-3},
    {Quantity::current, "uA", 1e-6},
    {Quantity::current, "kA", 1e3},
    {Quantity::current_moment, "A.m", 1.0},
    {Quantity::current_moment, "kA.m", 1e3},
    {Quantity::current_moment, "A.km", 1e3},
    {Quantity::magnetic_moment, "A.m2", 1.0},
    {Quantity::electric_field, "V/m", 1.0},
    {Quantity::electric_field, "V.m-1", 1.0},
    {Quantity::electric_field, "mV/m", 1e-3},
    {Quantity::electric_field, "uV/m", 1e-6},
    {Quantity::electric_field, "nV/m", 1e-9},
    {Quantity::electric_field, "mV/km", 1e-6},
    {Quantity::magnetic_field, "A/m", 1.0},
    {Quantity::magnetic_field, "A.m-1", 1.0},
    {Quantity::magnetic_field, "mA/m", 1e-3},
    {Quantity::magnetic_field, "kA/m", 1e3},
    {Quantity::flux_density, "T", 1.0},
    {Quantity::flux_density, "mT", 1e-3},
    {Quantity::flux_density, "uT", 1e-6},
    {Quantity::flux_density, "nT", 1e-9},
    {Quantity::flux_density, "pT", 1e-12},
    {Quantity::flux_density, "gamma", 1e-9},
    {Quantity::flux_density_rate, "T/s", 1.0},
    {Quantity::flux_density_rate, "nT/s", 1e-9},
    {Quantity::flux_density_rate, "pT/s", 1e-12},
    {Quantity::flux_density_gradient, "T/m", 1.0},
    {Quantity::flux_density_gradient, "nT/m", 1e-9},
    {Quantity::flux_density_gradient, "pT/m", 1e-12},
    {Quantity::force, "N", 1.0},
    {Quantity::force, "kN", 1e3},
    {Quantity::force, "MN", 1e6},
    {Quantity::torque, "N.m", 1.0},
    {Quantity::torque, "kN.m", 1e3},
    {Quantity::torque, "MN.m", 1e6},
    {Quantity::torque, "dyn.cm", 1e-7},
    {Quantity::temperature, "K", 1.0},
    {Quantity::temperature, "mK", 1e-3},
    {Quantity::temperature, "kelvin", 1.0},
    {Quantity::thermal_conductivity, "W/(m.K)", 1.0},
    {Quantity::thermal_conductivity, "W/m/K", 1.0},
    {Quantity::thermal_conductivity, "W.m-1.K-1", 1.0},
    {Quantity::specific_heat, "J/(kg.K)", 1.0},
    {Quantity::specific_heat, "J/kg/K", 1.0},
    {Quantity::specific_heat, "J.kg-1.K-1", 1.0},
    {Quantity::specific_heat, "kJ/(kg.K)", 1e3},
    {Quantity::heat_capacity, "J/(m3.K)", 1.0},
    {Quantity::heat_capacity, "J/m3/K", 1.0},
    {Quantity::heat_capacity, "J.m-3.K-1", 1.0},
    {Quantity::heat_capacity, "MJ/(m3.K)", 1e6},
    {Quantity::heat_capacity, "MJ.m-3.K-1", 1e6},
    {Quantity::diffusivity, "m2/s", 1.0},
    {Quantity::diffusivity, "m2.s-1", 1.0},
    {Quantity::diffusivity, "mm2/s", 1e-6},
    {Quantity::heat_flow, "W/m2", 1.0},
    {Quantity::heat_flow, "W.m-2", 1.0},
    {Quantity::heat_flow, "mW/m2", 1e-3},
    {Quantity::heat_production, "W/m3", 1.0},
    {Quantity::heat_production, "W.m-3", 1.0},
    {Quantity::heat_production, "uW/m3", 1e-6},
    {Quantity::heat_production, "mW/m3", 1e-3},
});

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// A unit's name without irrelevant marks. A blank between two words means a product, like the dot: "m m" is
/// not "mm".
std::string plain(std::string_view name) {
  std::string text(name);
  constexpr std::string_view spelled[][2] = {
      {"\xC2\xB5", "u"},   {"\xCE\xBC", "u"},        // µ, μ
      {"\xC2\xB2", "2"},   {"\xC2\xB3", "3"},        // ², ³
      {"\xCE\xA9", "ohm"}, {"\xE2\x84\xA6", "ohm"},  // Ω: the Greek letter and the ohm sign
      {"Ohm", "ohm"},                                // the case of a prefix k, m or M before "Ohm" is kept
      {"\xC2\xB7", "."},   {"**", ""},               // ·
  };
  for (const auto& [from, to] : spelled) replace_all(text, from, to);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c == '*' || std::isspace(c) != 0; }, '.');
  std::erase_if(text, [](char c) { return c == '^' || c == '(' || c == ')'; });
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && (out.empty() || out.back() == '.' || out.back() == '/')) continue;
    if (text[i] == '/' && !out.empty() && out.back() == '.') out.pop_back();
    out += text[i];
  }
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string folded(std::string_view name) {
  std::string text = plain(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string_view si_unit(Quantity quantity) {
  return std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.quantity == quantity; })
      ->name;
}

double si_factor(Quantity quantity, std::string_view unit) {
  constexpr std::size_t longest = 100;
  if (unit.size() > longest)
    throw InputError("unit", "a text of " + std::to_string(unit.size()) + " bytes is no unit",
                     "Allowed: " + allowed_units(quantity) + ".");
  const std::string exact = plain(unit), wanted = folded(unit);
  const Unit* found = nullptr;
  bool doubtful = false;
  for (const Unit& u : units) {
    if (u.quantity != quantity || folded(u.name) != wanted) continue;
    if (plain(u.name) == exact) return u.factor;
    doubtful = doubtful || (found != nullptr && found->factor != u.factor);
    found = &u;
  }
  if (found != nullptr && !doubtful) return found->factor;
  throw InputError("unit", "\"" + std::string(unit) + "\" is not a unit known here",
                   "Allowed: " + allowed_units(quantity) + ".");
}

std::string allowed_units(Quantity quantity) {
  std::string list;
  for (const Unit& u : units)
    if (u.quantity == quantity) list += (list.empty() ? "" : ", ") + std::string(u.name);
  return list;
}

}  // namespace terrane
