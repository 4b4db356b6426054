#include "terrane/cli/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

#include "terrane/base/version.hpp"
#include "terrane/model/properties.hpp"

namespace terrane::cli {

namespace {

/// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD, because JSON allows UTF-8 only.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t n = 0; n < text.size(); ++n) {
    const auto byte = static_cast<unsigned char>(text[n]);
    if (byte == '"' || byte == '\\') (out += '\\') += text[n];
    else if (byte == '\n') out += "\\n";
    else if (byte == '\t') out += "\\t";
    else if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\u{:04x}", byte);
    else if (byte < 0x80) out += text[n];
    else {
      const std::size_t length = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
      const auto rest = text.substr(n + 1, length - 1);
      const bool whole = length > 1 && byte < 0xf5 && rest.size() == length - 1 &&
                         std::all_of(rest.begin(), rest.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
      if (whole) {
        out += text.substr(n, length);
        n += length - 1;
      } else {
        out += "\xEF\xBF\xBD";
      }
    }
  }
  return out + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

/// A JSON object, with its members in the order in which they are added.
class Object {
 public:
  Object& raw(std::string_view name, const std::string& value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", in_quotes(name), value);
    return *this;
  }
  Object& add(std::string_view name, std::string_view words) { return raw(name, in_quotes(words)); }
  // without this overload a literal would convert to bool
  Object& add(std::string_view name, const char* words) { return raw(name, in_quotes(words)); }
  Object& add(std::string_view name, double value) { return raw(name, number(value)); }
  Object& add(std::string_view name, std::size_t count) { return raw(name, fmt::format("{}", count)); }
  Object& add(std::string_view name, bool flag) { return raw(name, flag ? "true" : "false"); }
  Object& add(std::string_view name, const Object& inner) { return raw(name, inner.text()); }
  Object& add(std::string_view name, const std::map<std::string, double>& numbers) {
    Object inner;
    for (const auto& [key, value] : numbers) inner.add(key, value);
    return add(name, inner);
  }
  Object& add(std::string_view name, const std::vector<std::string>& texts) {
    std::string list;
    for (const auto& one : texts) list += (list.empty() ? "" : ", ") + in_quotes(one);
    return raw(name, "[" + list + "]");
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

Object framed(const JsonFrame& frame) {
  Object all;
  all.add("terrane", version())
      .add("verb", frame.verb)
      .add("job", frame.job)
      .add("simulation", frame.simulation);
  return all;
}

void add_facts(const RunFacts& facts, const JsonFrame& frame, Object& all) {
  all.add("problem", facts.problem).add("method", facts.method).add("reason", facts.reason);
  all.add("device", facts.device).add("seconds", facts.seconds);
  all.add("memory_bytes", facts.memory_bytes).add("work", facts.work).add("work_unit", facts.work_unit);
  Object values, units;
  for (const auto& one : facts.values) {
    std::visit([&](const auto& value) { values.add(one.name, value); }, one.value);
    if (!one.unit.empty()) units.add(one.name, one.unit);
  }
  auto warnings = frame.warnings;
  warnings.insert(warnings.end(), facts.warnings.begin(), facts.warnings.end());
  all.add("values", values).add("units", units).add("notes", facts.notes).add("warnings", warnings);
}

/// The range of real numbers: {"count": …, "least": …, "most": …, "empty": …}; `empty` counts NaN.
template <class Number>
Object range_of(const std::vector<Number>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::size_t gaps = 0;
  for (const Number v : values) {
    const auto value = static_cast<double>(v);
    if (std::isnan(value)) ++gaps;
    else low = std::min(low, value), high = std::max(high, value);
  }
  Object range;
  range.add("count", values.size()).add("least", low).add("most", high).add("empty", gaps);
  return range;
}

Object columns_of(const std::vector<Column>& columns) {
  Object all;
  for (const auto& column : columns) {
    auto one = range_of(column.values);
    all.add(column.name, one.add("unit", column.unit));
  }
  return all;
}

std::string shape_of(const std::vector<std::size_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Object variables_of(const Dataset& data) {
  Object all;
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) {
      auto one = std::visit(
          [](const auto& values) {
            using Value = typename std::decay_t<decltype(values)>::value_type;
            if constexpr (std::is_arithmetic_v<Value>) return range_of(values);
            else return std::move(Object().add("count", values.size()));
          },
          v.values);
      all.add(v.name, one.add("unit", v.unit).add("dimensions", v.dimensions));
    }
  return all;
}

Object attributes_of(const io::Attributes& attributes) {
  Object all;
  for (const auto& [name, text] : attributes) all.add(name, text);
  return all;
}

struct ContentOf {
  Object& all;

  void operator()(const io::GridData& grid) {
    all.add("kind", "grid").raw("shape", shape_of({grid.northing.size(), grid.easting.size()}));
    all.add("geographic", grid.geographic).add("projection", grid.projection);
    all.add("easting", range_of(grid.easting)).add("northing", range_of(grid.northing));
    all.add("columns", columns_of(grid.fields)).add("attributes", attributes_of(grid.attributes));
  }
  void operator()(const io::Table& table) {
    std::vector<std::string> words;
    for (const auto& column : table.texts) words.push_back(column.name);
    all.add("kind", "table").add("rows", table.rows()).add("projection", table.projection);
    all.add("columns", columns_of(table.columns)).add("words", words);
    all.add("attributes", attributes_of(table.attributes));
  }
  void operator()(const io::MeshData& data) {
    const auto& mesh = data.mesh;
    all.add("kind", "mesh").raw("shape", shape_of({mesh.n_up(), mesh.n_north(), mesh.n_east()}));
    all.add("easting", range_of(mesh.easting())).add("northing", range_of(mesh.northing()));
    all.add("up", range_of(mesh.up()));
    all.add("columns", columns_of(data.cells)).add("attributes", attributes_of(data.attributes));
  }
  void operator()(const io::PrismData& data) {
    Object properties;
    for (const auto& property : data.properties) {
      auto one = range_of(property.values);
      properties.add(property.name, one.add("unit", si_unit(property_kind(property.name).quantity)));
    }
    all.add("kind", "prisms").add("rows", data.prisms.size()).add("columns", properties);
    all.add("attributes", attributes_of(data.attributes));
  }
  void operator()(const io::Array& array) {
    all.add("kind", "array").raw("shape", shape_of(array.shape)).add("values", range_of(array.values));
    all.add("attributes", attributes_of(array.attributes));
  }
  void operator()(const Dataset& data) {
    Object dimensions, attributes;
    for (const auto& dimension : data.dimensions) dimensions.add(dimension.name, dimension.size);
    for (const auto& attribute : data.attributes)
      std::visit([&](const auto& value) { attributes.add(attribute.name, value); }, attribute.value);
    all.add("kind", "dataset").add("dimensions", dimensions).add("columns", variables_of(data));
    all.add("attributes", attributes);
  }
};

}  // namespace

std::string to_json(const Plan& plan, const JsonFrame& frame) {
  auto all = framed(frame);
  add_facts(plan, frame, all);
  all.add("memory_available", plan.memory_available).add("would_write", frame.files);
  return all.text();
}

std::string to_json(const Report& report, const JsonFrame& frame) {
  auto all = framed(frame);
  add_facts(report, frame, all);
  Object misfits;
  for (const auto& misfit : report.misfits) {
    Object one;
    one.add("unit", misfit.unit).add("count", misfit.count).add("mean", misfit.mean).add("rms", misfit.rms);
    one.add("weighted", misfit.weighted).add("chi_squared", misfit.chi_squared);
    misfits.add(misfit.field, one);
  }
  all.add("misfits", misfits).add("wrote", frame.files);
  return all.text();
}

std::string to_json(const io::Content& content, std::string_view file) {
  Object all;
  all.add("terrane", version()).add("file", file);
  std::visit(ContentOf{all}, content);
  return all.text();
}

}  // namespace terrane::cli
