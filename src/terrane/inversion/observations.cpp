#include "terrane/inversion/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/job/tables.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/magnetic/simulation.hpp"

namespace terrane::inversion {

namespace {

constexpr Key keys_of_gravity[] = {
    {"physics", "text", "\"gravity\"", "Which data are inverted: gravity or magnetic.", "\"gravity\""},
    {"channels", "list of names", "[]",
     "Which of the observed channels to invert; nothing named: all of them."},
    {"frame", "text", "\"enu\"",
     "Names, axes and signs of data and output: enu, harmonica, simpeg, ubc, tomofast."},
    {"units", "text", "\"geo\"", "Of data and output: geo (mGal, E) or si."},
    {"gravitational_constant", "number", "6.67430e-11", "G in m3/(kg s2)."},
    {"singular", "text", "\"nan\"",
     "Gradients and magnetic fields at stations on faces of cells: nan refuses such stations, mean, outside "
     "or "
     "inside takes that limit."},
};

constexpr Key keys_of_magnetics[] = {
    {"physics", "text", "\"gravity\"", "Which data are inverted: gravity or magnetic.", "\"magnetic\""},
    {"channels", "list of names", "[]",
     "Which of the observed channels to invert; nothing named: all of them."},
    {"intensity", "flux density", "\"50000 nT\"", "Strength of the earth's main field."},
    {"inclination", "number", "90", "Of the main field, degrees, positive downward."},
    {"declination", "number", "0", "Of the main field, degrees east of north."},
    {"frame", "text", "\"enu\"", "Names and axes of data and output: enu, harmonica, simpeg, ubc."},
    {"units", "text", "\"geo\"", "Of data and output: geo (nT) or si (T)."},
    {"singular", "text", "\"nan\"",
     "Gradients and magnetic fields at stations on faces of cells: nan refuses such stations, mean, outside "
     "or "
     "inside takes that limit."},
};

constexpr std::array<std::string_view, 4> policies{"nan", "mean", "outside", "inside"};

/// What differs between the physics: their frames, and the datum of a cell in SI.
struct Linear {
  const Conventions& conventions;
  std::string_view property;
  std::function<gravity::Observable(std::string_view channel)> observable;
};

Linear gravity_of(const Config& table) {
  const double constant = table.positive("gravitational_constant");
  return {gravity::conventions(), "density", [constant](std::string_view channel) {
            return gravity::Observable::of(gravity::channel_from_name(channel), constant);
          }};
}

/// The main field of the job; where the survey names one (MAG3D's files do), that one.
magnetic::MainField main_field(const Config& table, const Survey& survey) {
  auto field = magnetic::Settings::read_field(table);
  const auto take = [&](const char* key, double unit, double& value) {
    const auto* column = survey.find(fmt::format("main_field_{}", key));
    if (column == nullptr || column->values.empty()) return;
    const double there = column->values.front() * unit;
    if (std::any_of(column->values.begin(), column->values.end(),
                    [&](double v) { return v != column->values.front(); }))
      throw InputError("survey", fmt::format("{} is not the same for all stations", column->name));
    if (table.has(key) && std::fabs(value - there) > 1e-6 * std::max(std::fabs(value), std::fabs(there)))
      throw table.wrong(
          key, fmt::format("the file of the survey has {:g}, and the job {:g}", there / unit, value / unit),
          "Leave the key out to take the file's.");
    value = there;
  };
  take("intensity", 1e-9, field.intensity);
  take("inclination", 1, field.inclination);
  take("declination", 1, field.declination);
  return field;
}

Linear magnetics_of(const Config& table, const Survey& survey) {
  const auto field = main_field(table, survey);
  return {magnetic::conventions(), "susceptibility", [field](std::string_view channel) {
            const auto& names = magnetic::channel_names;
            return magnetic::observable(static_cast<magnetic::Channel>(
                                            std::find(names.begin(), names.end(), channel) - names.begin()),
                                        field);
          }};
}

}  // namespace

std::span<const Key> keys_of_observations(std::string_view physics) {
  if (physics == "magnetic") return keys_of_magnetics;
  return keys_of_gravity;
}

Observations read_observations(std::string_view physics, const Config& table, const Survey& survey) {
  const auto linear = physics == "magnetic" ? magnetics_of(table, survey) : gravity_of(table);
  std::vector<std::string_view> frames;
  for (const auto& one : linear.conventions.all) frames.push_back(one.name);
  const auto& frame =
      linear.conventions.named(table.choice("frame", std::span<const std::string_view>(frames)));
  const auto units = unit_system_from_name(table.choice("units", {"geo", "si"}));
  Observations made;
  made.singular = chosen<gravity::SingularPolicy>(table, "singular", policies);
  made.property = linear.property;
  made.frame = frame.name;
  auto columns = observed_columns(survey, linear.conventions, frame, units);
  auto wanted = table.texts("channels");
  made.others = std::move(columns.others);
  made.warnings = std::move(columns.warnings);
  bool slow_decay = false;
  for (auto& column : columns.observed) {
    const auto named = std::find(wanted.begin(), wanted.end(), column.field);
    if (!wanted.empty() && named == wanted.end()) continue;
    if (!wanted.empty()) wanted.erase(named);
    const auto& there = *frame.find(column.field);
    auto observable = linear.observable(there.channel);
    const double per_si = there.sign / si_factor(there.quantity, there.unit(units));
    for (double& weight : observable.weight) weight *= per_si;
    slow_decay = slow_decay || there.quantity == Quantity::acceleration ||
                 there.quantity == Quantity::gravity_potential;
    made.kinds.push_back({std::move(column), there.description, observable});
  }
  if (!wanted.empty())
    throw table.wrong(
        "channels", fmt::format("the survey has no observed \"{}\"", wanted.front()),
        fmt::format("Its column is called {0}_observed or {0}, and has a unit.", wanted.front()));
  made.exponent = slow_decay ? 2 : 3;
  return made;
}

}  // namespace terrane::inversion
