#include "terrane/inversion/observations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/physics/gravity/frames.hpp"

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
};

}  // namespace

std::span<const Key> gravity_keys() { return keys_of_gravity; }

Observations gravity_observations(const Config& table, const Survey& survey) {
  Observations made;
  made.property = "density";
  const auto frame = gravity::frame_from_name(
      table.choice("frame", std::span<const std::string_view>(gravity::frame_names)));
  const auto units = unit_system_from_name(table.choice("units", {"geo", "si"}));
  const double constant = table.positive("gravitational_constant");
  auto columns = observed_columns(survey, gravity::conventions(), gravity::convention(frame), units);
  auto wanted = table.texts("channels");
  made.frame = gravity::name(frame);
  made.others = std::move(columns.others);
  made.warnings = std::move(columns.warnings);
  bool gradients_only = true;
  for (auto& column : columns.observed) {
    const auto named = std::find(wanted.begin(), wanted.end(), column.field);
    if (!wanted.empty() && named == wanted.end()) continue;
    if (!wanted.empty()) wanted.erase(named);
    const auto channel = gravity::channel_from_frame(column.field, frame, units).channel;
    const auto there = gravity::in_frame(channel, frame, units);
    const double per_si = there.sign / si_factor(gravity::quantity(channel), there.unit);
    gradients_only = gradients_only && gravity::quantity(channel) == Quantity::acceleration_gradient;
    made.kinds.push_back(
        {std::move(column), there.description, gravity::Observable::of(channel, constant * per_si)});
  }
  if (!wanted.empty())
    throw table.wrong(
        "channels", fmt::format("the survey has no observed \"{}\"", wanted.front()),
        fmt::format("Its column is called {0}_observed or {0}, and has a unit.", wanted.front()));
  made.exponent = gradients_only ? 3 : 2;
  return made;
}

}  // namespace terrane::inversion
