#include "terrane/physics/acoustic/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/acoustic/run.hpp"
#include "terrane/physics/acoustic/simulation/simulation.hpp"
#include "terrane/physics/acoustic/simulation/tables.hpp"

namespace terrane::acoustic {

namespace {

constexpr std::string_view shortest_job = R"([mesh]
box = [0, 2000, -5, 5, -1000, 0]
shape = [200, 1, 100]

[model.background]
velocity_p = 2000

[[model.body]]
kind = "layer"
bottom = -1000
top = -500
velocity_p = 2600

[source]
at = [[1000, 0, -20]]
frequency = 15

[survey]
kind = "lines"
start = [100, 0]
azimuth = 90
length = 1800
spacing = 25
height = -20

[simulation]
physics = "acoustic"
end = 1

[output]
files = ["gathers.nc"]
)";

}  // namespace

Physics physics() {
  Physics acoustic;
  acoustic.name = "acoustic";
  acoustic.summary = "Acoustic waves: shot gathers, Born modelling, reverse-time migration.";
  const auto add = [&](std::span<const Section> sections) {
    acoustic.sections.insert(acoustic.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add(sections());
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  acoustic.kinds = {{"mesh", "regular"}, {"model.body", "layer"}, {"survey", "lines"}};
  acoustic.examples = {
      {"mesh.box", "[0, 2000, -5, 5, -1000, 0]"},
      {"mesh.shape", "[200, 1, 100]"},
      {"model.background.density", ""},
      {"model.background.velocity_p", "\"2000 m/s\""},
      {"model.body.density", ""},
      {"model.body.velocity_p", "\"2600 m/s\""},
      {"model.body.bottom", "-1000"},
      {"model.body.top", "-500"},
      {"survey.height", "-15"},
      {"survey.start", "[100, 0]"},
      {"survey.end", "[1900, 0]"},
      {"survey.spacing", "20"},
      {"survey.lines", "1"},
      {"output.files", "[\"gathers.nc\"]"},
  };
  acoustic.shortest = shortest_job;
  acoustic.make = Simulation::from_job;
  acoustic.takes_any_gpu = true;
  acoustic.serve = serve;
  return acoustic;
}

}  // namespace terrane::acoustic
