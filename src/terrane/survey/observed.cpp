#include "terrane/survey/observed.hpp"

#include <algorithm>
#include <array>

#include "terrane/base/error.hpp"

namespace terrane {

namespace {

constexpr std::array<std::string_view, 4> endings{"", "_observed", "_uncertainty", "_residual"};

std::string_view ending(Role role) { return endings[static_cast<std::size_t>(role)]; }

std::string description(const ChannelColumn& what, Frame frame) {
  const auto channel = in_frame(what.channel, frame, UnitSystem::si);
  switch (what.role) {
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

/// The frames in which a survey's columns are looked for, in order.
std::vector<Frame> frames_of(const Survey& survey, Frame asked_for) {
  const auto stated = std::find(frame_names.begin(), frame_names.end(), survey.frame);
  if (stated != frame_names.end()) return {static_cast<Frame>(stated - frame_names.begin())};
  if (asked_for == Frame::enu) return {Frame::enu};
  return {asked_for, Frame::enu};
}

}  // namespace

std::optional<ChannelColumn> channel_column(std::string_view name, Frame frame) {
  auto role = Role::field;
  for (const auto other : {Role::observed, Role::uncertainty, Role::residual})
    if (name.ends_with(ending(other))) {
      name.remove_suffix(ending(other).size());
      role = other;
      break;
    }
  for (const auto channel : ChannelSet::all().list())
    if (in_frame(channel, frame, UnitSystem::si).name == name) return ChannelColumn{channel, role};
  return std::nullopt;
}

std::string column_name(const ChannelColumn& column, Frame frame) {
  return std::string(in_frame(column.channel, frame, UnitSystem::si).name) + std::string(ending(column.role));
}

std::optional<Column> in_other_frame(const Column& column, Frame from, Frame to, UnitSystem units,
                                     UnitSystem unit_system) {
  const auto what = channel_column(column.name, from);
  if (!what) return std::nullopt;
  const auto there = in_frame(what->channel, from, unit_system), here = in_frame(what->channel, to, units);
  double factor = 1;
  try {
    factor = si_factor(quantity(what->channel), column.unit.empty() ? there.unit : column.unit);
  } catch (const InputError&) {
    return std::nullopt;
  }
  const double one_unit = si_factor(quantity(what->channel), here.unit);
  const int sign = what->role == Role::uncertainty ? 1 : there.sign * here.sign;
  Column made{column_name(*what, to), std::string(here.unit), description(*what, to), column.values,
              column.single};
  // Numbers that keep their unit keep their digits.
  if (factor != one_unit)
    for (double& v : made.values) v = v * factor / one_unit;
  if (sign < 0)
    for (double& v : made.values) v = 0.0 - v;
  return made;
}

ObservedColumns observed_columns(const Survey& survey, Frame frame, UnitSystem units) {
  ObservedColumns parted;
  std::vector<bool> used(survey.columns.size(), false);
  const auto frames = frames_of(survey, frame);
  // The first column of a role for a channel, and in which frame it was found.
  const auto find = [&](Channel channel, Role role) -> std::optional<Column> {
    for (const auto from : frames)
      for (std::size_t c = 0; c < survey.columns.size(); ++c) {
        const auto& column = survey.columns[c];
        if (used[c] || column.unit.empty() || column.name != column_name({channel, role}, from)) continue;
        auto made = in_other_frame(column, from, frame, units);
        if (!made) continue;
        used[c] = true;
        return made;
      }
    return std::nullopt;
  };
  for (const auto channel : ChannelSet::all().list()) {
    auto found = find(channel, Role::observed);
    if (!found) found = find(channel, Role::field);
    if (!found) continue;
    ObservedColumn made{column_name({channel, Role::field}, frame), std::move(*found), std::nullopt};
    made.observed.name = column_name({channel, Role::observed}, frame);
    made.observed.description = description({channel, Role::observed}, frame);
    made.uncertainty = find(channel, Role::uncertainty);
    parted.observed.push_back(std::move(made));
  }
  for (std::size_t c = 0; c < survey.columns.size(); ++c) {
    if (used[c]) continue;
    const auto& column = survey.columns[c];
    const bool named = std::any_of(frames.begin(), frames.end(), [&](Frame from) {
      const auto what = channel_column(column.name, from);
      return what && (what->role == Role::field || what->role == Role::observed);
    });
    parted.others.push_back(column);
    auto& kept = parted.others.back().name;
    const auto of_channel = [&](Frame from) { return channel_column(column.name, from).has_value(); };
    if (of_channel(frame) || std::any_of(frames.begin(), frames.end(), of_channel)) kept += "_survey";
    if (named && column.unit.empty())
      parted.warnings.push_back("the survey's column \"" + column.name + "\" has no unit: it is kept as \"" +
                                kept + "\", and not compared with what is computed");
  }
  return parted;
}

}  // namespace terrane
