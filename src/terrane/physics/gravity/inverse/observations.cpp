#include "terrane/physics/gravity/inverse/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "terrane/base/text.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/physics/gravity/elsewhere.hpp"

namespace terrane::gravity::inverse {

namespace {
constexpr std::array<std::string_view, 4> policies{"nan", "mean", "outside", "inside"};
/// Throws InputError if no column of the survey is a channel of the frame; the message says which columns are
/// channels of other frames.
void expect_data(const std::vector<ObservedColumn>& observed, const Survey& survey, const FieldKind& kind,
                 const Convention& frame) {
  if (!observed.empty()) return;
  std::string there, meaning;
  for (const auto& column : survey.columns) {
    there += (there.empty() ? "" : ", ") + column.name;
    const auto name =
        column.name.ends_with("_observed") ? column.name.substr(0, column.name.size() - 9) : column.name;
    const auto known = meaning_elsewhere(kind.conventions, name, frame);
    if (!known.empty()) meaning += " " + known + ": set simulation.frame.";
  }
  const auto& usual = frame.channels.size() > 3 ? frame.channels[3] : frame.channels.front();
  std::string turned;  // a text about the same channel with the opposite sign, which is that of gravimeters
  for (const auto& other : kind.conventions.all)
    if (const auto* there_too = other.of_channel(usual.channel);
        turned.empty() && there_too != nullptr && there_too->sign != usual.sign)
      turned = fmt::format("; with simulation.frame = \"{}\" {}_observed [{}], which counts the other way",
                           other.name, there_too->name, there_too->unit(UnitSystem::geo));
  throw InputError(
      "survey",
      fmt::format("it has no observed data: no column with a unit is a channel of the frame {}. It has {}.{}",
                  frame.name, there.empty() ? "places alone" : there, meaning),
      fmt::format("Call their column {}_observed [{}] in the header of the file{}.", usual.name,
                  usual.unit(UnitSystem::geo), turned));
}

}  // namespace

Observations read_observations(const FieldKind& kind, const Config& table, const Survey& survey) {
  std::vector<std::string_view> frames;
  for (const auto& one : kind.conventions.all) frames.push_back(one.name);
  const auto& frame =
      kind.conventions.named(table.choice("frame", std::span<const std::string_view>(frames)));
  const auto units = unit_system_from_name(table.choice("units", {"geo", "si"}));
  Observations made;
  made.singular = chosen<SingularPolicy>(table, "singular", policies);
  made.property = kind.property;
  made.first_direction = kind.first_direction;
  made.observables.resize(kind.components);
  made.frame = frame.name;
  auto columns = observed_columns(survey, kind.conventions, frame, units);
  auto wanted = table.texts("channels");
  made.others = std::move(columns.others);
  made.warnings = std::move(columns.warnings);
  expect_data(columns.observed, survey, kind, frame);
  bool slow_decay = false;
  const bool takes_all = wanted.empty();
  for (auto& column : columns.observed) {
    const auto named = std::find(wanted.begin(), wanted.end(), column.field);
    if (!takes_all && named == wanted.end()) continue;
    if (!takes_all) wanted.erase(named);
    const auto& there = *frame.find(column.field);
    const double per_si = there.sign / si_factor(there.quantity, there.unit(units));
    for (std::size_t component = 0; component < kind.components; ++component) {
      auto rows = kind.observables(there.channel, component);
      if (component == 0) made.rows.push_back(rows.size());
      for (auto& observable : rows) {
        for (double& weight : observable.weight) weight *= per_si;
        made.observables[component].push_back(observable);
      }
    }
    const bool slowly =
        there.quantity == Quantity::acceleration || there.quantity == Quantity::gravity_potential;
    slow_decay = slow_decay || slowly;
    made.steep = made.steep || !slowly;
    made.columns.push_back(std::move(column));
    made.descriptions.push_back(there.description);
  }
  if (!wanted.empty())
    throw table.wrong(
        "channels", fmt::format("the survey has no observed \"{}\"", wanted.front()),
        fmt::format("Its column is called {0}_observed or {0}, and has a unit.", wanted.front()));
  made.exponent = slow_decay ? 2 : 3;
  return made;
}

}  // namespace terrane::gravity::inverse
