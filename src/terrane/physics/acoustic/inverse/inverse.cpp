#include "terrane/physics/acoustic/inverse/inverse.hpp"

#include "terrane/inversion/job/tables.hpp"
#include "terrane/physics/acoustic/inverse/job.hpp"
#include "terrane/physics/acoustic/physics.hpp"

namespace terrane::acoustic::inverse {

inversion::Inverse inverse() {
  inversion::Inverse made;
  made.job = physics();
  made.job.summary = "Velocities from recorded waves: waveform inversion, least-squares migration.";
  made.job.sections.insert(made.job.sections.end() - 1,
                           {inversion::inversion_section(), inversion::joint_section()});
  made.job.make = WaveData::from_job;
  made.data = "waves";
  made.on_page = {
      {"simulation", "",
       "With physics = \"acoustic\", beside `[model]`, `[source]`, `[boundary]` and `[survey]` of [such "
       "jobs](job_acoustic.md):",
       sections().back().keys, false}};
  return made;
}

}  // namespace terrane::acoustic::inverse
