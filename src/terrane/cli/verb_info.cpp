#include <fmt/format.h>

#include <cstdio>

#include "terrane/base/error.hpp"
#include "terrane/cli/json.hpp"
#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::cli {

int info(const std::vector<std::string>& files, const std::string& mesh, bool json) {
  io::ReadOptions options;
  options.mesh = mesh;
  for (const auto& file : files) {
    if (std::filesystem::path(file).extension() == ".toml") {
      if (json) throw InputError(file, "it is a job file", "`terrane check --json` tells what it does.");
      say("{}: a job file; `terrane check {}` tells what it does\n", file, file);
      continue;
    }
    if (json) {
      say("{}\n", InputPhase::within([&] { return to_json(io::read(file, options), file); }));
      continue;
    }
    const auto text = InputPhase::within([&] { return io::describe(io::read(file, options), file); });
    say("{}{}", text, text.ends_with('\n') ? "" : "\n");
  }
  return 0;
}

}  // namespace terrane::cli
