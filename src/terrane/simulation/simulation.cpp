#include "terrane/simulation/simulation.hpp"

#include <fmt/format.h>

#include "terrane/base/memory.hpp"
#include "terrane/base/text.hpp"
#include "terrane/job/output.hpp"

namespace terrane {

std::string Plan::text() const {
  std::string text;
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("  {:<10} {}\n", what, value);
  };
  line("sources", fmt::format("{}", sources));
  line("stations", fmt::format("{}", stations));
  line("pairs", fmt::format("{:.3g}", pairs));
  line("memory", fmt::format("{} of {} available", bytes_text(static_cast<double>(memory_bytes)),
                             bytes_text(static_cast<double>(memory_available))));
  if (seconds > 0) line("time", seconds < 0.1 ? "less than 0.1 s" : "about " + duration_text(seconds));
  line("method", reason.empty() ? method : fmt::format("{}: {}", method, reason));
  line("device", device);
  for (const auto& note : notes) line("note", note);
  for (const auto& warning : warnings) line("warning", warning);
  return text;
}

const Physics& Registry::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& physics : all_) {
    if (physics.name == name) return physics;
    names.push_back(physics.name);
  }
  throw InputError("physics", fmt::format("\"{}\" is not known.{}", name, did_you_mean(name, names)),
                   fmt::format("Allowed: {}.", joined(names)));
}

std::unique_ptr<Simulation> Registry::make(const Config& job) const {
  const auto names = job.keys();
  // The tables of a job are the same for every physics; a mistyped one is found before its keys are missed.
  static constexpr Key tables[] = {{"title", "text", "\"\"", "A line about the job."},
                                   {"mesh", "table", "none", "Where the model's cells or prisms are."},
                                   {"model", "table", "none", "What they are made of."},
                                   {"survey", "table", "none", "Where the fields are wanted."},
                                   {"simulation", "table", "none", "Which fields, and how."},
                                   {"output", "table", "none", "Which files are written."}};
  const auto root = job.describe({tables});
  root.text("title");
  const auto simulation = root.table("simulation");
  const std::string wanted = simulation.has("physics") ? simulation.text("physics") : "gravity";
  const Physics* physics = nullptr;
  try {
    physics = &find(wanted);
  } catch (const InputError& error) {
    throw simulation.wrong("physics", error.problem(), error.next());
  }
  auto made = physics->make(root);
  Output::read(root);
  job.finish();
  return made;
}

}  // namespace terrane
