#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

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
  io::AtomicFile file(options.file);
  file.write(text);
  file.commit();
  say("wrote {0}; next: terrane {1} {0}\n", options.file, options.physics == "inversion" ? "invert" : "run");
  return 0;
}

}  // namespace terrane::cli
