// By Poisson's relation the field of a magnetized cell is that of gravity gradients: everything except keys,
// frames and the main field is taken from the inversion of gravity.
#include "terrane/physics/magnetic/inverse/inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/physics/gravity/inverse/job.hpp"
#include "terrane/physics/magnetic/inverse/examples.hpp"
#include "terrane/physics/magnetic/simulation.hpp"

namespace terrane::magnetic::inverse {

namespace {

constexpr Key keys_of_magnetics[] = {
    {"physics", "text", "\"gravity\"", "Which data are inverted: gravity or magnetic.", "\"magnetic\""},
    {"property", "text", "\"susceptibility\"",
     "What is found: susceptibility, for rock magnetized along the main field; or magnetization, a vector of "
     "any "
     "direction in each cell, for rock with remanence."},
    {"channels", "list of names", "[]", "Observed channels to invert; by default all."},
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

/// The main field of the survey if it contains one (MAG3D's files do), else that of the job.
MainField main_field(const Config& table, const Survey& survey) {
  auto field = Settings::read_field(table);
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

gravity::inverse::FieldKind kind_of(const Config& simulation, const Survey& survey) {
  const auto field = main_field(simulation, survey);
  const auto property = simulation.choice("property", {"susceptibility", "magnetization"});
  const bool vectors = property == "magnetization";
  gravity::inverse::FieldKind kind{conventions(), property, {}};
  kind.components = vectors ? 3 : 1;
  kind.first_direction = field.direction();
  kind.observables = [field, vectors](std::string_view name, std::size_t component) {
    const auto place = std::find(channel_names.begin(), channel_names.end(), name);
    std::array<double, 3> by_unit{};  // μ₀/4π times a magnetization of 1 A/m along one axis
    by_unit[component] = mu0_over_4pi;
    std::vector<gravity::Observable> rows;
    for (const auto& along : components_of(static_cast<Channel>(place - channel_names.begin()), field))
      rows.push_back(vectors ? observable(along, by_unit) : observable(along, field));
    return rows;
  };
  return kind;
}

}  // namespace

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = gravity::inverse::job_at_stations("magnetic",
                                               "Susceptibilities or magnetizations from magnetic fields.",
                                               {"inversion of magnetic fields", keys_of_magnetics, kind_of});
  made.data = "magnetic fields";
  made.examples = {example, vector_example, joint_example};
  made.on_page = {{"simulation", "", "With physics = \"magnetic\":", keys_of_magnetics, false}};
  return made;
}

}  // namespace terrane::magnetic::inverse
