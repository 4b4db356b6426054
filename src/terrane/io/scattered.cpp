#include "terrane/io/scattered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/mesh/triangulation.hpp"

namespace terrane::io {

namespace {

/// The first column with one of these names, ignoring case; null if there is none.
const Column* named_as(const Table& table, std::initializer_list<std::string_view> names) {
  for (const auto name : names)
    for (const auto& column : table.columns)
      if (lower(column.name) == name) return &column;
  return nullptr;
}

}  // namespace

NodeColumns nodes_of(const Table& table, GridData& grid) {
  NodeColumns nodes{table.find("easting"), table.find("northing")};
  if (nodes.x == nullptr || nodes.y == nullptr) {
    nodes.x = table.find("longitude");
    nodes.y = table.find("latitude");
    grid.geographic = nodes.x != nullptr && nodes.y != nullptr;
  }
  if (nodes.x == nullptr || nodes.y == nullptr)
    nodes.x = named_as(table, {"easting", "x"}), nodes.y = named_as(table, {"northing", "y"});
  nodes.bare = holds_bare_points(table);
  if (nodes.bare) {
    nodes.x = &table.columns[0], nodes.y = &table.columns[1];
    grid.geographic = nodes.x->unit.starts_with("deg");
  }
  if (nodes.x == nullptr || nodes.y == nullptr) return {};
  const auto &x = nodes.x->unit, &y = nodes.y->unit;
  grid.unit_is_assumed = !grid.geographic && x.empty() && y.empty();
  if (!grid.geographic) {
    if (!x.empty()) nodes.x_factor = si_factor(Quantity::length, x);
    if (!y.empty()) nodes.y_factor = si_factor(Quantity::length, y);
  }
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!std::all_of(nodes.x->values.begin(), nodes.x->values.end(), finite) ||
      !std::all_of(nodes.y->values.begin(), nodes.y->values.end(), finite))
    return {};
  grid.projection = table.projection;
  grid.attributes = table.attributes;
  return nodes;
}

void scale_axes(GridData& grid, const NodeColumns& nodes) {
  for (auto& v : grid.easting) v *= nodes.x_factor;
  for (auto& v : grid.northing) v *= nodes.y_factor;
}

namespace {

/// The heights of a table of points: the only column besides those of places, else one that is called so.
const Column* heights_of(const Table& table, const Column* x, const Column* y) {
  const Column* other = nullptr;
  std::size_t others = 0;
  for (const auto& column : table.columns)
    if (&column != x && &column != y) other = &column, ++others;
  return others == 1 ? other : named_as(table, {"up", "z", "elevation", "elev", "height", "altitude"});
}

}  // namespace

std::optional<GridData> along_line(const Table& table) {
  GridData grid;
  auto nodes = nodes_of(table, grid);
  const bool bare = table.texts.empty() && table.columns.size() == 2 && table.columns[0].name == "column_1" &&
                    table.columns[1].name == "column_2";
  if (nodes.x == nullptr) {
    nodes.x = bare ? &table.columns[0] : named_as(table, {"easting", "x", "distance", "chainage"});
    if (nodes.x == nullptr) return {};
    if (!nodes.x->unit.empty()) nodes.x_factor = si_factor(Quantity::length, nodes.x->unit);
  }
  if (grid.geographic) return {};
  const auto* height = heights_of(table, nodes.x, nodes.y);
  if (height == nullptr) return {};
  std::vector<double> x, y, z;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double e = nodes.x_factor * nodes.x->values[row],
                 n = nodes.y == nullptr ? 0 : nodes.y_factor * nodes.y->values[row], u = height->values[row];
    if (!std::isfinite(e) || !std::isfinite(n) || std::isnan(u)) continue;
    x.push_back(e), y.push_back(n), z.push_back(u);
  }
  try {
    auto made = grid_along_line(x, y, z);
    if (made.values.empty()) return {};
    grid.easting = std::move(made.easting);
    grid.northing = std::move(made.northing);
    grid.fields.push_back({"up", height->unit, "", std::move(made.values)});
  } catch (const InputError& error) {
    throw InputError(table.source.empty() ? "table" : table.source, error.problem(), error.next());
  }
  grid.unit_is_assumed = false;
  grid.projection = table.projection;
  auto& note = grid.attributes["note"];
  note +=
      fmt::format("{}{} points along a line{}: heights are linear between them, and the same across the line",
                  note.empty() ? "" : "; ", x.size(), nodes.y == nullptr ? " to the east" : "");
  return grid;
}

std::optional<GridData> triangulated(const Table& table, std::string_view field) {
  GridData grid;
  const auto nodes = nodes_of(table, grid);
  if (nodes.x == nullptr) return {};
  const Column* height = nullptr;
  std::size_t candidates = 0;
  for (const auto& c : table.columns)
    if (&c != nodes.x && &c != nodes.y && (field.empty() || c.name == field)) height = &c, ++candidates;
  if (candidates != 1) height = field.empty() ? heights_of(table, nodes.x, nodes.y) : nullptr;
  if (height == nullptr) return {};
  std::vector<double> x, y, z;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (!std::isnan(height->values[row])) {
      x.push_back(nodes.x->values[row]);
      y.push_back(nodes.y->values[row]);
      z.push_back(height->values[row]);
    }
  try {
    auto made = grid_of_points(x, y, z);
    grid.easting = std::move(made.easting);
    grid.northing = std::move(made.northing);
    grid.fields.push_back(
        {nodes.bare ? "up" : height->name, height->unit, height->description, std::move(made.values)});
  } catch (const InputError& error) {
    throw InputError(table.source.empty() ? "table" : table.source, error.problem(), error.next());
  }
  scale_axes(grid, nodes);
  auto& note = grid.attributes["note"];
  note += fmt::format(
      "{}{} scattered points: heights are linear in the triangles between them, and beyond "
      "their outline those of the nearest",
      note.empty() ? "" : "; ", x.size());
  return grid;
}

}  // namespace terrane::io
