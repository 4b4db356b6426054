#include "terrane/physics/elastic/specfem/par_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/specfem.hpp"

namespace terrane::elastic {

namespace {

constexpr auto is_taken = KeyEffect::taken, is_harmless = KeyEffect::harmless, is_noted = KeyEffect::noted,
               is_refused = KeyEffect::refused;
using About = ParFileKey::About;

constexpr std::string_view off = ".false.";

// In the order of SPECFEM3D's own Par_file; names of older versions at the end.
constexpr ParFileKey known_keys[] = {
    {"SIMULATION_TYPE", is_refused, "1", "Terrane computes type 1, forward waves."},
    {"NOISE_TOMOGRAPHY", is_refused, "0", "Noise has no source at a point; Terrane's sources have."},
    {"SAVE_FORWARD", is_harmless},
    {"INVERSE_FWI_FULL_PROBLEM", is_refused, off, "Terrane inverts acoustic waves: `terrane new inversion`."},
    {"UTM_PROJECTION_ZONE", is_taken},
    {"SUPPRESS_UTM_PROJECTION", is_taken},
    {"NPROC", is_harmless},
    {"NSTEP", is_taken},
    {"DT", is_taken},
    {"LTS_MODE", is_taken},
    {"PARTITIONING_TYPE", is_harmless},
    {"USE_LDDRK", is_taken},
    {"INCREASE_CFL_FOR_LDDRK", is_taken},
    {"RATIO_BY_WHICH_TO_INCREASE_IT", is_taken},
    {"NGNOD", is_harmless},
    {"MODEL", is_refused, "default",
     "The medium comes from [model], from [[elements.rock]], or from the materials of a mesh of SPECFEM3D; a "
     "tomography_model.xyz is [[elements.rock]] tomography. Where that is what is meant, write default.",
     About::medium},
    {"TOMOGRAPHY_PATH", is_harmless},
    {"SEP_MODEL_DIRECTORY", is_harmless},
    {"APPROXIMATE_OCEAN_LOAD", is_refused, off, "Make the sea of elements: a layer with velocity_s = 0."},
    {"TOPOGRAPHY", is_harmless},
    {"ATTENUATION", is_taken},
    {"ANISOTROPY", is_noted, off,
     "materials with an anisotropy flag are refused; the medium is as it is without"},
    {"GRAVITY", is_refused, off, "Leave it out where waves have periods below some 100 s."},
    {"ATTENUATION_f0_REFERENCE", is_taken},
    {"MIN_ATTENUATION_PERIOD", is_taken},
    {"MAX_ATTENUATION_PERIOD", is_taken},
    {"COMPUTE_FREQ_BAND_AUTOMATIC", is_taken},
    {"USE_OLSEN_ATTENUATION", is_taken},
    {"OLSEN_ATTENUATION_RATIO", is_harmless},
    {"PML_CONDITIONS", is_taken},
    {"PML_INSTEAD_OF_FREE_SURFACE", is_taken},
    {"f0_FOR_PML", is_harmless},
    {"STACEY_ABSORBING_CONDITIONS", is_taken},
    {"STACEY_INSTEAD_OF_FREE_SURFACE", is_taken},
    {"BOTTOM_FREE_SURFACE", is_taken},
    {"UNDO_ATTENUATION_AND_OR_PML", is_harmless},
    {"NT_DUMP_ATTENUATION", is_harmless},
    {"CREATE_SHAKEMAP", is_noted, off,
     "maps of shaking are drawn from receivers on a grid: peak_velocity and others"},
    {"MOVIE_SURFACE", is_taken},
    {"MOVIE_TYPE", is_taken},
    {"MOVIE_VOLUME", is_noted, off, "films of a volume are [snapshots] of = \"volume\""},
    {"MOVIE_VOLUME_STRESS", is_noted, off, "films show velocity or displacement"},
    {"SAVE_DISPLACEMENT", is_taken},
    {"USE_HIGHRES_FOR_MOVIES", is_harmless},
    {"NTSTEP_BETWEEN_FRAMES", is_taken},
    {"HDUR_MOVIE", is_taken},
    {"SAVE_MESH_FILES", is_harmless},
    {"LOCAL_PATH", is_harmless},
    {"NTSTEP_BETWEEN_OUTPUT_INFO", is_harmless},
    {"USE_SOURCES_RECEIVERS_Z", is_taken},
    {"USE_FORCE_POINT_SOURCE", is_taken},
    {"USE_RICKER_TIME_FUNCTION", is_taken},
    {"USE_EXTERNAL_SOURCE_FILE", is_refused, off, "Give the time function as samples of a [[source]].",
     About::sources},
    {"PRINT_SOURCE_TIME_FUNCTION", is_harmless},
    {"NTSTEP_BETWEEN_OUTPUT_SEISMOS", is_harmless},
    {"SAVE_SEISMOGRAMS_DISPLACEMENT", is_taken},
    {"SAVE_SEISMOGRAMS_VELOCITY", is_taken},
    {"SAVE_SEISMOGRAMS_ACCELERATION", is_noted, off,
     "no accelerations are written: they are differences of the velocity"},
    {"SAVE_SEISMOGRAMS_PRESSURE", is_taken},
    {"SAVE_SEISMOGRAMS_STRAIN", is_noted, off, "no strains are written"},
    {"SAVE_SEISMOGRAMS_IN_ADJOINT_RUN", is_harmless},
    {"subsamp_seismos", is_noted, "1", "every step is written, and NSTEP stays as it is"},
    {"NTSTEP_BETWEEN_OUTPUT_SAMPLE", is_noted, "1", "every step is written, and NSTEP stays as it is"},
    {"USE_BINARY_FOR_SEISMOGRAMS", is_harmless},
    {"SU_FORMAT", is_harmless},
    {"ASDF_FORMAT", is_harmless},
    {"HDF5_FORMAT", is_harmless},
    {"WRITE_SEISMOGRAMS_BY_MAIN", is_harmless},
    {"SAVE_ALL_SEISMOS_IN_ONE_FILE", is_harmless},
    {"USE_TRICK_FOR_BETTER_PRESSURE", is_harmless},
    {"USE_SOURCE_ENCODING", is_taken},
    {"OUTPUT_ENERGY", is_harmless},
    {"NTSTEP_BETWEEN_OUTPUT_ENERGY", is_harmless},
    {"NTSTEP_BETWEEN_READ_ADJSRC", is_harmless},
    {"READ_ADJSRC_ASDF", is_harmless},
    {"ANISOTROPIC_KL", is_harmless},
    {"SAVE_TRANSVERSE_KL", is_harmless},
    {"ANISOTROPIC_VELOCITY_KL", is_harmless},
    {"APPROXIMATE_HESS_KL", is_harmless},
    {"SAVE_MOHO_MESH", is_harmless},
    {"COUPLE_WITH_INJECTION_TECHNIQUE", is_refused, off,
     "Terrane's waves come from sources inside the mesh."},
    {"INJECTION_TECHNIQUE_TYPE", is_harmless},
    {"MESH_A_CHUNK_OF_THE_EARTH", is_harmless},
    {"TRACTION_PATH", is_harmless},
    {"FKMODEL_FILE", is_harmless},
    {"RECIPROCITY_AND_KH_INTEGRAL", is_harmless},
    {"NUMBER_OF_SIMULTANEOUS_RUNS", is_refused, "1", "Each of the runs is a job with a Par_file of its own."},
    {"BROADCAST_SAME_MESH_AND_MODEL", is_harmless},
    {"GPU_MODE", is_harmless},
    {"ADIOS_ENABLED", is_harmless},
    {"ADIOS_FOR_DATABASES", is_harmless},
    {"ADIOS_FOR_MESH", is_harmless},
    {"ADIOS_FOR_FORWARD_ARRAYS", is_harmless},
    {"ADIOS_FOR_KERNELS", is_harmless},
    {"ADIOS_FOR_UNDO_ATTENUATION", is_harmless},
    {"HDF5_ENABLED", is_harmless},
    {"HDF5_FOR_MOVIES", is_harmless},
    {"HDF5_IO_NODES", is_harmless},
    {"ABSORBING_CONDITIONS", is_taken},
    {"HAS_FINITE_FAULT_SOURCE", is_refused, off, "Give the fault as table of a [[source]].", About::sources},
};

const ParFileKey* find_key(std::string_view name) {
  const auto* const at = std::find_if(std::begin(known_keys), std::end(known_keys),
                                      [&](const ParFileKey& key) { return key.name == name; });
  return at == std::end(known_keys) ? nullptr : at;
}

/// The keys of a Par_file with their values and lines.
class Lines {
 public:
  Lines(std::string file, const std::string& text) : file_(std::move(file)) {
    for (auto& line : io::read_par_lines(file_, text)) {
      const auto before = values_.find(line.name);
      if (before == values_.end()) {
        values_[line.name] = {line.line, line.value};
      } else if (before->second.second != line.value) {
        notes_.push_back(fmt::format("{}:{}: {} stands in line {}, too, which counts", file_, line.line,
                                     line.name, before->second.first));
      }
    }
  }
  bool has(const std::string& key) const { return values_.count(key) > 0; }
  /// The first word of a key's value.
  std::string text(const std::string& key) const {
    const auto& words = values_.at(key).second;
    return words.substr(0, words.find_first_of(" \t"));
  }
  std::string where(const std::string& key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? file_ : fmt::format("{}:{}: {}", file_, at->second.first, key);
  }
  double number(const std::string& key) const {
    if (!has(key))
      throw InputError(file_, fmt::format("there is no line \"{} = …\"", key), "Is it a Par_file?");
    return io::fortran_number(text(key), where(key));
  }
  double number(const std::string& key, double otherwise) const { return has(key) ? number(key) : otherwise; }
  std::size_t count(const std::string& key) const {
    const double value = number(key);
    if (!(value >= 1 && value < 1e15 && value == std::floor(value)))
      throw InputError(where(key), fmt::format("{} is no number of steps", text(key)));
    return static_cast<std::size_t>(value);
  }
  /// The truth value of a key, .true. or .false.; false if the key is missing.
  bool flag(const std::string& key) const {
    if (!has(key)) return false;
    const auto small = lower(text(key));
    if (small.rfind(".t", 0) == 0 || small == "t" || small == "true") return true;
    if (small.rfind(".f", 0) == 0 || small == "f" || small == "false") return false;
    throw InputError(where(key), fmt::format("\"{}\" is neither .true. nor .false.", printable(text(key))));
  }
  /// Whether a key has its neutral value, with which it has no effect.
  bool is_neutral(const ParFileKey& key) const {
    const std::string name(key.name);
    if (!has(name)) return true;
    if (key.neutral == off) return !flag(name);
    if (std::isdigit(static_cast<unsigned char>(key.neutral.front())))
      return number(name) == io::fortran_number(std::string(key.neutral), where(name));
    return lower(text(name)) == key.neutral;
  }
  void note(const std::string& key, std::string_view text) {
    notes_.push_back(fmt::format("{}: {}", where(key), text));
  }
  std::vector<std::string> take_notes() { return std::move(notes_); }
  std::map<std::string, std::size_t> numbers() const {
    std::map<std::string, std::size_t> all;
    for (const auto& [name, line] : values_) all[name] = line.first;
    return all;
  }
  const std::map<std::string, std::pair<std::size_t, std::string>>& values() const { return values_; }

