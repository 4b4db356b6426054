#include "terrane/physics/electromagnetic/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/electromagnetic/simulation.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr std::string_view shortest_job = R"([model.background]
resistivity = 100

[[model.body]]
kind = "box"
box = [1200, 1800, -300, 300, -600, -200]
resistivity = 5

[source]
at = [0, 0, 0]

[survey]
kind = "lines"
start = [500, 0]
azimuth = 90
length = 2000
spacing = 250
height = 0

[simulation]
physics = "electromagnetic"
frequencies = [1, 10]
components = ["e_e", "h_n"]

[output]
files = ["fields.nc"]
)";

}  // namespace

Physics physics() {
  Physics em;
  em.name = "electromagnetic";
  em.summary =
      "Controlled-source electromagnetics: fields of dipoles, wires and loops in the frequency domain.";
  const auto all_of = [&](std::span<const Section> sections) {
    em.sections.insert(em.sections.end(), sections.begin(), sections.end());
  };
  all_of(earth_sections());
  all_of(sections().first(4));
  all_of(survey_sections());
  all_of(sections().subspan(4));
  all_of({&Runtime::section(), 1});
  all_of({&Output::section(), 1});
  em.kinds = {{"mesh", "tensor"}, {"model.body", "layer"}, {"source", "dipole"}, {"survey", "list"}};
  // Air, and ground of 100 ohm m below 0: cells of 200 and 100 m, growing from there to 9 km away.
  em.examples = {
      {"mesh.origin", "[-8950, -8950, -8000]"},
      {"mesh.easting_widths", "[3000, 1800, 1100, 650, \"24*200\", 650, 1100, 1800, 3000]"},
      {"mesh.northing_widths", "[3000, 1800, 1100, 650, \"24*200\", 650, 1100, 1800, 3000]"},
      {"mesh.up_widths", "[2800, 1700, 1000, \"25*100\", 200, 400, 800, 1600, 3200]"},
      {"model.background.density", ""},
      {"model.background.resistivity", "\"1e8 ohm m\""},
      {"model.body.density", ""},
      {"model.body.resistivity", "\"100 ohm m\""},
      {"model.body.bottom", "-8000"},
      {"model.body.top", "0"},
      {"survey.stations",
       "[[1000, 0, -1], [1200, 0, -1], [1400, 0, -1], [1600, 0, -1], [1800, 0, -1], [2000, 0, -1]]"},
      {"survey.height", ""},
      {"output.files", "[\"fields.nc\"]"},
  };
  em.shortest = shortest_job;
  em.make = [](const Config& job, const Runtime& runtime) { return Simulation::from_job(job, runtime); };
  em.takes_any_gpu = true;
  em.serve = serve;
  return em;
}

}  // namespace terrane::electromagnetic
