#include "terrane/physics/heat/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/heat/simulation.hpp"

namespace terrane::heat {

namespace {

constexpr std::string_view shortest_job = R"([mesh]
box = [-10, 10, -10, 10, -10, 10]
shape = [40, 40, 40]

[model.background]
thermal_conductivity = 2.8
heat_capacity = 2.1e6

[source]
at = [0, 0, 0]
power = 500

[survey]
stations = [[2, 0, 0], [4, 0, 0], [6, 0, 0]]

[simulation]
physics = "heat"
end = "60 day"

[output]
files = ["temperature.nc"]
)";

}  // namespace

Physics physics() {
  Physics heat;
  heat.name = "heat";
  heat.summary = "Conduction of heat in a box of rock.";
  const auto add = [&](std::span<const Section> sections) {
    heat.sections.insert(heat.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add(sections());
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  heat.kinds = {{"mesh", "regular"}, {"model.body", "sphere"}, {"survey", "list"}};
  heat.examples = {
      {"model.body.density", ""},
      {"model.body.thermal_conductivity", "\"5 W/(m.K)\""},
      {"survey.height", ""},  // The example sets no height: the default height would be above the box.
      {"survey.stations", "[[11000, 11000, -3000], [11000, 11000, -1000]]"},
      {"source.power", "1e6"},
      {"output.files", "[\"temperature.nc\"]"},
  };
  heat.shortest = shortest_job;
  heat.make = Simulation::from_job;
  heat.takes_any_gpu = true;
  heat.serve = serve;
  return heat;
}

}  // namespace terrane::heat
