#include "terrane/job/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "terrane/io/file.hpp"
#include "terrane/io/registry.hpp"

namespace terrane {

namespace {

constexpr Key keys[] = {
    {"folder", "path", "\"output\"", "Folder of the files; it is created if it does not exist."},
    {"files", "list of file names", "[\"fields.nc\"]",
     "Files of the fields, the format by extension: .nc, .csv, .vts, .npy, .grd, ...",
     "[\"fields.nc\", \"fields.csv\"]"},
    {"model", "list of file names", "[]",
     "Files of the model, for viewers and other programs: .vtr, .h5, .nc, .csv."},
    {"plots", "list of file names", "[]", "Maps of the fields: .png, .svg, .pdf (needs matplotlib)."},
    {"plot_channels", "list of names", "[]", "Channels to draw; by default all."},
    {"checkpoint", "text", "\"auto\"",
     "Interval of the checkpoints of a long run, for `terrane run --resume`: \"5 min\", \"never\"; auto: "
     "every "
     "5 minutes when more than 10 are expected, of inversions always."},
};

constexpr Section description{"output", "", "Files that are written.", keys};

/// Whether Terrane can write a format with this extension that stores one of `kinds`.
bool writable(const std::string& extension, std::initializer_list<std::string_view> kinds) {
  for (const auto& format : io::formats()) {
    const auto holds = [&](std::string_view kind) {
      return format.holds.find(kind) != std::string_view::npos;
    };
    if (!format.writes() || std::none_of(kinds.begin(), kinds.end(), holds)) continue;
    std::string_view all = format.extensions;
    while (!all.empty()) {
      const auto blank = std::min(all.find(' '), all.size());
      if (all.substr(0, blank) == extension) return true;
      all.remove_prefix(std::min(blank + 1, all.size()));
    }
  }
  return false;
}

/// Converts "90 s", "5 min" or "1 h" to seconds; nothing for other texts.
std::optional<double> seconds_from_text(std::string_view text) {
  const auto blank = text.find_last_of("0123456789. ");
  if (blank == text.npos) return std::nullopt;
  const auto unit = text.substr(blank + 1);
  auto number = text.substr(0, blank + 1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  double value = 0;
  if (!io::parse_number(number, value) || !(value >= 0)) return std::nullopt;
  if (unit == "s") return value;
  if (unit == "min") return 60 * value;
  if (unit == "h") return 3600 * value;
  return std::nullopt;
}

CheckpointSettings checkpoint_settings(const Config& table, const std::filesystem::path& file) {
  constexpr double usual_interval = 300, long_run = 600;
  CheckpointSettings settings{file, usual_interval, long_run, false};
  const auto text = table.text("checkpoint");
  if (text == "auto") return settings;
  settings.least_run = 0;
  if (text == "never") {
    settings.interval = settings.least_run = CheckpointSettings::never;
    return settings;
  }
  const auto seconds = seconds_from_text(text);
  if (!seconds)
    throw table.wrong("checkpoint", fmt::format("\"{}\" is not a time", text),
                      "Write \"5 min\", \"30 s\", \"1 h\", \"auto\" or \"never\".");
  settings.interval = *seconds;
  return settings;
}

}  // namespace

const Section& Output::section() { return description; }

Output Output::read(const Config& job) {
  const auto table = job.table("output").describe({keys});
  const auto folder = table.path("folder");
  Output output;
  const auto collect = [&](std::string_view key, std::vector<std::filesystem::path>& paths) {
    for (const auto& name : table.texts(key)) {
      const std::filesystem::path path = folder / name;
      if (path.filename().empty()) throw table.wrong(key, fmt::format("\"{}\" names no file", name));
      for (const auto* taken : {&output.files, &output.model, &output.plots, &paths})
        if (std::find(taken->begin(), taken->end(), path) != taken->end())
          throw table.wrong(key, fmt::format("\"{}\" is written twice", name));
      paths.push_back(path);
    }
  };
  collect("files", output.files);
  collect("model", output.model);
  collect("plots", output.plots);
  const auto check = [&](const char* key, const auto& paths, const char* what,
                         std::initializer_list<std::string_view> kinds) {
    for (const auto& path : paths)
      if (!writable(path.extension().string(), kinds))
        throw table.wrong(key,
                          fmt::format("\"{}\": no format with this extension can be written that holds {}",
                                      path.filename().string(), what),
                          "`terrane convert --formats` lists the formats.");
  };
  if (job.table("simulation").has("volume"))
    check("files", output.files, "fields at stations or of cells",
          {"grid", "table", "array", "dataset", "mesh"});
  else check("files", output.files, "fields at stations or gathers", {"grid", "table", "array", "dataset"});
  check("model", output.model, "a model", {"mesh", "prisms"});
  static constexpr std::array<std::string_view, 3> drawn{".png", ".svg", ".pdf"};
  for (const auto& path : output.plots)
    if (std::find(drawn.begin(), drawn.end(), path.extension().string()) == drawn.end())
      throw table.wrong("plots", fmt::format("\"{}\" is not a picture", path.filename().string()),
                        "Allowed: .png, .svg, .pdf.");
  output.plot_channels = table.texts("plot_channels");
  // The checkpoint is named after the first result file, so that two jobs in one folder have different
  // checkpoints.
  const auto first = output.files.empty() ? folder / "terrane" : output.files.front();
  output.checkpoint = checkpoint_settings(table, first.string() + ".checkpoint");
  return output;
}

}  // namespace terrane
