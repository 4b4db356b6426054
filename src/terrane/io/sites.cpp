#include "terrane/io/sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace fs = std::filesystem;

namespace {

bool is_pattern(std::string_view name) { return name.find_first_of("*?") != name.npos; }

/// Whether a name matches a pattern, in which * matches any characters and ? a single one.
bool fits(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0, star = pattern.npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++n;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// The kind of coordinates in a table.
enum class Place { none, local, geographic };

Place place_of(const Table& table) {
  if (table.find("longitude") != nullptr && table.find("latitude") != nullptr) return Place::geographic;
  if (table.find("easting") != nullptr && table.find("northing") != nullptr) return Place::local;
  return Place::none;
}

void expect_sites(const std::string& file, const Content& content) {
  const auto* table = std::get_if<Table>(&content);
  const bool sites = table != nullptr && table->find("frequency") != nullptr &&
                     std::any_of(table->texts.begin(), table->texts.end(),
                                 [](const TextColumn& text) { return text.name == "site"; });
  if (!sites)
    throw InputError(file, "holds no magnetotelluric sites",
                     "Several files are read as one survey where they are EDI files or ModEM lists.");
}

/// Appends the rows of a table; columns that one of the two tables lacks get gaps.
void append(Table& all, const Table& more) {
  const std::size_t before = all.rows(), added = more.rows();
  for (const auto& column : more.columns)
    if (all.find(column.name) == nullptr)
      all.columns.push_back({column.name, column.unit, column.description, std::vector<double>(before, NAN)});
  for (auto& column : all.columns) {
    const auto* from = more.find(column.name);
    if (from != nullptr) column.values.insert(column.values.end(), from->values.begin(), from->values.end());
    else column.values.insert(column.values.end(), added, NAN);
  }
  for (auto& text : all.texts)
    for (const auto& from : more.texts)
      if (from.name == text.name)
        text.values.insert(text.values.end(), from.values.begin(), from.values.end());
}

/// The names of sites, with the file and position of each.
class SiteNames {
 public:
  void add(const std::string& file, const Table& table) {
    for (const auto& text : table.texts) {
      if (text.name != "site") continue;
      for (std::size_t row = 0; row < text.values.size(); ++row) {
        const Entry entry{file,
                          {value(table, "longitude", row), value(table, "latitude", row),
                           value(table, "easting", row), value(table, "northing", row)}};
        const auto [known, fresh] = sites_.try_emplace(text.values[row], entry);
        if (!fresh && known->second.place != entry.place)
          throw InputError(file,
                           fmt::format("its site \"{}\" is at another place in {}", shown(text.values[row]),
                                       known->second.file),
                           "Give sites names of their own: DATAID.");
      }
    }
  }

 private:
  struct Entry {
    std::string file;
    std::array<double, 4> place;
  };
  static double value(const Table& table, const char* name, std::size_t row) {
    const auto* column = table.find(name);
    return column != nullptr ? column->values[row] : 0;
  }
  std::map<std::string, Entry> sites_;
};

}  // namespace

std::vector<std::string> files_named(const std::string& path) {
  std::error_code failed;
  const fs::path given(path);
  const bool folder = fs::is_directory(given, failed);
  if (!folder && (fs::exists(given, failed) || !is_pattern(given.filename().string()))) return {path};
  const auto parent = folder ? given : given.parent_path();
  const auto pattern = given.filename().string();
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(parent.empty() ? fs::path(".") : parent, failed)) {
    const auto name = entry.path().filename().string();
    if (!entry.is_regular_file(failed) || name.starts_with('.')) continue;
    if (folder ? lower(name).ends_with(".edi") : fits(name, pattern))
      files.push_back(parent.empty() ? name : entry.path().string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw FileError(path, folder ? "is a folder without EDI files" : "no file has such a name",
                    folder ? "Of a folder the files .edi are read, as one survey." : "");
  return files;
}

Table read_sites(const std::vector<std::string>& files, const ReadOptions& options) {
  Table all;
  SiteNames names;
  Place place = Place::none;
  std::string notes;
  for (const auto& file : files) {
    const auto content = io::read(file, options);
    expect_sites(file, content);
    const auto& table = std::get<Table>(content);
    const auto here = place_of(table);
    if (files.size() > 1 && here == Place::none)
      throw InputError(file, "gives no place of its site",
                       "Of several files each must: LAT and LONG in >HEAD.");
    if (all.rows() > 0 && here != place)
      throw InputError(
          file,
          fmt::format("gives {}, and {} does not",
                      here == Place::local ? "local coordinates" : "longitude and latitude", files.front()),
          "Several files are one survey where all give places in the same way.");
    place = here;
    names.add(file, table);
    if (const auto note = table.attributes.find("note"); note != table.attributes.end())
      notes += fmt::format("{}{}: {}", notes.empty() ? "" : "\n", fs::path(file).filename().string(),
                           note->second);
    if (all.rows() == 0 && all.columns.empty()) all = table;
    else append(all, table);
  }
  all.lines.clear();
  all.attributes.erase("note");
  all.attributes.erase("origin");
  if (!notes.empty()) all.attributes["note"] = notes;
  all.source = files.size() == 1 ? files.front() : fs::path(files.front()).parent_path().string();
  return all;
}

}  // namespace terrane::io
