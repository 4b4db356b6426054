#include <fmt/format.h>

#include <cstdio>

#include "terrane/cli/terminal.hpp"
#include "terrane/cli/verbs.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::cli {

int info(const std::vector<std::string>& files, const std::string& mesh) {
  io::ReadOptions options;
  options.mesh = mesh;
  for (const auto& file : files) {
    if (std::filesystem::path(file).extension() == ".toml") {
      say("{}: a job file; `terrane check {}` tells what it does\n", file, file);
      continue;
    }
    const auto text = InputPhase::within([&] { return io::describe(io::read(file, options), file); });
    say("{}{}", text, text.ends_with('\n') ? "" : "\n");
  }
  return 0;
}

}  // namespace terrane::cli
