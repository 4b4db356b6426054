#include "terrane/physics/traveltime/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/traveltime/simulation.hpp"

namespace terrane::traveltime {

namespace {

constexpr std::string_view shortest_job = R"([model.background]
velocity_p = 2500

[[model.body]]
kind = "layer"
bottom = -8
top = 0
velocity_p = 800

[source]
first = [0, 0, 0]
last = [100, 0, 0]
count = 3

[survey]
kind = "lines"
start = [0, 0]
azimuth = 90
length = 100
spacing = 2
height = 0

[simulation]
physics = "traveltime"

[output]
files = ["times.csv"]
)";

}  // namespace

Physics physics() {
  Physics traveltime;
  traveltime.name = "traveltime";
  traveltime.summary = "Travel times: first arrivals of P waves.";
  const auto add = [&](std::span<const Section> sections) {
    traveltime.sections.insert(traveltime.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add(sections());
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  traveltime.kinds = {{"mesh", "regular"}, {"model.body", "layer"}, {"survey", "lines"}};
  traveltime.examples = {
      {"mesh.box", "[-20, 120, -1, 1, -60, 0]"},
      {"mesh.shape", "[140, 1, 60]"},
      {"model.body.density", ""},
      {"model.background.density", ""},
      {"model.background.velocity_p", "\"2500 m/s\""},
      {"model.body.velocity_p", "\"800 m/s\""},
      {"model.body.bottom", "-8"},
      {"model.body.top", "0"},
      {"source.at", "[[0, 0, 0], [100, 0, 0]]"},
      {"survey.height", "0"},
      {"survey.start", "[0, 0]"},
      {"survey.end", "[100, 0]"},
      {"survey.spacing", "2"},
      {"survey.lines", "1"},
      {"output.files", "[\"times.csv\", \"times.nc\"]"},
  };
  traveltime.shortest = shortest_job;
  traveltime.make = Simulation::from_job;
  traveltime.serve = serve;
  return traveltime;
}

}  // namespace terrane::traveltime
