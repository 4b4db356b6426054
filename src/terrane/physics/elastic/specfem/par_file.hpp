// The Par_file of SPECFEM3D: what a run takes from it where the job file says nothing else.
//
//   NSTEP, DT                          simulation.step = DT, simulation.end = NSTEP DT
//   STACEY_ABSORBING_CONDITIONS, PML_CONDITIONS, STACEY_INSTEAD_OF_FREE_SURFACE,
//   PML_INSTEAD_OF_FREE_SURFACE, BOTTOM_FREE_SURFACE      simulation.absorbing, simulation.boundary
//   ATTENUATION, ATTENUATION_f0_REFERENCE      whether a medium with a Q has one;
//   simulation.reference_frequency SAVE_SEISMOGRAMS_…                 simulation.quantity
//   USE_FORCE_POINT_SOURCE             FORCESOLUTION or CMTSOLUTION beside it, and STATIONS
//   USE_RICKER_TIME_FUNCTION           Ricker wavelets in these; half durations are their peak frequencies
//   USE_SOURCES_RECEIVERS_Z            depths and burials are heights, m
//   SUPPRESS_UTM_PROJECTION, UTM_PROJECTION_ZONE      whether latitudes and longitudes are projected, and how
//   MOVIE_SURFACE, NTSTEP_BETWEEN_FRAMES, SAVE_DISPLACEMENT       [snapshots] of the surface
//
// par_file_keys() has all keys that SPECFEM3D Cartesian reads, and what becomes of each. (User manual 4.0,
// chapter "The parameter file", and what the program does with each.)
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::elastic {

/// What becomes of a key of a Par_file.
enum class KeyEffect {
  taken,     ///< the run does what it says
  harmless,  ///< no seismogram depends on it
  noted,     ///< a value other than the neutral one is not taken, and a note says so
  refused    ///< a value other than the neutral one would give other seismograms, which Terrane does not make
};
struct ParFileKey {
  std::string_view name;
  KeyEffect effect;
  std::string_view neutral = {};  ///< value with which the key asks for nothing
  std::string_view text = {};     ///< of notes and refusals
  /// The subject of the key: where the job itself has this, the key asks for nothing.
  enum class About { run, sources, medium } about = About::run;
};
std::span<const ParFileKey> par_file_keys();

struct ParFile {
  std::size_t steps = 0;
  double step = 0;        ///< s
  bool own_step = false;  ///< its DT belongs to another time scheme, and gives only the end of the run
  std::vector<std::string> absorbing;  ///< sides, as simulation.absorbing names them
  bool matched = false;
  bool attenuation = false;
  std::optional<double> reference_frequency;  ///< Hz
  std::string quantity = "displacement";
  bool forces = false;          ///< FORCESOLUTION in place of CMTSOLUTION
  bool ricker = false;          ///< all time functions are Ricker wavelets
  bool heights = false;         ///< true: files have heights in m instead of depths and burials
  bool keeps_sign = false;      ///< of an implosion in a fluid (USE_SOURCE_ENCODING)
  std::optional<int> utm_zone;  ///< that latitudes and longitudes are projected with; below zero: southern
  bool in_metres = false;       ///< the file says that there is no projection
  std::size_t film_every = 0;   ///< steps from one snapshot of the surface to the next; 0: none
  bool film_velocity = true;    ///< or displacement
  std::vector<std::string> notes;

  std::string file;
  std::map<std::string, std::size_t> lines;  ///< of its keys
  /// "Par_file:8: DT".
  std::string where(const std::string& key) const;
};

/// What a job has itself, so that the Par_file does not have to say it.
struct OwnParts {
  bool sources = false, medium = false;
};
/// Throws FileError, InputError with the line: NSTEP or DT is missing, no number, no truth, or something is
/// asked for that is not done.
ParFile read_par_file(const std::filesystem::path& file, const OwnParts& own = {});
ParFile read_par_file(const std::string& name, const std::string& text, const OwnParts& own = {});

}  // namespace terrane::elastic
