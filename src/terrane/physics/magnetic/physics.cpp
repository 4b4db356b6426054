#include "terrane/physics/magnetic/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/magnetic/simulation.hpp"

namespace terrane::magnetic {

namespace {

constexpr std::string_view shortest_job = R"([[model.body]]
kind = "box"
box = [-200, 200, -100, 100, -500, -100]
susceptibility = 0.05

[survey]
region = [-1000, 1000, -1000, 1000]
shape = [41, 41]
height = 30

[simulation]
physics = "magnetic"
inclination = 60

[output]
files = ["fields.nc"]
)";

}  // namespace

Physics physics() {
  Physics magnetic;
  magnetic.name = "magnetic";
  magnetic.summary = "Magnetic field and total-field anomaly of magnetized prisms.";
  const auto add = [&](std::span<const Section> sections) {
    magnetic.sections.insert(magnetic.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add({&Settings::section(), 1});
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  magnetic.kinds = {{"mesh", "regular"}, {"model.body", "sphere"}, {"survey", "grid"}};
  magnetic.examples = {{"model.body.density", ""}, {"model.body.susceptibility", "0.02"}};
  magnetic.conventions = &conventions();
  magnetic.shortest = shortest_job;
  magnetic.make = Simulation::from_job;
  magnetic.serve = [](Comm&) {};  // on other ranks, gravity computes the sums
  return magnetic;
}

}  // namespace terrane::magnetic
