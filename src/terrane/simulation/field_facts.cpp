#include "terrane/simulation/field_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace terrane {

FingerprintFields::Columns& FingerprintFields::group(std::string_view name) {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) { return group.first == name; });
  return found != groups_.end() ? found->second : groups_.emplace_back(std::string(name), Columns()).second;
}

std::string FingerprintFields::text_of(double value, const NumberField& rule) {
  const auto unit = si_unit(rule.quantity);
  return unit.empty() || unit == "1" ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

Fingerprint FingerprintFields::all() const {
  Fingerprint made{this_program()};
  for (const auto& [name, columns] : groups_) made.push_back({name, hash(columns), true});
  for (auto setting : settings_) {
    const auto same = [&](const auto& one) { return one.what == setting.what; };
    if (std::any_of(made.begin(), made.end(), same)) setting.what = "key " + setting.what;
    made.push_back(std::move(setting));
  }
  return made;
}

void ReportFields::operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                              std::string_view) const {
  const auto unit = si_unit(rule.quantity);
  facts_.add(std::string(name), value, unit == "1" ? std::string() : std::string(unit));
}

}  // namespace terrane
