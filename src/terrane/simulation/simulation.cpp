#include "terrane/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/text.hpp"

namespace terrane {

namespace {

/// The tables that a physics reads, as keys of the whole job, so that a misspelt table is reported and not
/// its missing keys.
std::vector<Key> tables_of(const Physics& physics) {
  std::vector<Key> tables{{"title", "text", "\"\"", "A line about the job."}};
  for (const auto& section : physics.sections) {
    const auto name = section.path.substr(0, section.path.find('.'));
    const auto known = [&](const Key& table) { return table.name == name; };
    if (std::none_of(tables.begin(), tables.end(), known))
      tables.push_back({name, "table", "none", section.summary});
  }
  return tables;
}

/// All keys of one table, whatever its kind.
std::vector<Key> keys_of(const Physics& physics, std::string_view path) {
  std::vector<Key> keys;
  for (const auto& section : physics.sections)
    if (section.path == path) keys.insert(keys.end(), section.keys.begin(), section.keys.end());
  return keys;
}

}  // namespace

const Physics& Registry::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& physics : all_) {
    if (physics.name == name) return physics;
    names.push_back(physics.name);
  }
  if (std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end())
    throw InputError("physics", fmt::format("this program was built without \"{}\"", name),
                     fmt::format("Build all physics (make build).{}",
                                 names.empty() ? "" : fmt::format(" This one has: {}.", joined(names))));
  throw InputError(
      "physics", fmt::format("\"{}\" is not known.{}", name, did_you_mean(name, names)),
      names.empty() ? "This program was built without any." : fmt::format("Allowed: {}.", joined(names)));
}

Conventions Registry::conventions() const {
  std::vector<const Conventions*> known;
  for (const auto& physics : all_)
    if (physics.conventions != nullptr) known.push_back(physics.conventions);
  return terrane::joined(std::span<const Conventions* const>(known));
}

const Physics& Registry::find_for(const Config& simulation) const {
  const std::string wanted =
      simulation.has("physics") ? simulation.text("physics") : std::string(unnamed_physics);
  try {
    return find(wanted);
  } catch (const InputError& error) {
    throw simulation.wrong("physics", error.problem(), error.next());
  }
}

std::vector<Config::Part> Registry::parts(const Config& job, const std::vector<std::string>& only) const {
  std::vector<Config::Part> parts;
  if (job.has_parts())
    parts = job.parts([&](const Config& simulation) {
      std::vector<std::string> names;
      for (const auto& table : tables_of(find_for(simulation))) names.emplace_back(table.name);
      return names;
    });
  else parts.push_back({"", job});
  std::vector<std::string_view> names;
  for (const auto& part : parts) names.push_back(part.name);
  for (const auto& name : only)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError(
          "--only " + name, "the job has no simulation of this name." + did_you_mean(name, names),
          job.has_parts() ? fmt::format("It has: {}.", joined(names)) : "It has one, without a name.");
  std::erase_if(parts, [&](const auto& part) {
    return !only.empty() && std::find(only.begin(), only.end(), part.name) == only.end();
  });
  return parts;
}

Job Registry::make(const Config& job, const Ahead& ahead) const {
  const auto simulation = job.table("simulation");
  const Physics* physics = &find_for(simulation);
  const auto root = job.describe({tables_of(*physics)});
  root.text("title");
  const auto keys = keys_of(*physics, "simulation");
  Job made;
  made.runtime = Runtime::read(simulation.describe({keys}));
  if (ahead) ahead(made.runtime, *physics);
  made.simulation = physics->make(root, made.runtime);
  made.output = Output::read(root);
  made.runtime.checkpoint = made.output.checkpoint;
  job.finish();
  made.notes = job.notes();
  return made;
}

Plan Job::check(const Runtime& where) const {
  auto plan = simulation->check(where);
  plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
  return plan;
}

Result Job::run(const Runtime& where) const {
  auto result = simulation->run(where);
  result.report.notes.insert(result.report.notes.end(), notes.begin(), notes.end());
  return result;
}

}  // namespace terrane