 private:
  std::string file_;
  std::map<std::string, std::pair<std::size_t, std::string>> values_;
  std::vector<std::string> notes_;
};

/// Checks all keys: throws if a key would need seismograms that Terrane cannot compute, and notes ignored
/// keys.
void look_at_all(Lines& lines, const OwnParts& own) {
  std::string unknown;
  for (const auto& [name, line] : lines.values()) {
    const auto* key = find_key(name);
    if (key == nullptr) {
      unknown += fmt::format("{}{} (line {})", unknown.empty() ? "" : ", ", printable(name), line.first);
      continue;
    }
    const bool asks = (key->effect == is_refused || key->effect == is_noted) && !lines.is_neutral(*key);
    if (!asks) continue;
    const bool is_own =
        (key->about == About::sources && own.sources) || (key->about == About::medium && own.medium);
    if (is_own)
      lines.note(name, fmt::format("{} is not taken, as the job has its own {}", lines.text(name),
                                   key->about == About::medium ? "medium" : "sources"));
    else if (key->effect == is_noted) lines.note(name, key->text);
    else
      throw InputError(lines.where(name), fmt::format("{} is not offered", printable(lines.text(name))),
                       std::string(key->text));
  }
  if (!unknown.empty()) lines.note("", fmt::format("keys that are not known, and not taken: {}", unknown));
}

std::string quantity_of(Lines& lines) {
  constexpr const char* names[] = {"displacement", "velocity", "pressure"};
  std::string first;
  for (const std::string name : names) {
    auto large = name;
    std::transform(large.begin(), large.end(), large.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    const auto key = "SAVE_SEISMOGRAMS_" + large;
    if (!lines.flag(key)) continue;
    if (first.empty()) first = name;
    else lines.note(key, fmt::format("of several quantities {} is recorded, and no {}", first, name));
  }
  return first.empty() ? names[0] : first;
}

/// Reads NSTEP and DT, and the two time schemes for which DT is not the step of a leapfrog.
void read_times(Lines& lines, ParFile& par) {
  par.steps = lines.count("NSTEP");
  par.step = lines.number("DT");
  if (!(par.step > 0)) throw InputError(lines.where("DT"), "a time step is longer than zero");
  if (lines.flag("LTS_MODE")) {
    par.own_step = true;
    lines.note("LTS_MODE", "all elements take the same step, the longest stable one, and not DT");
  }
  if (!lines.flag("USE_LDDRK")) return;
  par.own_step = true;
  if (lines.flag("INCREASE_CFL_FOR_LDDRK")) {
    const double ratio = lines.number("RATIO_BY_WHICH_TO_INCREASE_IT");
    if (!(ratio > 0)) throw InputError(lines.where("RATIO_BY_WHICH_TO_INCREASE_IT"), "a ratio is above zero");
    par.step *= ratio;
  }
  lines.note("USE_LDDRK", "steps are those of leapfrog, the longest stable ones, and not DT");
}

void read_sides(Lines& lines, ParFile& par) {
  par.matched = lines.flag("PML_CONDITIONS");
  const bool stacey = lines.flag("STACEY_ABSORBING_CONDITIONS") || lines.flag("ABSORBING_CONDITIONS");
  if (par.matched && stacey)
    throw InputError(lines.where("PML_CONDITIONS"), "both PML_CONDITIONS and STACEY_ABSORBING_CONDITIONS",
                     "Of both kinds of absorbing sides one is .true.");
  if (!par.matched && !stacey) return;
  par.absorbing = {"west", "east", "south", "north"};
  if (!lines.flag("BOTTOM_FREE_SURFACE")) par.absorbing.push_back("bottom");
  const auto* const top = par.matched ? "PML_INSTEAD_OF_FREE_SURFACE" : "STACEY_INSTEAD_OF_FREE_SURFACE";
  if (lines.flag(top)) par.absorbing.push_back("top");
}

void read_attenuation(Lines& lines, const OwnParts& own, ParFile& par) {
  par.attenuation = lines.flag("ATTENUATION");
  if (!par.attenuation) return;
  if (lines.has("ATTENUATION_f0_REFERENCE")) {
    par.reference_frequency = lines.number("ATTENUATION_f0_REFERENCE");
    if (!(*par.reference_frequency > 0))
      throw InputError(lines.where("ATTENUATION_f0_REFERENCE"), "a frequency is above zero");
  }
  if (lines.flag("USE_OLSEN_ATTENUATION")) {
    if (!own.medium)
      throw InputError(lines.where("USE_OLSEN_ATTENUATION"), "is not offered",
                       "Give quality_s and quality_p of each [[elements.rock]], or of bodies of [model].");
    lines.note("USE_OLSEN_ATTENUATION", "is not taken: Q is that of the job's media");
  }
  if (lines.has("COMPUTE_FREQ_BAND_AUTOMATIC") && !lines.flag("COMPUTE_FREQ_BAND_AUTOMATIC"))
    lines.note("COMPUTE_FREQ_BAND_AUTOMATIC",
               "Q is constant in a band that ends with the sources, and not from MIN_ATTENUATION_PERIOD to "
               "MAX_ATTENUATION_PERIOD");
}

void read_places(Lines& lines, ParFile& par) {
  par.heights = lines.flag("USE_SOURCES_RECEIVERS_Z");
  if (!lines.has("SUPPRESS_UTM_PROJECTION")) return;
  par.in_metres = lines.flag("SUPPRESS_UTM_PROJECTION");
  if (par.in_metres) return;
  const double zone = lines.number("UTM_PROJECTION_ZONE");
  if (zone != std::floor(zone) || !(std::fabs(zone) >= 1 && std::fabs(zone) <= 60))
    throw InputError(lines.where("UTM_PROJECTION_ZONE"), fmt::format("{:g} is no zone", zone),
                     "Zones are 1 to 60, and -1 to -60 south of the equator; or, where places are in metres, "
                     "SUPPRESS_UTM_PROJECTION = .true.");
  par.utm_zone = static_cast<int>(zone);
}

void read_film(Lines& lines, const OwnParts& own, ParFile& par) {
  par.film_velocity = !lines.flag("SAVE_DISPLACEMENT");
  if (lines.flag("MOVIE_SURFACE")) {
    par.film_every = lines.count("NTSTEP_BETWEEN_FRAMES");
    if (lines.number("MOVIE_TYPE", 1) != 1)
      lines.note("MOVIE_TYPE", "the film shows the surface and no other sides");
  }
  const bool films =
      lines.flag("MOVIE_SURFACE") || lines.flag("MOVIE_VOLUME") || lines.flag("CREATE_SHAKEMAP");
  if (films && !own.sources && lines.number("HDUR_MOVIE", 0) != 0)
    throw InputError(lines.where("HDUR_MOVIE"), "with films it lengthens the half durations of sources",
                     "Write the longer ones, √(half duration² + HDUR_MOVIE²), into the sources, and here 0.");
}

}  // namespace

std::span<const ParFileKey> par_file_keys() { return known_keys; }

std::string ParFile::where(const std::string& key) const {
  const auto at = lines.find(key);
  return at == lines.end() ? file : fmt::format("{}:{}: {}", file, at->second, key);
}

ParFile read_par_file(const std::filesystem::path& file, const OwnParts& own) {
  return read_par_file(file.string(), io::read_bytes(file.string()), own);
}
ParFile read_par_file(const std::string& name, const std::string& text, const OwnParts& own) {
  Lines lines(name, text);
  ParFile par;
  par.file = name;
  par.lines = lines.numbers();
  read_times(lines, par);
  look_at_all(lines, own);
  read_sides(lines, par);
  read_attenuation(lines, own, par);
  read_places(lines, par);
  read_film(lines, own, par);
  par.quantity = quantity_of(lines);
  par.forces = lines.flag("USE_FORCE_POINT_SOURCE");
  par.ricker = lines.flag("USE_RICKER_TIME_FUNCTION") && !lines.flag("USE_EXTERNAL_SOURCE_FILE");
  par.keeps_sign = lines.flag("USE_SOURCE_ENCODING");
  par.notes = lines.take_notes();
  return par;
}

}  // namespace terrane::elastic
