#include "terrane/io/specfem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "terrane/base/error.hpp"
#include "terrane/base/number.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

std::string without_blanks(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

std::vector<std::string> specfem_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(without_blanks(line));
  return lines;
}

/// The keys of one source in small letters, and their values.
struct SourceBlock {
  SpecfemSource source;
  std::map<std::string, std::string> values;

  const std::string* find(std::initializer_list<const char*> keys) const {
    for (const auto* key : keys)
      if (const auto at = values.find(key); at != values.end()) return &at->second;
    return nullptr;
  }
  double number(std::initializer_list<const char*> keys) const {
    const auto* text = find(keys);
    if (text == nullptr)
      throw InputError(fmt::format("{}:{}", source.file, source.line),
                       fmt::format("this source has no line \"{}:\"", *keys.begin()));
    const auto end = std::min(text->find_first_of(" \t!#"), text->size());
    const auto behind = without_blanks(text->substr(end));
    if (!behind.empty() && behind.find_first_of("!#(") != 0)
      throw InputError(source.where(keys), fmt::format("\"{}\" stands behind the number", printable(behind)),
                       "Such files have units of their own, which are not written; a comment begins with !.");
    return fortran_number(text->substr(0, end), source.where(keys));
  }
};

/// Divides a file at the lines where sources begin.
std::vector<SourceBlock> source_blocks(const std::string& file, const std::vector<std::string>& lines,
                                       bool forces) {
  std::vector<SourceBlock> blocks;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const auto small = lower(lines[n]);
    if (small.rfind(forces ? "force " : "event name", 0) == 0) {
      blocks.emplace_back();
      blocks.back().source.file = file, blocks.back().source.line = n + 1;
      blocks.back().source.is_force = forces;
    }
    const auto colon = small.find(':');
    if (colon == std::string::npos || blocks.empty() || small.front() == '#') continue;
    const auto key = without_blanks(small.substr(0, colon));
    auto& block = blocks.back();
    const auto [value, fresh] = block.values.emplace(key, without_blanks(small.substr(colon + 1)));
    if (fresh) block.source.lines[key] = n + 1;
    else if (value->second != without_blanks(small.substr(colon + 1)))
      throw InputError(fmt::format("{}:{}", file, n + 1),
                       fmt::format("a second \"{}\" of this source (the first: line {})", printable(key),
                                   block.source.lines[key]),
                       "Keep one of the two.");
  }
  return blocks;
}

SpecfemSource source_of_block(const SourceBlock& block) {
  auto s = block.source;
  s.latitude = block.number({"latitude", "latorutm"});
  s.longitude = block.number({"longitude", "longorutm"});
  s.depth = block.number({"depth"});
  s.time_shift = block.number({"time shift"});
  if (!s.is_force) {
    s.duration = block.number({"half duration"});
    constexpr const char* moments[6] = {"mrr", "mtt", "mpp", "mrt", "mrp", "mtp"};
    for (std::size_t k = 0; k < 6; ++k) s.moment[k] = block.number({moments[k]});
    return s;
  }
  s.duration = block.number({"hdurorf0", "f0"});
  s.factor = block.number({"factor force source"});
  s.direction = {block.number({"component dir vect source e"}), block.number({"component dir vect source n"}),
                 block.number({"component dir vect source z_up"})};
  if (block.find({"source time function"}) != nullptr) s.function = block.number({"source time function"});
  return s;
}

}  // namespace

double fortran_number(std::string word, const std::string& where) {
  std::replace(word.begin(), word.end(), 'd', 'e');
  std::replace(word.begin(), word.end(), 'D', 'e');
  if (!word.empty() && word.front() == '+') word.erase(0, 1);
  double value = 0;
  const auto [end, error] = read_number(word, value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    throw InputError(where, fmt::format("\"{}\" is no number", printable(word)));
  return value;
}

std::vector<ParFileLine> read_par_lines(const std::string& file, const std::string& text) {
  std::vector<ParFileLine> all;
  const auto lines = specfem_lines(text);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const auto line = lines[n].substr(0, lines[n].find('#'));
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    const auto name = without_blanks(line.substr(0, equals)), value = without_blanks(line.substr(equals + 1));
    if (!name.empty() && !value.empty()) all.push_back({name, value, n + 1});
  }
  if (all.empty())
    throw InputError(file, "no line has the form NAME = value", "Is it a Par_file of SPECFEM3D?");
  return all;
}

std::vector<SpecfemStation> read_specfem_stations(const std::string& file, const std::string& text) {
  const auto lines = specfem_lines(text);
  std::vector<SpecfemStation> stations;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (lines[n].empty() || lines[n].front() == '#') continue;
    std::istringstream words(lines[n]);
    SpecfemStation s;
    s.where = fmt::format("{}:{}", file, n + 1);
    words >> s.name >> s.network;
    double* const numbers[4] = {&s.latitude, &s.longitude, &s.elevation, &s.burial};
    for (double* number : numbers) {
      std::string word;
      if (!(words >> word))
        throw InputError(s.where, "fewer than six words",
                         "A line of STATIONS is: name network latitude longitude elevation burial.");
      *number = fortran_number(word, s.where);
    }
    if (std::string word; words >> word && word.find_first_of("!#") != 0)
      throw InputError(s.where, fmt::format("\"{}\" stands behind the six words", printable(word)),
                       "A line of STATIONS is: name network latitude longitude elevation burial.");
    stations.push_back(std::move(s));
  }
  if (stations.empty()) throw InputError(file, "it has no stations");
  return stations;
}

