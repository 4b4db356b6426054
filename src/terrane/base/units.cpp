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

// The first unit of each quantity is SI. Names compare without case, blanks, '^', '**', and with µ and ²
// spelled out.
constexpr std::array<Unit, 41> units{{
    {Quantity::dimensionless, "1", 1.0},
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
}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string folded(std::string_view name) {
  std::string text(name);
  replace_all(text, "\xC2\xB5", "u");  // µ
  replace_all(text, "\xC2\xB2", "2");  // ²
  replace_all(text, "\xC2\xB3", "3");  // ³
  replace_all(text, "**", "");
  std::erase_if(text, [](char c) { return c == ' ' || c == '^'; });
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
  const std::string wanted = folded(unit);
  for (const Unit& u : units)
    if (u.quantity == quantity && folded(u.name) == wanted) return u.factor;
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
