#include "terrane/survey/observed.hpp"

#include <algorithm>
#include <array>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

constexpr std::array<std::string_view, 4> endings{"", "_observed", "_uncertainty", "_residual"};

std::string_view ending(Role role) { return endings[static_cast<std::size_t>(role)]; }

std::string description(const ConventionChannel& channel, Role role) {
  switch (role) {
    case Role::observed:
      return channel.description + ", observed";
    case Role::uncertainty:
      return "uncertainty of " + std::string(channel.name);
    case Role::residual:
      return channel.description + ", observed less computed";
    case Role::field:
      break;
  }
  return channel.description;
}

/// The frames in which names of a survey's columns are looked up, in order.
std::vector<const Convention*> frames_of(const Survey& survey, const Conventions& known,
                                         const Convention& asked_for) {
  if (const auto* stated = known.find(survey.frame)) return {stated};
  if (asked_for.name == known.own().name) return {&asked_for};
  return {&asked_for, &known.own()};
}

}  // namespace

std::optional<ChannelColumn> channel_column(std::string_view name, const Convention& frame) {
  auto role = Role::field;
  for (const auto other : {Role::observed, Role::uncertainty, Role::residual})
    if (name.ends_with(ending(other))) {
      name.remove_suffix(ending(other).size());
      role = other;
      break;
    }
  if (const auto* there = frame.find(name)) return ChannelColumn{there->channel, role};
  return std::nullopt;
}

std::string column_name(const ChannelColumn& column, const Convention& frame) {
  const auto* there = frame.of_channel(column.channel);
  return there == nullptr ? std::string{} : std::string(there->name) + std::string(ending(column.role));
}

std::optional<Column> in_other_frame(const Column& column, const Convention& from, const Convention& to,
                                     UnitSystem units, UnitSystem unit_system) {
  const auto what = channel_column(column.name, from);
  if (!what) return std::nullopt;
  const auto *there = from.of_channel(what->channel), *here = to.of_channel(what->channel);
  if (here == nullptr) return std::nullopt;
  double factor = 1;
  try {
    factor = si_factor(there->quantity,
                       column.unit.empty() ? there->unit(unit_system) : std::string_view(column.unit));
  } catch (const InputError&) {
    return std::nullopt;
  }
  const double one_unit = si_factor(here->quantity, here->unit(units));
  const int sign = what->role == Role::uncertainty ? 1 : there->sign * here->sign;
  Column made{column_name(*what, to), std::string(here->unit(units)), description(*here, what->role),
              column.values, column.single};
  // Does not multiply if the unit does not change, so that values keep all digits.
  if (factor != one_unit)
    for (double& v : made.values) v = v * factor / one_unit;
  if (sign < 0)
    for (double& v : made.values) v = 0.0 - v;
  return made;
}

ObservedColumns observed_columns(const Survey& survey, const Conventions& known, const Convention& frame,
                                 UnitSystem units) {
  ObservedColumns parted;
  std::vector<bool> used(survey.columns.size(), false);
  const auto frames = frames_of(survey, known, frame);
  std::vector<std::string> sources;
  // The first column with this role for a channel, in the first frame with such a column.
  const auto find = [&](std::string_view channel, Role role) -> std::optional<Column> {
    for (const auto* from : frames)
      for (std::size_t c = 0; c < survey.columns.size(); ++c) {
        const auto& column = survey.columns[c];
        if (used[c] || column.unit.empty() || column.name != column_name({channel, role}, *from)) continue;
        auto made = in_other_frame(column, *from, frame, units);
        if (!made) continue;
        used[c] = true;
        sources.push_back(column.name);
        return made;
      }
    return std::nullopt;
  };
  for (const auto& there : frame.channels) {
    const auto channel = there.channel;
    sources.clear();
    auto found = find(channel, Role::observed);
    if (!found) found = find(channel, Role::field);
    if (!found) continue;
    ObservedColumn made{column_name({channel, Role::field}, frame), std::move(*found), std::nullopt};
    made.observed.name = column_name({channel, Role::observed}, frame);
    made.observed.description = description(there, Role::observed);
    made.uncertainty = find(channel, Role::uncertainty);
    made.sources = sources;
    parted.observed.push_back(std::move(made));
  }
  for (std::size_t c = 0; c < survey.columns.size(); ++c) {
    if (used[c]) continue;
    const auto& column = survey.columns[c];
    const bool named = std::any_of(frames.begin(), frames.end(), [&](const Convention* from) {
      const auto what = channel_column(column.name, *from);
      return what && (what->role == Role::field || what->role == Role::observed);
    });
    parted.others.push_back(column);
    auto& kept = parted.others.back().name;
    const auto of_channel = [&](const Convention* from) {
      return channel_column(column.name, *from).has_value();
    };
    if (of_channel(&frame) || std::any_of(frames.begin(), frames.end(), of_channel)) kept += "_survey";
    if (named && column.unit.empty())
      parted.warnings.push_back("the survey's column \"" + column.name + "\" has no unit: it is kept as \"" +
                                kept + "\", and not compared with what is computed");
  }
  return parted;
}

}  // namespace terrane
