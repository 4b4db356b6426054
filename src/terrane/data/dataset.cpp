#include "terrane/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

template <class List>
auto found(List& list, std::string_view name) -> decltype(list.data()) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.name == name; });
  return it == list.end() ? nullptr : &*it;
}

std::size_t product(const std::vector<std::size_t>& shape, const std::string& where) {
  std::size_t n = 1;
  for (const auto size : shape) {
    if (size != 0 && n > std::numeric_limits<std::size_t>::max() / size)
      throw ShapeError(where, "its dimensions hold more values than an array can");
    n *= size;
  }
  return n;
}

std::string shape_text(const Dataset& data, const Variable& variable) {
  std::string text;
  for (const auto& name : variable.dimensions)
    text += fmt::format("{}{} {}", text.empty() ? "" : " × ", name, data.dimension(name)->size);
  return text.empty() ? "one value" : text;
}

void check_names(const std::string& where, const std::vector<Attribute>& attributes) {
  std::set<std::string_view> names;
  for (const auto& attribute : attributes)
    if (attribute.name.empty() || !names.insert(attribute.name).second)
      throw InputError(where, attribute.name.empty()
                                  ? "an attribute has no name"
                                  : fmt::format("the attribute \"{}\" is there twice", attribute.name));
}

void check_variable(const Dataset& data, const Variable& variable, bool header) {
  const auto where = fmt::format("data set: variable \"{}\"", variable.name);
  const std::set<std::string_view> names(variable.dimensions.begin(), variable.dimensions.end());
  if (names.size() != variable.dimensions.size())
    throw InputError(where, "a dimension is there twice", "Give the second one a name of its own.");
  const auto expected = product(data.shape(variable), where), has = size(variable.values);
  if (has != expected && !(header && has == 0))
    throw ShapeError(where, fmt::format("{} values for {} ({})", has, expected, shape_text(data, variable)));
  check_names(where, variable.attributes);
}

}  // namespace

std::size_t size(const Values& values) {
  return std::visit([](const auto& list) { return list.size(); }, values);
}

const Dimension* Dataset::dimension(std::string_view name) const { return found(dimensions, name); }

const Variable* Dataset::find(std::string_view name) const {
  const auto* coordinate = found(coordinates, name);
  return coordinate != nullptr ? coordinate : found(variables, name);
}

Variable* Dataset::find(std::string_view name) {
  auto* coordinate = found(coordinates, name);
  return coordinate != nullptr ? coordinate : found(variables, name);
}

const std::string* Dataset::text(std::string_view attribute) const {
  const auto* entry = found(attributes, attribute);
  return entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
}

std::vector<std::size_t> Dataset::shape(const Variable& variable) const {
  std::vector<std::size_t> out;
  for (const auto& name : variable.dimensions) {
    const auto* there = dimension(name);
    if (there == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& d : dimensions) names.push_back(d.name);
      throw InputError(fmt::format("data set: variable \"{}\"", variable.name),
                       fmt::format("there is no dimension \"{}\".{}", name, did_you_mean(name, names)),
                       "It has: " + joined(names) + ".");
    }
    out.push_back(there->size);
  }
  return out;
}

const std::vector<double>& Dataset::real(std::string_view name) const {
  const auto* variable = find(name);
  if (variable == nullptr) {
    std::vector<std::string_view> names;
    for (const auto* list : {&coordinates, &variables})
      for (const auto& v : *list) names.push_back(v.name);
    throw InputError("data set", fmt::format("there is no \"{}\".{}", name, did_you_mean(name, names)),
                     "It has: " + joined(names) + ".");
  }
  const auto* values = std::get_if<std::vector<double>>(&variable->values);
  if (values == nullptr)
    throw ShapeError(fmt::format("data set: variable \"{}\"", name), "its values are not float64");
  return *values;
}

void check(const Dataset& data, bool header) {
  std::set<std::string_view> names;
  for (const auto& dimension : data.dimensions)
    if (dimension.name.empty() || !names.insert(dimension.name).second)
      throw InputError("data set", dimension.name.empty()
                                       ? "a dimension has no name"
                                       : fmt::format("the dimension \"{}\" is there twice", dimension.name));
  names.clear();
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& variable : *list) {
      if (variable.name.empty()) throw InputError("data set", "a variable has no name");
      if (!names.insert(variable.name).second)
        throw InputError(
            "data set", fmt::format("the name \"{}\" is there twice", variable.name),
            "Every variable has a name of its own: what was observed and what was computed too.");
      check_variable(data, variable, header);
    }
  check_names("data set", data.attributes);
}

}  // namespace terrane
