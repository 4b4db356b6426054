#include "terrane/physics/gravity/physics.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/job/stations.hpp"
#include "terrane/physics/gravity/frames.hpp"
#include "terrane/physics/gravity/run/distribute.hpp"
#include "terrane/physics/gravity/simulation.hpp"

namespace terrane::gravity {

namespace {

constexpr std::string_view shortest_job = R"([[model.body]]
kind = "sphere"
centre = [0, 0, -300]
radius = 150
density = 400

[survey]
region = [-1000, 1000, -1000, 1000]
shape = [41, 41]
height = 10

[output]
files = ["fields.nc"]
)";

}  // namespace

Physics physics() {
  Physics gravity;
  gravity.name = "gravity";
  gravity.summary = "Potential, gravity and gradient tensor of prisms.";
  const auto add = [&](std::span<const Section> sections) {
    gravity.sections.insert(gravity.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections());
  add(survey_sections());
  add({&Settings::section(), 1});
  add({&Runtime::section(), 1});
  add({&Output::section(), 1});
  gravity.kinds = {{"mesh", "regular"}, {"model.body", "sphere"}, {"survey", "grid"}};
  gravity.conventions = &conventions();
  gravity.shortest = shortest_job;
  gravity.make = Simulation::from_job;
  gravity.serve = serve;
  return gravity;
}

}  // namespace terrane::gravity
