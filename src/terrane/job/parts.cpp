// Splits a job of several simulations of one earth into jobs of one simulation:
//
//   [mesh.coarse]               [[simulation]]
//   shape = [20, 20, 10]        name = "gravity"
//                               physics = "gravity"
//   [survey]                    mesh = "coarse"
//   height = 1
//   [survey.gravity]
//   region = [0, 4, 0, 4, "km"]
//
// Each simulation becomes a job of its own. From every table that its physics reads it gets the keys directly
// in that table (survey.height), and the keys of one variant, a table inside it: the one that the simulation
// names (mesh = "coarse"), or the one with the simulation's name (survey.gravity). [[survey]] with a name is
// another way to write such a variant. A simulation for which no mesh remains gets the one that its physics
// plans.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "terrane/base/text.hpp"
#include "terrane/job/config_node.hpp"

namespace terrane {

namespace {

bool is_file_name(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name.empty() && name.front() != '-' && name.find_first_not_of(allowed) == name.npos;
}

/// The name of each simulation; if it gives none, the name of its physics.
std::vector<std::string> names_of(const std::vector<Config>& simulations) {
  std::vector<std::string> names;
  for (const auto& simulation : simulations) {
    const auto* key = simulation.has("name") ? "name" : "physics";
    auto name = simulation.has(key) ? simulation.text(key) : std::string();
    if (!is_file_name(name))
      throw simulation.wrong("name", fmt::format("\"{}\" is no name for files", name),
                             "A simulation's name has letters, digits, - and _.");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw simulation.wrong("name", fmt::format("there are two simulations \"{}\"", name),
                             "Give each a name of its own: name = \"...\".");
    names.push_back(std::move(name));
  }
  return names;
}

template <class Node>
bool is_table_or_tables(const Node& node) {
  return node.table() || (node.list() && !node.list()->empty() && node.list()->front().table());
}

/// The variants in a table of the job: the tables inside it that are for some simulations only. In [model],
/// which also has other tables, they are the tables that a simulation names or that have the name of a
/// simulation; in other tables they are all tables inside.
template <class Node>
std::set<std::string> variants_of(const Node& table, const std::string& key,
                                  const std::vector<Config>& simulations,
                                  const std::vector<std::string>& names) {
  std::set<std::string> variants;
  if (!table.table()) return variants;
  for (const auto& [name, inside] : *table.table()) {
    const auto& wanted = name;
    const bool asked_for = std::any_of(simulations.begin(), simulations.end(), [&](const Config& simulation) {
      return simulation.is_text(key) && simulation.text(key) == wanted;
    });
    const bool of_a_simulation = std::find(names.begin(), names.end(), name) != names.end();
    if (is_table_or_tables(inside) && (key != "model" || asked_for || of_a_simulation)) variants.insert(name);
  }
  return variants;
}

/// A table of the job as one simulation reads it: its keys without the variants, and the keys of the chosen
/// variant, which replace the table's keys of the same name.
template <class Node>
Node merged(const Node& table, const std::set<std::string>& variants, const Node* chosen) {
  if (chosen && chosen->list()) return *chosen;
  if (!table.table()) return table;
  Node all = chosen ? *chosen : table;
  typename Node::Table entries;
  if (chosen) entries = *chosen->table();
  for (const auto& entry : *table.table())
    if (!variants.contains(entry.first) && !(chosen && chosen->entry(entry.first))) entries.push_back(entry);
  all.value = std::move(entries);
  return all;
}

/// The keys of a job's table that apply to simulation i; nothing if all belong to other simulations. taken:
/// collects the tables inside it that some simulation uses. Throws InputError.
template <class Node>
std::optional<Node> taken_from(const Node& table, const std::string& key,
                               const std::vector<Config>& simulations, const std::vector<std::string>& names,
                               std::size_t i, std::set<std::string>& taken) {
  const auto& simulation = simulations[i];
  const auto variants = variants_of(table, key, simulations, names);
  const bool named = simulation.is_text(key);
  const auto wanted = named ? simulation.text(key) : names[i];
  const auto* chosen = variants.contains(wanted) ? table.entry(wanted) : nullptr;
  if (named && !chosen) {
    const std::vector<std::string_view> known(variants.begin(), variants.end());
    throw simulation.wrong(key,
                           fmt::format("there is no [{}.{}].{}", key, wanted, did_you_mean(wanted, known)),
                           fmt::format("Add the table, or leave {} out for the keys of [{}].", key, key));
  }
  if (chosen) taken.insert(key + "." + wanted);
  auto its = merged(table, variants, chosen);
  if (variants.empty() || !its.table() || !its.table()->empty()) return its;
  if (key != "survey") return std::nullopt;
  throw InputError(simulation.where(),
                   fmt::format("it does not say which of [{}.{}] it takes", key,
                               fmt::join(variants, fmt::format("], [{}.", key))),
                   fmt::format("Write {} = \"{}\".", key, *variants.begin()));
}

/// Converts [[survey]] or [[mesh]] with names into the equivalent tables inside [survey] or [mesh]. Throws
/// InputError.
template <class Node>
Node by_name(const Node& node, const std::string& key) {
  if ((key != "survey" && key != "mesh") || !node.list()) return node;
  Node all = node;
  typename Node::Table tables;
  for (const auto& given : *node.list()) {
    const auto* name = given.entry("name");
    const auto* text = name != nullptr ? name->text() : nullptr;
    if (text == nullptr || text->empty())
      throw InputError(fmt::format("{}: {}", given.place, key), "several of them, and this one has no name",
                       fmt::format("Write name = \"...\", by which simulations take it: {} = \"...\".", key));
    if (std::any_of(tables.begin(), tables.end(), [&](const auto& known) { return known.first == *text; }))
      throw InputError(fmt::format("{}: {}", name->place, key),
                       fmt::format("there are two named \"{}\"", *text), "Give one of them another name.");
    Node table = given;
    std::erase_if(std::get<typename Node::Table>(table.value),
                  [](const auto& entry) { return entry.first == "name"; });
    tables.push_back({*text, std::move(table)});
  }
  all.value = std::move(tables);
  return all;
}

template <class Node>
void forget_reading(Node& node) {
  node.read = false;
  if (auto* table = std::get_if<typename Node::Table>(&node.value))
    for (auto& entry : *table) forget_reading(entry.second);
  if (auto* list = std::get_if<typename Node::List>(&node.value))
    for (auto& item : *list) forget_reading(item);
}

/// Adds the entries of table `from` that `to` lacks; likewise in the tables inside both.
template <class Node>
void add_missing(Node& to, const Node& from) {
  if (!to.table() || !from.table()) return;
  auto& entries = std::get<typename Node::Table>(to.value);
  for (const auto& entry : *from.table()) {
    const auto there = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& known) { return known.first == entry.first; });
    if (there == entries.end()) entries.push_back(entry);
    else add_missing(there->second, entry.second);
  }
}