std::string SpecfemSource::where(std::initializer_list<const char*> keys) const {
  for (const auto* key : keys)
    if (const auto at = lines.find(key); at != lines.end())
      return fmt::format("{}:{}: {}", file, at->second, key);
  return fmt::format("{}:{}", file, line);
}

std::vector<SpecfemSource> read_specfem_sources(const std::string& file, const std::string& text) {
  const auto lines = specfem_lines(text);
  const bool forces = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return lower(line).rfind("factor force source", 0) == 0;
  });
  if (text.starts_with('<') && text.find("quakeml") != text.npos)
    throw InputError(
        file, "is QuakeML, where a CMTSOLUTION or FORCESOLUTION is read",
        "obspy.read_events(FILE).write(\"CMTSOLUTION\", format=\"CMTSOLUTION\") in Python makes one.");
  std::vector<SpecfemSource> sources;
  for (const auto& block : source_blocks(file, lines, forces)) sources.push_back(source_of_block(block));
  if (sources.empty())
    throw InputError(
        file, "it has no sources",
        "Each source of a CMTSOLUTION has a line \"event name:\", of a FORCESOLUTION one \"FORCE 001\".");
  return sources;
}

bool begins_par_file(std::string_view head) {
  // Whether the file has two of the keys that every version of SPECFEM3D uses.
  bool steps = false, step = false;
  for (const auto& line : specfem_lines(std::string(head))) {
    const auto name = without_blanks(line.substr(0, line.find_first_of("=#")));
    steps = steps || ((name == "NSTEP" || name == "SIMULATION_TYPE") && line.find('=') != line.npos);
    step = step || ((name == "DT" || name == "NPROC" || name == "UTM_PROJECTION_ZONE") &&
                    line.find('=') != line.npos);
  }
  return steps && step;
}

bool begins_specfem_sources(std::string_view head) {
  bool shift = false, other = false;
  for (const auto& line : specfem_lines(lower(head))) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto key = without_blanks(line.substr(0, colon));
    shift = shift || key == "time shift";
    other = other || key == "half duration" || key == "factor force source";
  }
  return shift && other;
}

bool resembles_specfem_stations(std::string_view head) {
  const bool cut = !head.empty() && head.back() != '\n' && head.find('\n') != head.npos;
  std::size_t rows = 0;
  const auto lines = specfem_lines(std::string(head));
  for (std::size_t n = 0; n + (cut ? 1 : 0) < lines.size(); ++n) {  // the last line may be cut off
    if (lines[n].empty() || lines[n].front() == '#') continue;
    std::istringstream words(lines[n]);
    std::string name, network, word;
    double value = 0;
    if (!(words >> name >> network) || parse_number(name, value) || name.find(',') != name.npos) return false;
    for (int k = 0; k < 4; ++k)
      if (!(words >> word) || !parse_number(word, value)) return false;
    if (words >> word) return false;
    ++rows;
  }
  return rows > 0;
}

Table to_table(const std::vector<ParFileLine>& lines) {
  Table table;
  table.texts = {{"name", {}, 0}, {"value", {}, 0}};
  for (const auto& line : lines) {
    table.texts[0].values.push_back(line.name), table.texts[1].values.push_back(line.value);
    table.lines.push_back(line.line);
  }
  return table;
}

Table to_table(const std::vector<SpecfemStation>& stations) {
  Table table;
  table.texts = {{"name", {}, 0}, {"network", {}, 0}};
  table.columns = {{"latitude", "", "", {}},
                   {"longitude", "", "", {}},
                   {"elevation", "m", "", {}},
                   {"burial", "m", "", {}}};
  for (const auto& s : stations) {
    table.texts[0].values.push_back(s.name), table.texts[1].values.push_back(s.network);
    const double numbers[4] = {s.latitude, s.longitude, s.elevation, s.burial};
    for (std::size_t k = 0; k < 4; ++k) table.columns[k].values.push_back(numbers[k]);
  }
  return table;
}

Table to_table(const std::vector<SpecfemSource>& sources) {
  Table table;
  const auto add = [&](const char* name, const char* unit, const auto& value) {
    Column column{name, unit, "", {}};
    for (const auto& source : sources) column.values.push_back(value(source));
    table.columns.push_back(std::move(column));
  };
  const bool forces = !sources.empty() && sources.front().is_force;
  add("latitude", "", [](const SpecfemSource& s) { return s.latitude; });
  add("longitude", "", [](const SpecfemSource& s) { return s.longitude; });
  add("depth", "", [](const SpecfemSource& s) { return s.depth; });
  add("time_shift", "s", [](const SpecfemSource& s) { return s.time_shift; });
  add(forces ? "hdurorf0" : "half_duration", forces ? "" : "s",
      [](const SpecfemSource& s) { return s.duration; });
  constexpr const char* moments[6] = {"mrr", "mtt", "mpp", "mrt", "mrp", "mtp"};
  for (std::size_t k = 0; k < 6 && !forces; ++k)
    add(moments[k], "dyne.cm", [k](const SpecfemSource& s) { return s.moment[k]; });
  if (!forces) return table;
  add("source_time_function", "", [](const SpecfemSource& s) { return s.function.value_or(NAN); });
  add("factor", "N", [](const SpecfemSource& s) { return s.factor; });
  constexpr const char* axes[3] = {"component_east", "component_north", "component_up"};
  for (std::size_t d = 0; d < 3; ++d)
    add(axes[d], "", [d](const SpecfemSource& s) { return s.direction[d]; });
  return table;
}

}  // namespace terrane::io
