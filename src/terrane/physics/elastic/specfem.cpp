#include "terrane/physics/elastic/specfem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"

namespace terrane::elastic {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(trimmed(line));
  return lines;
}

/// The keys of one source, in small letters, each with its line.
struct SourceBlock {
  std::string file;
  std::size_t line = 0;  // the first
  std::map<std::string, std::pair<std::size_t, std::string>> values;

  double number(std::initializer_list<const char*> keys) const {
    for (const auto* key : keys)
      if (const auto at = values.find(key); at != values.end()) {
        const auto& text = at->second.second;
        return fortran_number(text.substr(0, text.find_first_of(" \t!")),
                              fmt::format("{}:{}: {}", file, at->second.first, key));
      }
    throw InputError(fmt::format("{}:{}", file, line),
                     fmt::format("this source has no line \"{}:\"", *keys.begin()));
  }
  bool has(const char* key) const { return values.count(key) > 0; }
  std::string where(const char* key) const {
    const auto at = values.find(key);
    return fmt::format("{}:{}: {}", file, at == values.end() ? line : at->second.first, key);
  }
};

/// Divides a file at the lines where sources begin.
template <class Begins>
std::vector<SourceBlock> blocks_of(const std::string& file, const std::vector<std::string>& lines,
                                   const Begins& begins) {
  std::vector<SourceBlock> blocks;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const auto small = lower(lines[n]);
    if (begins(small)) blocks.push_back({file, n + 1, {}});
    const auto colon = small.find(':');
    if (colon == std::string::npos || blocks.empty() || small.front() == '#') continue;
    blocks.back().values.insert({trimmed(small.substr(0, colon)), {n + 1, trimmed(small.substr(colon + 1))}});
  }
  return blocks;
}

void place(const SourceBlock& block, SpecfemSource& source) {
  source.latitude = block.number({"latitude", "latorutm"});
  source.longitude = block.number({"longitude", "longorutm"});
  source.depth = 1000 * block.number({"depth"});
  source.source.course.delay = block.number({"time shift"});
}

/// SPECFEM3D's Gaussian and step that stand for a triangle of this half duration.
double width_of(double half_duration, const std::string& where) {
  if (!(half_duration > 0))
    throw InputError(where, "a half duration of zero",
                     "SPECFEM3D takes five time steps then; write the half duration that is meant, s.");
  return half_duration / 1.628;
}

SpecfemSource moment_source(const SourceBlock& block) {
  SpecfemSource s;
  place(block, s);
  s.source.is_moment = true;
  const auto moment = [&](const char* key) { return 1e-7 * block.number({key}); };  // dyne cm to N m
  // r up, t south, p east: xx, yy, zz, yz, xz, xy
  s.source.strength = {moment("mpp"),  moment("mtt"), moment("mrr"),
                       -moment("mrt"), moment("mrp"), -moment("mtp")};
  s.source.course.pulse = Pulse::step;
  s.source.course.width = width_of(block.number({"half duration"}), block.where("half duration"));
  return s;
}

SpecfemSource force_source(const SourceBlock& block) {
  SpecfemSource s;
  place(block, s);
  Vector direction{block.number({"component dir vect source e"}),
                   block.number({"component dir vect source n"}),
                   block.number({"component dir vect source z_up"})};
  const double length = norm(direction), factor = block.number({"factor force source"});
  if (!(length > 0))
    throw InputError(block.where("component dir vect source e"),
                     "the force has no direction: all components are zero");
  for (std::size_t d = 0; d < 3; ++d) s.source.strength[d] = factor * direction[d] / length;
  const double given = block.number({"hdurorf0", "f0"});
  const double asked = block.has("source time function") ? block.number({"source time function"}) : 1;
  constexpr Pulse pulses[3] = {Pulse::gaussian, Pulse::ricker, Pulse::step};
  if (asked != 0 && asked != 1 && asked != 2)
    throw InputError(
        block.where("source time function"), fmt::format("time function {} is not offered", asked),
        "Offered are 0 (Gaussian), 1 (Ricker) and 2 (step); others can be given as samples in the job file.");
  const int function = static_cast<int>(asked);
  const auto where = block.where(block.has("hdurorf0") ? "hdurorf0" : "f0");
  s.source.course.pulse = pulses[function];
  if (function == 1 && !(given > 0)) throw InputError(where, "a Ricker needs its peak frequency, Hz");
  s.source.course.width = function == 1 ? given : width_of(given, where);
  return s;
}

}  // namespace

double fortran_number(std::string word, const std::string& where) {
  std::replace(word.begin(), word.end(), 'd', 'e');
  std::replace(word.begin(), word.end(), 'D', 'e');
  if (!word.empty() && word.front() == '+') word.erase(0, 1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    throw InputError(where, fmt::format("\"{}\" is no number", printable(word)));
  return value;
}

std::vector<SpecfemStation> read_stations(const std::filesystem::path& file) {
  return read_stations(file.string(), io::read_bytes(file.string()));
}
std::vector<SpecfemStation> read_stations(const std::string& file, const std::string& text) {
  const auto lines = lines_of(text);
  std::vector<SpecfemStation> stations;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (lines[n].empty() || lines[n].front() == '#') continue;
    std::istringstream words(lines[n]);
    SpecfemStation s;
    words >> s.name >> s.network;
    double* const numbers[4] = {&s.latitude, &s.longitude, &s.elevation, &s.burial};
    for (double* number : numbers) {
      std::string word;
      if (!(words >> word))
        throw InputError(fmt::format("{}:{}", file, n + 1), "fewer than six words",
                         "A line of STATIONS is: name network latitude longitude elevation burial.");
      *number = fortran_number(word, fmt::format("{}:{}", file, n + 1));
    }
    stations.push_back(std::move(s));
  }
  if (stations.empty()) throw InputError(file, "it has no stations");
  return stations;
}

std::vector<SpecfemSource> read_solution(const std::filesystem::path& file) {
  return read_solution(file.string(), io::read_bytes(file.string()));
}
std::vector<SpecfemSource> read_solution(const std::string& file, const std::string& text) {
  const auto lines = lines_of(text);
  const bool forces = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return lower(line).rfind("factor force source", 0) == 0;
  });
  std::vector<SpecfemSource> sources;
  const auto blocks = blocks_of(file, lines, [&](const std::string& line) {
    return line.rfind(forces ? "force " : "event name", 0) == 0;
  });
  for (const auto& block : blocks) sources.push_back(forces ? force_source(block) : moment_source(block));
  if (sources.empty())
    throw InputError(
        file, "it has no sources",
        "Each source of a CMTSOLUTION has a line \"event name:\", of a FORCESOLUTION one \"FORCE 001\".");
  double first = INFINITY;
  for (const auto& s : sources) first = std::min(first, s.source.course.delay);
  for (auto& s : sources) s.source.course.delay -= first;
  return sources;
}

}  // namespace terrane::elastic