template <class Node>
void take_reading(const Node& to, const Node& from) {
  to.read = to.read || from.read;
  if (to.table())
    for (const auto& [key, child] : *to.table())
      if (const auto* same = from.entry(key)) take_reading(child, *same);
  if (to.list() && from.list())
    for (std::size_t n = 0; n < std::min(to.list()->size(), from.list()->size()); ++n)
      take_reading((*to.list())[n], (*from.list())[n]);
}

}  // namespace

Config Config::supposing(std::string_view text, std::string name) const {
  const auto supposed = parse(text, std::move(name));
  auto document = std::make_shared<Document>(*document_);
  document->defaults.clear();
  add_missing(document->root, supposed.document_->root);
  const Node* top = &document->root;
  Config made(std::move(document), top, path_);
  made.known_ = known_;
  return made;
}

void Config::take_reading_of(const Config& copy) const {
  take_reading(document_->root, copy.document_->root);
  document_->inputs = copy.document_->inputs;
  document_->notes = copy.document_->notes;
}

bool Config::has_parts() const {
  const auto* simulation = node_ ? node_->entry("simulation") : nullptr;
  return simulation && simulation->list();
}

std::vector<Config::Part> Config::parts(const TablesOf& tables_of) const {
  const auto simulations = tables("simulation");
  const auto names = names_of(simulations);
  std::set<std::string> taken{"title", "simulation"};
  std::vector<Part> parts;
  for (std::size_t i = 0; i < simulations.size(); ++i) {
    Node::Table root;
    if (const auto* title = node_->entry("title")) root.push_back({"title", *title});
    Node own = *simulations[i].node_;
    auto& keys = std::get<Node::Table>(own.value);
    const auto leave_out = [&](const std::string& key) {
      std::erase_if(keys, [&](const auto& entry) { return entry.first == key; });
    };
    leave_out("name");
    for (const auto& key : tables_of(simulations[i])) {
      if (key == "simulation" || key == "title") continue;
      if (simulations[i].is_text(key)) leave_out(key);  // this key names a variant
      if (const auto* table = node_->entry(key)) {
        taken.insert(key);
        if (auto its = taken_from(by_name(*table, key), key, simulations, names, i, taken))
          root.push_back({key, std::move(*its)});
      } else if (simulations[i].is_text(key)) {
        throw simulations[i].wrong(key, fmt::format("there is no [{}.{}]", key, simulations[i].text(key)));
      }
    }
    root.push_back({"simulation", std::move(own)});

    auto document = std::make_shared<Document>(*document_);
    document->defaults.clear();
    document->source +=
        fmt::format("{}# simulation: {}\n", document->source.ends_with('\n') ? "" : "\n", names[i]);
    document->root.value = std::move(root);
    forget_reading(document->root);
    const Node* top = &document->root;
    parts.push_back({names[i], Config(std::move(document), top, "")});
  }
  for (const auto& [key, child] : *node_->table()) {
    if (!taken.contains(key))
      throw InputError(fmt::format("{}: {}", child.place, key), "no simulation of this job reads this table",
                       "Remove it, or add the simulation that it was meant for.");
    if (key == "simulation") continue;
    const auto named = by_name(child, key);
    for (const auto& variant : variants_of(named, key, simulations, names))
      if (!taken.contains(key + "." + variant))
        throw InputError(fmt::format("{}: {}.{}", named.entry(variant)->place, key, variant),
                         "no simulation takes this table",
                         fmt::format("Name it in a simulation, {} = \"{}\", or remove it.", key, variant));
  }
  return parts;
}

}  // namespace terrane
