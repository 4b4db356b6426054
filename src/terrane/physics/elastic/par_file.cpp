#include "terrane/physics/elastic/par_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"
#include "terrane/physics/elastic/specfem.hpp"

namespace terrane::elastic {

namespace {

/// Names and values, each with its line.
class Lines {
 public:
  Lines(std::string file, const std::string& text) : file_(std::move(file)) {
    std::istringstream in(text);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      line = line.substr(0, line.find('#'));
      const auto equals = line.find('=');
      if (equals == std::string::npos) continue;
      std::istringstream name(line.substr(0, equals)), value(line.substr(equals + 1));
      std::string key, word;
      name >> key;
      value >> word;
      if (!word.empty()) values_[key] = {number, word};
    }
  }
  bool has(const std::string& key) const { return values_.count(key) > 0; }
  const std::string& text(const std::string& key) const { return values_.at(key).second; }
  std::string where(const std::string& key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? file_ : fmt::format("{}:{}: {}", file_, at->second.first, key);
  }
  double number(const std::string& key) const {
    if (!has(key))
      throw InputError(file_, fmt::format("there is no line \"{} = …\"", key), "Is it a Par_file?");
    return fortran_number(text(key), where(key));
  }
  std::size_t count(const std::string& key) const {
    const double value = number(key);
    if (!(value >= 1 && value < 1e15 && value == std::floor(value)))
      throw InputError(where(key), fmt::format("{} is no number of steps", text(key)));
    return static_cast<std::size_t>(value);
  }
  /// .true. or .false.; what is not there is false.
  bool flag(const std::string& key) const {
    if (!has(key)) return false;
    const auto small = lower(text(key));
    if (small.rfind(".t", 0) == 0 || small == "t" || small == "true") return true;
    if (small.rfind(".f", 0) == 0 || small == "f" || small == "false") return false;
    throw InputError(where(key), fmt::format("\"{}\" is neither .true. nor .false.", printable(text(key))));
  }

 private:
  std::string file_;
  std::map<std::string, std::pair<std::size_t, std::string>> values_;
};

/// What would give other seismograms than those that are asked for.
void refuse(const Lines& lines) {
  if (lines.has("SIMULATION_TYPE") && lines.number("SIMULATION_TYPE") != 1)
    throw InputError(lines.where("SIMULATION_TYPE"),
                     fmt::format("simulations of type {} are not offered", lines.text("SIMULATION_TYPE")),
                     "Terrane computes type 1, forward waves.");
  constexpr const char* not_offered[][2] = {
      {"USE_EXTERNAL_SOURCE_FILE", "Give the time function as samples of a [[source]]."},
      {"HAS_FINITE_FAULT_SOURCE", "Give the fault as table of a [[source]]."},
      {"COUPLE_WITH_INJECTION_TECHNIQUE", ""},
      {"GRAVITY", "Leave it out where waves have periods below some 100 s."},
      {"APPROXIMATE_OCEAN_LOAD", "Make the sea of elements: a layer with velocity_s = 0."},
  };
  for (const auto& [key, next] : not_offered)
    if (lines.flag(key)) throw InputError(lines.where(key), "is not offered", next);
}

std::string quantity_of(const Lines& lines, std::vector<std::string>& notes) {
  if (lines.flag("SAVE_SEISMOGRAMS_ACCELERATION"))
    notes.push_back("no accelerations are written: they are differences of the velocity");
  constexpr const char* names[] = {"displacement", "velocity", "pressure"};
  std::string first;
  for (const std::string name : names) {
    auto large = name;
    std::transform(large.begin(), large.end(), large.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    if (!lines.flag("SAVE_SEISMOGRAMS_" + large)) continue;
    if (first.empty()) first = name;
    else notes.push_back(fmt::format("of several quantities {} is recorded, and no {}", first, name));
  }
  return first.empty() ? names[0] : first;
}

}  // namespace

ParFile read_par_file(const std::filesystem::path& file) {
  return read_par_file(file.string(), io::read_bytes(file.string()));
}
ParFile read_par_file(const std::string& name, const std::string& text) {
  const Lines lines(name, text);
  refuse(lines);
  ParFile par;
  par.steps = lines.count("NSTEP");
  par.step = lines.number("DT");
  if (!(par.step > 0)) throw InputError(lines.where("DT"), "a time step is longer than zero");
  par.matched = lines.flag("PML_CONDITIONS");
  if (par.matched || lines.flag("STACEY_ABSORBING_CONDITIONS")) {
    par.absorbing = {"west", "east", "south", "north"};
    if (!lines.flag("BOTTOM_FREE_SURFACE")) par.absorbing.push_back("bottom");
    if (lines.flag("STACEY_INSTEAD_OF_FREE_SURFACE") || lines.flag("PML_INSTEAD_OF_FREE_SURFACE"))
      par.absorbing.push_back("top");
  }
  par.attenuation = lines.flag("ATTENUATION");
  if (par.attenuation && lines.has("ATTENUATION_f0_REFERENCE"))
    par.reference_frequency = lines.number("ATTENUATION_f0_REFERENCE");
  par.quantity = quantity_of(lines, par.notes);
  par.forces = lines.flag("USE_FORCE_POINT_SOURCE");
  if (lines.flag("MOVIE_SURFACE")) par.film_every = lines.count("NTSTEP_BETWEEN_FRAMES");
  return par;
}

}  // namespace terrane::elastic
