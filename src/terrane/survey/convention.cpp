#include "terrane/survey/convention.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

template <class List, class Member>
auto first(const List& list, Member member, std::string_view wanted) {
  const auto it = std::ranges::find(list, wanted, member);
  return it == list.end() ? nullptr : &*it;
}

}  // namespace

UnitSystem unit_system_from_name(std::string_view wanted) {
  if (wanted == "si") return UnitSystem::si;
  if (wanted == "geo") return UnitSystem::geo;
  throw InputError("units", "\"" + std::string(wanted) + "\" is not a system of units.",
                   "Allowed: si (m2/s2, m/s2, 1/s2, T), geo (J/kg, mGal, E, nT).");
}

const ConventionChannel* Convention::find(std::string_view wanted) const {
  return first(channels, &ConventionChannel::name, wanted);
}

const ConventionChannel* Convention::of_channel(std::string_view wanted) const {
  return first(channels, &ConventionChannel::channel, wanted);
}

const Convention* Conventions::find(std::string_view wanted) const {
  return first(all, &Convention::name, wanted);
}

const Convention& Conventions::named(std::string_view wanted) const {
  if (const auto* found = find(wanted)) return *found;
  std::vector<std::string_view> names;
  for (const auto& convention : all) names.push_back(convention.name);
  throw InputError("frame", "\"" + std::string(wanted) + "\" is not a frame." + did_you_mean(wanted, names),
                   "Allowed: " + terrane::joined(names) + ".");
}

Conventions joined(std::span<const Conventions* const> of_physics) {
  Conventions joint;
  for (const auto* conventions : of_physics)
    for (const auto& convention : conventions->all) {
      const auto there = std::ranges::find(joint.all, convention.name, &Convention::name);
      if (there == joint.all.end()) joint.all.push_back(convention);
      else
        there->channels.insert(there->channels.end(), convention.channels.begin(), convention.channels.end());
    }
  return joint;
}

Column in_convention(const ConventionChannel& there, std::span<const double> values, UnitSystem units) {
  const auto unit = there.unit(units);
  Column column{
      std::string(there.name), std::string(unit), there.description, {values.begin(), values.end()}};
  const double one_unit = there.sign * si_factor(there.quantity, unit);
  if (one_unit != 1)
    for (double& v : column.values) v /= one_unit;
  return column;
}

}  // namespace terrane
