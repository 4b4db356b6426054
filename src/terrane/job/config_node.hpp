// The tree that a Config is a view of; for the files of job/ that build such trees.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terrane/job/config.hpp"

namespace terrane {

// A tree of our own: toml++ stays in this file, and every node knows whether it was read.
struct Config::Node {
  using List = std::vector<Node>;
  struct Entry;  // a struct, as Clang takes no incomplete type in a pair
  using Table = std::vector<Entry>;
  std::variant<bool, std::int64_t, double, std::string, List, Table> value;
  std::string place;  ///< "job.toml:14"
  mutable bool read = false;

  const Table* table() const { return std::get_if<Table>(&value); }
  const List* list() const { return std::get_if<List>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  /// The value of a key of a table; null when the table has no such key, or the node is no table.
  const Node* entry(std::string_view key) const;
  std::string_view type_name() const {
    static constexpr std::string_view names[] = {"true/false", "a whole number", "a number",
                                                 "a text",     "a list",         "a table"};
    return names[value.index()];
  }
};

struct Config::Node::Entry {
  std::string first;
  Node second;
};

inline const Config::Node* Config::Node::entry(std::string_view key) const {
  if (const auto* entries = table())
    for (const auto& [name, child] : *entries)
      if (name == key) return &child;
  return nullptr;
}

struct Config::Document {
  std::string name, source;
  std::filesystem::path folder;
  std::shared_ptr<const Contents> contents;
  Node root;
  /// Defaults, parsed when first asked for; a deque keeps their addresses.
  mutable std::deque<Node> defaults;
  mutable std::vector<std::filesystem::path> inputs;
  mutable std::vector<std::string> notes;
};

}  // namespace terrane
