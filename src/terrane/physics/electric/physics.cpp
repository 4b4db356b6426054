#include "terrane/physics/electric/physics.hpp"

#include <fmt/format.h>

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/electric/ranks.hpp"
#include "terrane/physics/electric/simulation.hpp"

namespace terrane::electric {

namespace {

constexpr std::string_view shortest_job = R"([model.background]
resistivity = 100

[[model.body]]
kind = "box"
box = [-20, -8, -15, 15, -12, -4]
resistivity = 10

[survey]
kind = "line"
start = [-46, 0]
electrodes = 24
spacing = 4
levels = 8

[simulation]
physics = "electric"

[output]
files = ["arrays.nc"]
)";

}  // namespace

Physics physics() {
  Physics electric;
  electric.name = "electric";
  electric.summary = "Direct-current resistivity: potentials and apparent resistivities of electrode arrays.";
  const auto add = [&](std::span<const Section> sections) {
    electric.sections.insert(electric.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add({&sides_section(), 1});
  add({&Settings::section(), 1});
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  electric.kinds = {{"mesh", "tensor"}, {"model.body", "sphere"}, {"survey", "line"}};
  // Cells of 2.5 m around the line, given by `core`; then cells that grow, to almost a kilometre away.
  const auto widths = [](std::string_view core) {
    return fmt::format(
        "[300, 200, 130, 85, 55, 35, 22, 14, 9, 6, \"{}\", 6, 9, 14, 22, 35, 55, 85, 130, 200, 300]", core);
  };
  electric.examples = {
      {"mesh.origin", "[-976, -896, -886]"},
      {"mesh.easting_widths", widths("96*2.5")},
      {"mesh.northing_widths", widths("32*2.5")},
      {"mesh.up_widths", "[300, 200, 130, 85, 55, 35, 22, 14, 9, 6, \"12*2.5\"]"},
      {"model.background.density", ""},
      {"model.background.resistivity", "\"100 ohm m\""},
      {"model.body.density", ""},
      {"model.body.resistivity", "\"10 ohm m\""},
      {"model.body.centre", "[0, 0, -10]"},
      {"model.body.radius", "\"6 m\""},
  };
  electric.shortest = shortest_job;
  electric.make = Simulation::from_job;
  electric.takes_any_gpu = true;
  electric.serve = serve;
  return electric;
}

}  // namespace terrane::electric
