#include "terrane/io/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

namespace terrane::io {

namespace {

/// Whether a value is a number that programs write for missing values; or ten or a thousand times such a
/// number, because values in %, g/cm3 or V/V are converted when they are read.
bool is_dummy(double value) {
  constexpr double nines[] = {-999,    -999.25,  -999.99,   -9999,  -9999.99, -99999,
                              -999999, -9999999, -99999999, -32767, -32768};
  if (!std::isfinite(value) || std::abs(value) >= 1e29) return std::isfinite(value);
  return std::any_of(std::begin(nines), std::end(nines), [value](double none) {
    for (const double factor : {1.0, 10.0, 1000.0})
      if (std::abs(value - factor * none) <= 1e-12 * std::abs(value)) return true;
    return false;
  });
}

bool is_place(std::string lower) {
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view end : {"easting", "northing", "longitude", "latitude"})
    if (lower.ends_with(end)) return true;
  return lower.size() <= 2 && (lower.starts_with('x') || lower.starts_with('y'));
}

/// Whether a column of the table is a face of prisms.
bool is_face(const Table& table, std::string_view name) {
  static constexpr std::array<std::string_view, 6> faces{"west", "east", "south", "north", "bottom", "top"},
      corners{"x1", "y1", "z1", "x2", "y2", "z2"};
  for (const auto& names : {faces, corners})
    if (std::all_of(names.begin(), names.end(), [&](auto one) { return table.find(one) != nullptr; }) &&
        std::find(names.begin(), names.end(), name) != names.end())
      return true;
  return false;
}

/// A text about the values that probably mark missing values; empty if there are none.
std::string dummies_of(const std::string& name, const std::vector<double>& values) {
  constexpr std::size_t enough = 3;  // minimum number of other values to compare with
  constexpr double infinite = std::numeric_limits<double>::infinity();
  double low = infinite, high = -infinite, nearest = infinite, dummy = 0;
  std::size_t count = 0, others = 0, first = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double value = values[n];
    if (is_dummy(value)) {
      if (count++ == 0) first = n, dummy = value;
    } else if (std::isfinite(value)) {
      low = std::min(low, value), high = std::max(high, value), ++others;
    }
  }
  if (count == 0 || others < enough) return {};
  for (const double value : values)
    if (is_dummy(value)) nearest = std::min(nearest, std::max(low - value, value - high));
  if (!(nearest > 2 * (high - low) && nearest > std::max(std::abs(low), std::abs(high)))) return {};
  return fmt::format(
      "{}: {:g} (value {}{}) is far from all others, {:g} to {:g}, and a number that programs write where "
      "there is no value",
      name, dummy, first + 1, count > 1 ? fmt::format(", {} such in all", count) : "", low, high);
}

}  // namespace

std::string written_for_none(const Column& column) { return dummies_of(column.name, column.values); }

std::string written_for_none(const Content& content, const std::function<bool(std::string_view)>& used) {
  if (const auto* array = std::get_if<Array>(&content)) return dummies_of("the array", array->values);
  if (const auto* prisms = std::get_if<PrismData>(&content)) {
    for (const auto& property : prisms->properties)
      if (!used || used(property.name))
        if (auto text = dummies_of(property.name, property.values); !text.empty()) return text;
    return {};
  }
  const auto* table = std::get_if<Table>(&content);
  const std::vector<Column>* columns = table != nullptr ? &table->columns : nullptr;
  if (const auto* grid = std::get_if<GridData>(&content)) columns = &grid->fields;
  if (const auto* mesh = std::get_if<MeshData>(&content)) columns = &mesh->cells;
  if (columns == nullptr) return {};
  for (const auto& column : *columns) {
    if (is_place(column.name) || (table != nullptr && is_face(*table, column.name))) continue;
    if (used && !used(column.name)) continue;
    if (auto text = written_for_none(column); !text.empty()) return text;
  }
  return {};
}

std::vector<std::string> notes_of(const Content& content) {
  std::vector<std::string> notes;
  if (const auto* data = std::get_if<Dataset>(&content)) {
    for (const auto& a : data->attributes)
      if (const auto* words = std::get_if<std::string>(&a.value); words != nullptr && a.name == "note")
        notes.push_back(*words);
    return notes;
  }
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, Dataset>)
          if (const auto note = held.attributes.find("note"); note != held.attributes.end())
            notes.push_back(note->second);
      },
      content);
  if (const auto* grid = std::get_if<GridData>(&content); grid != nullptr && may_be_degrees(*grid))
    notes.emplace_back("it does not say the unit of its coordinates: give --length-unit m or degrees");
  if (auto text = written_for_none(content); !text.empty()) notes.push_back(std::move(text));
  return notes;
}

}  // namespace terrane::io
