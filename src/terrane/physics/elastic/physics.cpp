#include "terrane/physics/elastic/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/elastic/elements.hpp"
#include "terrane/physics/elastic/simulation.hpp"

namespace terrane::elastic {

namespace {

constexpr std::string_view shortest_job = R"([mesh]
box = [0, 2000, 0, 1000, -1000, 0]
shape = [20, 10, 10]

[model.background]
density = 2500
velocity_p = 4000
velocity_s = 2300

[source]
at = [400, 500, -200]
frequency = 5
force = [0, 0, 1e9]

[survey]
stations = [[700, 500, 0], [1000, 500, 0], [1300, 500, 0], [1600, 500, 0]]

[simulation]
physics = "elastic"
end = 1

[output]
files = ["seismograms.nc"]
)";

}  // namespace

Physics physics() {
  Physics elastic;
  elastic.name = "elastic";
  elastic.summary = "Elastic waves by spectral elements.";
  for (const auto& all : {earth_sections(), element_sections(), survey_sections(), sections()})
    elastic.sections.insert(elastic.sections.end(), all.begin(), all.end());
  elastic.sections.push_back(Runtime::section());
  elastic.sections.push_back(Output::section());
  elastic.kinds = {{"mesh", "regular"}, {"model.body", "layer"}, {"survey", "list"}};
  elastic.examples = {
      {"mesh.box", "[0, 2000, 0, 2000, -1000, 0]"},
      {"mesh.shape", "[20, 20, 10]"},
      {"model.body.density", "2500"},
      {"model.body.velocity_p", "4000"},
      {"model.body.velocity_s", "2300"},
      {"model.body.bottom", "-1000"},
      {"model.body.top", "0"},
      {"survey.height", ""},
      {"survey.stations", "[[600, 1000, 0], [1200, 1000, 0], [1800, 1000, 0]]"},
      {"output.files", "[\"seismograms.nc\"]"},
  };
  elastic.shortest = shortest_job;
  elastic.make = Simulation::from_job;
  elastic.takes_any_gpu = true;
  elastic.serve = serve;
  return elastic;
}

}  // namespace terrane::elastic
