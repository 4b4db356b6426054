// The text of `terrane info`: what a file holds, one item per line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>

#include "terrane/base/text.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {

namespace {

std::string range_of(const std::vector<double>& values, std::string_view unit) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::size_t gaps = 0;
  for (const double v : values) {
    if (std::isnan(v)) ++gaps;
    else low = std::min(low, v), high = std::max(high, v);
  }
  const auto unit_text = unit.empty() ? std::string("(no unit)") : std::string(unit);
  if (gaps == values.size()) return fmt::format("no values, {}", unit_text);
  return fmt::format("{:.8g} to {:.8g} {}{}", low, high, unit_text,
                     gaps == 0 ? "" : fmt::format(", {} empty", gaps));
}

class Lines {
 public:
  void add(std::string_view label, std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{:<14}{}\n", label, text);
  }
  void columns(const std::vector<Column>& all, std::string_view label) {
    std::size_t width = 0;
    for (const auto& c : all) width = std::max(width, c.name.size());
    for (const auto& c : all) {
      add(label, fmt::format("{:<{}}  {}", c.name, width, range_of(c.values, c.unit)));
      label = "";
    }
  }
  void attributes(const Attributes& all) {
    constexpr std::string_view continuation = "\n              ";
    for (const auto& [key, value] : all) {
      std::string text;
      for (const char c : value)
        if (c == '\n') text += continuation;
        else text += c;
      add(key.size() < 13 ? key : key + " ", text);
    }
  }
  std::string text() const { return fmt::to_string(out_); }

 private:
  fmt::memory_buffer out_;
};

void describe_axis(Lines& lines, std::string_view name, const std::vector<double>& axis,
                   std::string_view unit, std::string_view things) {
  if (axis.empty()) return;
  bool even = axis.size() > 1;
  const double step = even ? (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1) : 0;
  for (std::size_t i = 0; i < axis.size(); ++i)
    even = even && std::abs(axis[i] - axis.front() - step * static_cast<double>(i)) <= 1e-6 * step;
  lines.add(name, fmt::format("{} {}, {:.10g} to {:.10g} {}{}", axis.size(), things, axis.front(),
                              axis.back(), unit,
                              even              ? fmt::format(", every {:.6g}", step)
                              : axis.size() > 1 ? ", spacing varies"
                                                : ""));
}

/// Minimum, maximum and unit of a variable; for texts, their number.
std::string range_of(const Variable& v) {
  return std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<T>)
          return range_of(std::vector<double>(values.begin(), values.end()), v.unit);
        else return fmt::format("{} values", values.size());
      },
      v.values);
}

void describe_dataset(Lines& lines, const Dataset& data) {
  std::string shape;
  for (const auto& d : data.dimensions)
    shape += fmt::format("{}{} {}", shape.empty() ? "" : ", ", d.name, d.size);
  lines.add("holds", fmt::format("data set, {}", shape));
  for (const auto* all : {&data.coordinates, &data.variables}) {
    std::size_t width = 0;
    for (const auto& v : *all) width = std::max(width, v.name.size());
    std::string_view label = all == &data.variables ? "variables" : "coordinates";
    for (const auto& v : *all) {
      lines.add(label, fmt::format("{:<{}}  {}", v.name, width, range_of(v)));
      label = "";
    }
  }
  Attributes words;
  for (const auto& a : data.attributes)
    if (const auto* text = std::get_if<std::string>(&a.value)) words[a.name] = *text;
  lines.attributes(words);
}

}  // namespace

std::string describe(const Content& content, const std::string& path) {
  Lines lines;
  lines.add("file", path);
  if (const auto text = written_for_none(content); !text.empty()) lines.add("note", text);
  if (const auto* grid = std::get_if<GridData>(&content)) {
    lines.add("holds", fmt::format("grid, {} north x {} east", grid->northing.size(), grid->easting.size()));
    const auto* unit = grid->geographic ? "degrees" : "m";
    describe_axis(lines, grid->geographic ? "longitude" : "easting", grid->easting, unit, "nodes");
    describe_axis(lines, grid->geographic ? "latitude" : "northing", grid->northing, unit, "nodes");
    lines.columns(grid->fields, "fields");
    if (may_be_degrees(*grid))
      lines.add("note", "the file does not say the unit of its coordinates: they may be degrees, not metres");
    if (!grid->projection.empty()) lines.add("projection", grid->projection);
    lines.attributes(grid->attributes);
  } else if (const auto* table = std::get_if<Table>(&content)) {
    lines.add("holds", fmt::format("table, {} rows", table->rows()));
    lines.columns(table->columns, "columns");
    for (const auto& t : table->texts) lines.add("text", t.name);
    if (!table->projection.empty()) lines.add("projection", table->projection);
    lines.attributes(table->attributes);
  } else if (const auto* mesh = std::get_if<MeshData>(&content)) {
    const auto& m = mesh->mesh;
    lines.add("holds", fmt::format("tensor mesh, {} up x {} north x {} east = {} cells", m.n_up(),
                                   m.n_north(), m.n_east(), m.size()));
    describe_axis(lines, "easting", m.easting(), "m", "faces");
    describe_axis(lines, "northing", m.northing(), "m", "faces");
    describe_axis(lines, "up", m.up(), "m", "faces");
    lines.columns(mesh->cells, "cells");
    lines.attributes(mesh->attributes);
  } else if (const auto* prisms = std::get_if<PrismData>(&content)) {
    lines.add("holds", fmt::format("{} prisms", prisms->prisms.size()));
    lines.columns(to_table(*prisms).columns, "columns");
    lines.attributes(prisms->attributes);
  } else if (const auto* array = std::get_if<Array>(&content)) {
    std::string shape;
    for (const auto n : array->shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", n);
    lines.add("holds", fmt::format("array [{}], no coordinates", shape));
    lines.add("values", range_of(array->values, ""));
    lines.attributes(array->attributes);
  } else if (const auto* data = std::get_if<Dataset>(&content)) {
    describe_dataset(lines, *data);
  }
  return printable(lines.text());
}

}  // namespace terrane::io
