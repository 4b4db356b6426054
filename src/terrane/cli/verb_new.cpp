#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numbers>

#include "terrane/base/text.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/inversion/job/ubc_control.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/document.hpp"
#include "terrane/physics/all.hpp"

namespace terrane::cli {

namespace {

/// Kinds of tables to show: the physics' own choice, and in its place what was asked for.
std::map<std::string, std::string> kinds_to_show(const Physics& physics, const NewOptions& options) {
  auto kinds = physics.kinds;
  for (const auto& [table, kind] : {std::pair{"mesh", options.mesh}, std::pair{"survey", options.survey}}) {
    if (kind.empty()) continue;
    std::vector<std::string_view> known;
    for (const auto& section : physics.sections)
      if (section.path == table && !section.kind.empty()) known.push_back(section.kind);
    if (known.empty())
      throw InputError(fmt::format("--{}", table),
                       fmt::format("jobs of {} have no kinds of [{}]", physics.name, table),
                       fmt::format("Leave --{} out.", table));
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw InputError(fmt::format("--{}", table),
                       fmt::format("\"{}\" is not known.{}", kind, did_you_mean(kind, known)),
                       fmt::format("Allowed: {}.", joined(known)));
    kinds[table] = kind;
  }
  return kinds;
}

std::string commented_job(const Physics& physics, const NewOptions& options) {
  auto kinds = kinds_to_show(physics, options);
  const bool kinds_are_own = kinds == physics.kinds;  // examples are for these
  // Some meshes bring their own properties: their [model] differs from the one that bodies are painted into.
  const bool own_model = std::any_of(physics.sections.begin(), physics.sections.end(), [&](const Section& s) {
    return s.path == "model" && s.kind == kinds["mesh"];
  });
  kinds["model"] = kinds["mesh"];
  std::vector<Section> shown;
  for (const auto& section : physics.sections)
    if (!own_model || !section.path.starts_with("model") || section.kind == kinds["mesh"])
      shown.push_back(section);
  return job_template(shown, kinds,
                      fmt::format("A job of {}. `terrane check` tells what it costs, `terrane {}` runs it,"
                                  " `terrane plot` draws maps. Keys that stand behind # show their defaults.",
                                  physics.name, physics.name == "inversion" ? "invert" : "run"),
                      kinds_are_own ? physics.examples : std::map<std::string, std::string>{});
}

std::string text_of_job(const Physics& physics, const NewOptions& options) {
  if (options.reference) return job_reference(physics.name, physics.summary, physics.sections);
  if (options.from.empty()) return commented_job(physics, options);
  if (physics.name != "inversion")
    throw InputError("--from", "control files are of inversions", "terrane new inversion --from FILE FILE");
  return inversion::job_of_ubc_control(options.from, std::filesystem::path(options.file).parent_path());
}

/// Gravity of a buried sphere at 15 x 15 stations with errors of 0.01 mGal, for the job of an inversion that
/// has no data yet.  g_u = -G M d / r^3, with a radius of 100 m, 400 kg/m3 and a depth d of 210 m below the
/// stations.
std::string data_of_a_sphere() {
  constexpr double gravitational_constant = 6.6743e-11, milligal = 1e-5, east = 100, north = -50, depth = 210;
  const double mass = 400 * 4.0 / 3.0 * std::numbers::pi * 1e6;
  std::uint32_t drawn = 1;
  const auto error = [&] {  // about normal: twelve numbers of a linear congruential generator
    double sum = -6;
    for (int n = 0; n < 12; ++n) sum += (drawn = 1664525U * drawn + 1013904223U) / 4294967296.0;
    return 0.01 * sum;
  };
  std::string text =
      "# Gravity of a sphere of 400 kg/m3 and a radius of 100 m at 100, -50, -200 m: put your data here.\n"
      "easting [m],northing [m],up [m],g_u [mGal]\n";
  for (int n = -7; n <= 7; ++n)
    for (int e = -7; e <= 7; ++e) {
      const double x = 60.0 * e, y = 60.0 * n, r = std::hypot(x - east, y - north, depth);
      text += fmt::format("{},{},10,{:.3f}\n", x, y,
                          error() - gravitational_constant * mass * depth / (r * r * r) / milligal);
    }
  return text;
}

/// The file of data that a fresh job names, beside it, unless there is one; empty where there is nothing to
/// write.
std::filesystem::path example_data(const NewOptions& options, const std::string& job) {
  auto file = std::filesystem::path(options.file).parent_path() / "stations.csv";
  if (!options.from.empty() || options.physics != "inversion" ||
      job.find("\nfile = \"stations.csv\"") == std::string::npos || std::filesystem::exists(file))
    return {};
  return file;
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

int new_job(const Registry& registry, const NewOptions& options) {
  Registry all = registry;
  all.add(physics::inversions().job());
  const auto& physics = all.find(options.physics);
  if (physics.sections.empty())
    throw UnsupportedError("physics", fmt::format("this program was built without {}", physics.name),
                           "Build all physics (make build).");
  const auto text = text_of_job(physics, options);
  if (options.file.empty()) {
    say("{}", text);
    return 0;
  }
  if (std::filesystem::exists(options.file))
    throw InputError(options.file, "the file is there already", "Remove it, or choose another name.");
  const auto data = example_data(options, text);
  write_whole(options.file, text);
  if (!data.empty()) {
    write_whole(data, data_of_a_sphere());
    say("wrote {}, with the gravity of a sphere: put your data in its place\n", data.string());
  }
  say("wrote {0}; next: terrane {1} {0}\n", options.file, options.physics == "inversion" ? "invert" : "run");
  return 0;
}

}  // namespace terrane::cli
