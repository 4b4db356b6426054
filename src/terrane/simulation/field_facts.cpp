#include "terrane/simulation/field_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace terrane {

FingerprintFields::Columns& FingerprintFields::group(std::string_view name) {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) { return group.first == name; });
  return found != groups_.end() ? found->second : groups_.emplace_back(std::string(name), Columns()).second;
}

std::span<const double> FingerprintFields::numbers_of(const TensorMesh& mesh) {
  auto& all = copies_.emplace_back();
  for (const auto* faces : {&mesh.easting(), &mesh.northing(), &mesh.up()}) {
    all.push_back(static_cast<double>(faces->size()));
    all.insert(all.end(), faces->begin(), faces->end());
  }
  return all;
}

std::string FingerprintFields::text_of(double value, const NumberField& rule) {
  const auto unit = si_unit(rule.quantity);
  return unit.empty() || unit == "1" ? fmt::format("{}", value) : fmt::format("{} {}", value, unit);
}

Fingerprint FingerprintFields::all() const {
  Fingerprint made{this_program()};
  for (const auto& [name, columns] : groups_) made.push_back({name, hash(columns), true});
  made.insert(made.end(), settings_.begin(), settings_.end());
  return made;
}

void ReportFields::operator()(std::string_view name, double value, const NumberField& rule, std::string_view,
                              std::string_view) const {
  const auto unit = si_unit(rule.quantity);
  facts_.add(std::string(name), value, unit == "1" ? std::string() : std::string(unit));
}

}  // namespace terrane
