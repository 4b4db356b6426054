#include "terrane/physics/electromagnetic/inverse/inverse.hpp"

#include "terrane/physics/electromagnetic/inverse/field_models.hpp"
#include "terrane/physics/electromagnetic/inverse/job.hpp"
#include "terrane/physics/electromagnetic/physics.hpp"

namespace terrane::electromagnetic::inverse {

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = physics();
  made.job.summary = "Resistivities from electromagnetic fields.";
  made.job.sections.insert(made.job.sections.end() - 1,
                           {inversion::inversion_section(), inversion::joint_section()});
  made.job.make = FieldData::from_job;
  made.data = "electromagnetic fields";
  made.on_page = {
      {"simulation", "",
       "With physics = \"electromagnetic\", beside `[model]`, `[[source]]` and `[survey]` of [such "
       "jobs](job_electromagnetic.md):",
       sections().back().keys, false}};
  made.services = {service_of_fields()};
  return made;
}

}  // namespace terrane::electromagnetic::inverse
