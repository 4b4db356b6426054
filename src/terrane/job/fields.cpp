#include "terrane/job/fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace terrane {

namespace {

/// The shortest text of a number: 2300000 or 2.3e6, whichever is shorter; 1e-8, not 1e-08.
std::string shortest(double value) {
  const auto plain = fmt::format("{}", value);
  if (value == 0) return plain;
  const bool has_power = plain.find('e') != plain.npos;
  const auto power = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (!has_power && std::abs(power) < 4) return plain;
  for (int digits = 0; digits < 17; ++digits) {
    auto text = fmt::format("{:.{}e}", value, digits);
    if (std::stod(text) != value) continue;
    const auto mantissa = text.substr(0, text.find('e'));
    text = fmt::format("{}e{}", mantissa, power);
    return has_power || text.size() < plain.size() ? text : plain;
  }
  return plain;
}

std::string unit_after(std::string_view unit) {
  return unit.empty() || unit == "1" ? "" : fmt::format(" {}", unit);
}

std::string not_allowed(double value, const NumberField& rule) {
  const auto& allowed = rule.allowed;
  const auto unit = unit_after(si_unit(rule.quantity));
  if (allowed.above && allowed.least == 0 && std::isinf(allowed.most) && value <= 0)
    return fmt::format("{}{} is not more than zero", value, unit);
  if (!std::isfinite(allowed.least) || !std::isfinite(allowed.most))
    return fmt::format("{}{} is not allowed", value, unit);
  return fmt::format("{}{} is not between {} and {}{}", value, unit, shortest(allowed.least),
                     shortest(allowed.most), unit);
}

std::string allowed_text(const NumberField& rule) {
  const auto word = rule.word.empty() ? std::string() : fmt::format(", or \"{}\"", rule.word);
  return fmt::format("Allowed: {}{}.", rule.allowed.text(si_unit(rule.quantity)), word);
}

}  // namespace

std::string Allowed::text(std::string_view unit) const {
  const auto with = unit_after(unit);
  const bool has_least = std::isfinite(least), has_most = std::isfinite(most);
  const auto low = fmt::format("{} {}{}", above ? "more than" : "at least", shortest(least), with);
  const auto high = fmt::format("{} {}{}", below ? "less than" : "at most", shortest(most), with);
  if (has_least && has_most) return low + " and " + high;
  return has_least ? low : has_most ? high : "any finite number";
}

std::string_view type_of_key(Quantity quantity) {
  using enum Quantity;
  static constexpr std::pair<Quantity, std::string_view> names[] = {
      {dimensionless, "number"},
      {fraction, "fraction"},
      {susceptibility, "susceptibility"},
      {length, "length"},
      {angle, "angle"},
      {density, "density"},
      {gravity_potential, "gravity potential"},
      {acceleration, "acceleration"},
      {acceleration_gradient, "gradient of acceleration"},
      {time, "time"},
      {frequency, "frequency"},
      {velocity, "velocity"},
      {pressure, "pressure"},
      {conductivity, "conductivity"},
      {resistivity, "resistivity"},
      {resistance, "resistance"},
      {conductance, "conductance"},
      {voltage, "voltage"},
      {current, "current"},
      {current_moment, "current moment"},
      {magnetic_moment, "magnetic moment"},
      {electric_field, "electric field"},
      {magnetic_field, "magnetic field"},
      {flux_density, "flux density"},
      {flux_density_rate, "rate of flux density"},
      {flux_density_gradient, "gradient of flux density"},
      {force, "force"},
      {torque, "moment"},
      {temperature, "temperature"},
      {thermal_conductivity, "thermal conductivity"},
      {specific_heat, "specific heat"},
      {heat_capacity, "heat capacity per volume"},
      {diffusivity, "diffusivity"},
      {heat_flow, "heat flow"},
      {heat_production, "heat production"}};
  const auto* found = std::find_if(std::begin(names), std::end(names),
                                   [&](const auto& name) { return name.first == quantity; });
  return found == std::end(names) ? "number" : found->second;
}

void KeyList::add(std::string_view name, double value, const NumberField& rule, std::string_view help,
                  std::string_view example) {
  using Without = NumberField::Without;
  const auto type = type_of_key(rule.quantity);
  add({name, rule.word.empty() ? type : keep(fmt::format("{} or \"{}\"", type, rule.word)),
       rule.without == Without::must_be_given    ? std::string_view()
       : rule.without == Without::leaves_it_open ? std::string_view("none")
       : !rule.fallback.empty()                  ? rule.fallback
                                                 : keep(shortest(value)),
       help, example});
}

void ReadFields::operator()(std::string_view name, double& value, const NumberField& rule, std::string_view,
                            std::string_view) const {
  if (rule.without == NumberField::Without::leaves_it_open && !table_.optional_number(name, rule.quantity))
    return;
  if (!rule.word.empty() && table_.is_text(name) && table_.text(name) == rule.word) {
    value = rule.of_word;
    return;
  }
  value = table_.number(name, rule.quantity);
  if (!rule.allowed.holds(value)) throw table_.wrong(name, not_allowed(value, rule), allowed_text(rule));
}

std::size_t ReadFields::place_of_word(std::string_view name, const WordField& rule) const {
  const auto word = table_.choice(name, rule.words);
  return static_cast<std::size_t>(std::find(rule.words.begin(), rule.words.end(), word) - rule.words.begin());
}

void CheckFields::operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                             std::string_view) const {
  const bool is_open = value == rule.open || (std::isnan(value) && std::isnan(rule.open));
  if (rule.without == NumberField::Without::leaves_it_open && is_open) return;
  if (!rule.allowed.holds(value))
    throw InputError(where_ + std::string(name), not_allowed(value, rule), allowed_text(rule));
}

void CheckFields::check_count(std::string_view name, double value, const CountField& rule) const {
  if (value < static_cast<double>(rule.least) || value > static_cast<double>(rule.most))
    throw InputError(where_ + std::string(name), fmt::format("{} is not allowed", value),
                     fmt::format("Allowed: whole numbers from {} to {}.", rule.least, rule.most));
}

}  // namespace terrane
