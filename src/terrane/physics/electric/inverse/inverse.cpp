#include "terrane/physics/electric/inverse/inverse.hpp"

#include "terrane/job/earth.hpp"
#include "terrane/job/output.hpp"
#include "terrane/physics/electric/inverse/direct_current_job.hpp"
#include "terrane/physics/electric/inverse/examples.hpp"

namespace terrane::electric::inverse {

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job.name = "electric";
  made.job.summary = "Resistivities from arrays of electrodes.";
  const auto add = [&](std::span<const Section> sections) {
    made.job.sections.insert(made.job.sections.end(), sections.begin(), sections.end());
  };
  add(earth_sections().first(4));
  add({&inversion::ground_section(), 1});
  add(survey_sections());
  add({&sides_section(), 1});
  add({&Settings::section(), 1});
  add({&Runtime::section(), 1});
  add({&inversion::inversion_section(), 1});
  add({&inversion::joint_section(), 1});
  add({&Output::section(), 1});
  made.job.make = ArrayData::from_job;
  made.data = "direct current";
  made.examples = {example};
  auto sides = sides_section();
  sides.summary = "With physics = \"electric\": boundary conditions of single sides of the mesh.";
  sides.in_template = false;
  made.on_page = {
      {"simulation", "",
       "With physics = \"electric\", whose table `[survey]` is that of [electric jobs](job_electric.md):",
       Settings::section().keys, false},
      sides};
  made.services = services_of_currents();
  return made;
}

}  // namespace terrane::electric::inverse
