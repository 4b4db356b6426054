#include "terrane/simulation/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "terrane/io/registry.hpp"

namespace terrane {

namespace {

constexpr Key keys[] = {
    {"folder", "path", "\"output\"", "Where the files go; made when it is not there."},
    {"files", "list of file names", "[\"fields.nc\"]",
     "Files of the fields, the format by extension: .nc, .csv, .vts, .npy, .grd, ...",
     "[\"fields.nc\", \"fields.csv\"]"},
    {"model", "list of file names", "[]",
     "Files of the model, for viewers and other programs: .vtr, .h5, .nc, .csv."},
    {"plots", "list of file names", "[]", "Maps of the fields: .png, .svg, .pdf (needs matplotlib)."},
    {"plot_channels", "list of names", "[]", "What to draw; nothing named: everything."},
};

constexpr Section description{"output", "", "Which files are written.", keys};

/// Whether a format with this extension can be written and holds one of `kinds`.
bool writable(const std::string& extension, std::initializer_list<std::string_view> kinds) {
  for (const auto& format : io::formats()) {
    const auto holds = [&](std::string_view kind) {
      return format.holds.find(kind) != std::string_view::npos;
    };
    if (!format.writes || std::none_of(kinds.begin(), kinds.end(), holds)) continue;
    std::string_view all = format.extensions;
    while (!all.empty()) {
      const auto blank = std::min(all.find(' '), all.size());
      if (all.substr(0, blank) == extension) return true;
      all.remove_prefix(std::min(blank + 1, all.size()));
    }
  }
  return false;
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
  check("files", output.files, "fields at stations", {"grid", "table", "array"});
  check("model", output.model, "a model", {"mesh", "prisms"});
  static constexpr std::array<std::string_view, 3> drawn{".png", ".svg", ".pdf"};
  for (const auto& path : output.plots)
    if (std::find(drawn.begin(), drawn.end(), path.extension().string()) == drawn.end())
      throw table.wrong("plots", fmt::format("\"{}\" is not a picture", path.filename().string()),
                        "Allowed: .png, .svg, .pdf.");
  output.plot_channels = table.texts("plot_channels");
  return output;
}

}  // namespace terrane
