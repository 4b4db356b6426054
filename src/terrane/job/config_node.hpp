// The parsed tree of tables and values behind a Config; for the files of job/ that build such trees.
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

// Terrane's own tree, so that only config.cpp includes toml++, and every node records whether it was read.
struct Config::Node {
  using List = std::vector<Node>;
  struct Entry;  // a struct, because Clang refuses an incomplete type in a pair
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
  /// Default values, each parsed when it is first needed; a deque, because addresses of its elements stay
  /// valid.
  mutable std::deque<Node> defaults;
  mutable std::vector<std::filesystem::path> inputs;
  mutable std::vector<std::string> notes;
};

}  // namespace terrane
