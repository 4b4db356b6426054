// The Par_file of SPECFEM3D, and the defaults that it gives for keys that the job file leaves out:
//
//   NSTEP, DT                          simulation.step = DT, simulation.end = NSTEP DT
//   STACEY_ABSORBING_CONDITIONS, PML_CONDITIONS, STACEY_INSTEAD_OF_FREE_SURFACE,
//   PML_INSTEAD_OF_FREE_SURFACE, BOTTOM_FREE_SURFACE      simulation.absorbing, simulation.boundary
//   ATTENUATION, ATTENUATION_f0_REFERENCE      whether media attenuate; simulation.reference_frequency
//   SAVE_SEISMOGRAMS_…                 simulation.quantity
//   USE_FORCE_POINT_SOURCE             FORCESOLUTION or CMTSOLUTION in the same folder, and STATIONS
//   USE_RICKER_TIME_FUNCTION           Ricker wavelets in these; half durations are their peak frequencies
//   USE_SOURCES_RECEIVERS_Z            depths and burials are heights, m
//   SUPPRESS_UTM_PROJECTION, UTM_PROJECTION_ZONE      whether latitudes and longitudes are projected, and how
//   MOVIE_SURFACE, NTSTEP_BETWEEN_FRAMES, SAVE_DISPLACEMENT       [snapshots] of the surface
//
// par_file_keys() has all keys that SPECFEM3D Cartesian reads, and the effect of each in Terrane. (According
// to the user manual 4.0, chapter "The parameter file", and the program itself.)
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::elastic {

/// The effect of a key of a Par_file.
enum class KeyEffect {
  taken,     ///< the run uses its value
  harmless,  ///< ignored: seismograms do not depend on it
  noted,     ///< a value other than the neutral one is ignored, with a note
  refused    ///< a value other than the neutral one is an error: Terrane cannot compute such seismograms
};
struct ParFileKey {
  std::string_view name;
  KeyEffect effect;
  std::string_view neutral = {};  ///< value with which the key has no effect
  std::string_view text = {};     ///< text of notes and errors
  /// The subject of the key: if the job itself describes this subject, the key has no effect.
  enum class About { run, sources, medium } about = About::run;
};
std::span<const ParFileKey> par_file_keys();

struct ParFile {
  std::size_t steps = 0;
  double step = 0;  ///< s
  /// Whether DT is the step of another time scheme, and determines only the end of the run.
  bool own_step = false;
  std::vector<std::string> absorbing;  ///< names of sides, as in simulation.absorbing
  bool matched = false;
  bool attenuation = false;
  std::optional<double> reference_frequency;  ///< Hz
  std::string quantity = "displacement";
  bool forces = false;          ///< true: sources are in FORCESOLUTION; false: in CMTSOLUTION
  bool ricker = false;          ///< whether all time functions are Ricker wavelets
  bool heights = false;         ///< true: files have heights in m instead of depths and burials
  bool keeps_sign = false;      ///< whether implosions in fluids keep their sign (USE_SOURCE_ENCODING)
  std::optional<int> utm_zone;  ///< zone of the projection of latitudes and longitudes; negative: southern
  bool in_metres = false;       ///< true: the file suppresses the projection, positions are in m
  std::size_t film_every = 0;   ///< number of steps between two snapshots of the surface; 0: none
  bool film_velocity = true;    ///< true: snapshots show velocity; false: displacement
  std::vector<std::string> notes;

  std::string file;
  std::map<std::string, std::size_t> lines;  ///< line of each key
  /// The line of a key for messages: "Par_file:8: DT".
  std::string where(const std::string& key) const;
};

/// The subjects that a job describes itself, such as its sources; keys of the Par_file on these subjects have
/// no effect.
struct OwnParts {
  bool sources = false, medium = false;
};
/// Throws FileError; InputError with the line: NSTEP or DT is missing, a value is not a number or not a truth
/// value, or Terrane does not support it.
ParFile read_par_file(const std::filesystem::path& file, const OwnParts& own = {});
ParFile read_par_file(const std::string& name, const std::string& text, const OwnParts& own = {});

}  // namespace terrane::elastic
