#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "terrane/base/text.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/file.hpp"
#include "terrane/job/document.hpp"

namespace terrane::cli {

int new_job(const Registry& registry, const NewOptions& options) {
  const auto& physics = registry.find(options.physics);
  const auto check_kind = [&](std::string_view table, const std::string& kind) {
    std::vector<std::string_view> kinds;
    for (const auto& section : physics.sections)
      if (section.path == table && !section.kind.empty()) kinds.push_back(section.kind);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      throw InputError(fmt::format("--{}", table),
                       fmt::format("\"{}\" is not known.{}", kind, did_you_mean(kind, kinds)),
                       fmt::format("Allowed: {}.", joined(kinds)));
  };
  check_kind("mesh", options.mesh);
  check_kind("survey", options.survey);

  std::string text;
  if (options.reference) {
    text = job_reference(physics.sections);
  } else {
    // Some meshes bring their own densities: their [model] differs from the one that bodies are painted into.
    const bool own_model =
        std::any_of(physics.sections.begin(), physics.sections.end(),
                    [&](const Section& s) { return s.path == "model" && s.kind == options.mesh; });
    std::vector<Section> shown;
    for (const auto& section : physics.sections)
      if (!own_model || !section.path.starts_with("model") || section.kind == options.mesh)
        shown.push_back(section);
    text =
        job_template(shown,
                     {{"mesh", options.mesh},
                      {"model", options.mesh},
                      {"model.body", "sphere"},
                      {"survey", options.survey}},
                     fmt::format("A {} job. `terrane check` tells what it costs, `terrane run` runs it,"
                                 " `terrane plot` draws maps. Keys that stand behind # show their defaults.",
                                 physics.name));
  }
  if (options.file.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  if (std::filesystem::exists(options.file))
    throw InputError(options.file, "the file is there already", "Remove it, or choose another name.");
  io::AtomicFile file(options.file);
  file.write(text);
  file.commit();
  fmt::print("wrote {}; next: terrane run {}\n", options.file, options.file);
  return 0;
}

}  // namespace terrane::cli
