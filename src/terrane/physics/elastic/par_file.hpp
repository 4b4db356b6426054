// The Par_file of SPECFEM3D: what a run takes from it where the job file says nothing else.
//
//   NSTEP, DT                          simulation.step = DT, simulation.end = NSTEP DT
//   STACEY_ABSORBING_CONDITIONS, PML_CONDITIONS, STACEY_INSTEAD_OF_FREE_SURFACE,
//   PML_INSTEAD_OF_FREE_SURFACE, BOTTOM_FREE_SURFACE      simulation.absorbing, simulation.boundary
//   ATTENUATION, ATTENUATION_f0_REFERENCE      whether rock with a Q has one; simulation.reference_frequency
//   SAVE_SEISMOGRAMS_…                 simulation.quantity
//   USE_FORCE_POINT_SOURCE             FORCESOLUTION or CMTSOLUTION beside it, and STATIONS
//   MOVIE_SURFACE, NTSTEP_BETWEEN_FRAMES       [snapshots] of the surface
//
// Lines are NAME = value # comment, in any order (SPECFEM3D Cartesian, user manual 4.0, chapter "The
// parameter file").
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace terrane::elastic {

struct ParFile {
  std::size_t steps = 0;
  double step = 0;                     ///< s
  std::vector<std::string> absorbing;  ///< sides, as simulation.absorbing names them
  bool matched = false;
  bool attenuation = false;
  std::optional<double> reference_frequency;  ///< Hz
  std::string quantity = "displacement";
  bool forces = false;         ///< FORCESOLUTION in place of CMTSOLUTION
  std::size_t film_every = 0;  ///< steps from one snapshot of the surface to the next; 0: none
  std::vector<std::string> notes;
};
/// Throws FileError, InputError with the line: NSTEP or DT is missing, no number, no truth, or something is
/// asked for that is not done.
ParFile read_par_file(const std::filesystem::path& file);
ParFile read_par_file(const std::string& name, const std::string& text);

}  // namespace terrane::elastic
