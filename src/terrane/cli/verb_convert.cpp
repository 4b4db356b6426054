#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/sites.hpp"
#include "terrane/survey/observed.hpp"

namespace terrane::cli {

namespace {

/// Converts the columns of channels, and of their uncertainties, from one frame of axes to another: names,
/// signs and units. Other columns are unchanged.
void to_frame(std::vector<Column>& columns, io::Attributes& attributes, const Conventions& known,
              const ConvertOptions& options) {
  const auto stated = attributes.find("frame");
  const auto& from = !options.from_frame.empty()  ? known.named(options.from_frame)
                     : stated != attributes.end() ? known.named(stated->second)
                                                  : known.own();
  const auto& to = known.named(options.frame);
  const auto units = options.units.empty() ? UnitSystem::geo : unit_system_from_name(options.units);
  std::size_t changed = 0;
  std::set<std::string> names;
  for (auto& column : columns) {
    const auto before = column.name;
    if (auto made = in_other_frame(column, from, to, units)) {
      column = std::move(*made);
      ++changed;
    }
    if (!names.insert(column.name).second)
      throw InputError(options.from,
                       fmt::format("\"{}\" would be the name of two columns, one of them \"{}\" so far",
                                   column.name, before),
                       "Rename or remove one of them, or name the frame of the file with --from-frame.");
  }
  if (changed == 0)
    throw InputError(options.from, fmt::format("no column is a channel of the frame {}", from.name),
                     "Name the frame of the file with --from-frame.");
  attributes["frame"] = to.name;
}

/// Reads the input files; several files are read as the sites that they contain.
io::Content read_all(const ConvertOptions& options, const io::ReadOptions& how) {
  if (options.files.size() == 2) return io::read(options.from, how);
  std::vector<std::string> files;
  for (std::size_t n = 0; n + 1 < options.files.size(); ++n)
    for (auto& one : io::files_named(options.files[n])) files.push_back(std::move(one));
  return io::read_sites(files, how);
}

/// Throws InputError if the output file is one of the input files.
void refuse_input(const std::string& file, const ConvertOptions& options) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) return;
  std::vector<std::string> read{options.mesh};
  for (std::size_t n = 0; n + 1 < options.files.size(); ++n)
    for (auto& one : io::files_named(options.files[n])) read.push_back(std::move(one));
  for (const auto& one : read)
    if (!one.empty() && std::filesystem::equivalent(one, file, failed) && !failed)
      throw InputError(file, "this file is read and would be overwritten", "Name another file.");
}

}  // namespace

int convert(const Registry& registry, const ConvertOptions& options) {
  refuse_input(options.to, options);
  io::ReadOptions read;
  read.format = options.from_format;
  read.mesh = options.mesh;
  read.unit = options.unit;
  read.length_unit = options.length_unit;
  read.field = options.field;
  read.property = options.property;
  auto content = InputPhase::within([&] { return read_all(options, read); });
  for (const auto& note : io::notes_of(content)) warn(fmt::format("{}: {}", options.from, note));
  const auto known = registry.conventions();
  if (!options.frame.empty()) {
    if (auto* table = std::get_if<io::Table>(&content))
      to_frame(table->columns, table->attributes, known, options);
    else if (auto* grid = std::get_if<io::GridData>(&content))
      to_frame(grid->fields, grid->attributes, known, options);
    else throw InputError(options.from, "only stations and grids have a frame", "Leave --frame out.");
  } else if (!options.units.empty()) {
    throw InputError("--units", "units are chosen together with --frame", "Add --frame enu.");
  }
  io::WriteOptions write;
  write.format = options.to_format;
  write.field = options.field;
  write.conventions = &known;
  if (const auto names = io::left_out(options.to, content, write); !names.empty())
    warn(fmt::format("{}: this format leaves out {}", options.to, fmt::join(names, ", ")));
  const auto files = io::written_files(options.to, content, write);
  for (const auto& file : files) refuse_input(file, options);
  io::write(options.to, content, write);
  if (files.size() > 1) say("written: {} to {}, {} files\n", files.front(), files.back(), files.size());
  return 0;
}

int list_formats() {
  say("{:<16} {:<36} {:<20} {:<6} {}\n", "format", "", "extensions", "", "holds");
  for (const auto& format : io::formats())
    say("{:<16} {:<36} {:<20} {:<6} {}\n", format.name, format.title, format.extensions,
        fmt::format("{}{}", format.reads() ? "r" : "-", format.writes() ? "w" : "-"), format.holds);
  return 0;
}

}  // namespace terrane::cli
