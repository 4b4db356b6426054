#include "terrane/model/earth_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/parallel/threads/copied.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

const Property* found(const EarthModel& model, std::string_view name) {
  const auto it = std::find_if(model.properties.begin(), model.properties.end(),
                               [&](const Property& p) { return p.name == name; });
  return it == model.properties.end() ? nullptr : &*it;
}

bool is_absent(double value, double absent) { return value == absent || std::isnan(value); }

}  // namespace

std::size_t EarthModel::size() const {
  if (const auto* cells = std::get_if<MeshCells>(&geometry)) return cells->cell.size();
  return std::get<PrismSet>(geometry).size();
}

bool EarthModel::has(std::string_view property) const { return found(*this, property) != nullptr; }

const std::vector<double>& EarthModel::property(std::string_view name) const {
  if (const auto* there = found(*this, name)) return there->values;
  std::vector<std::string_view> names;
  for (const auto& p : properties) names.push_back(p.name);
  throw InputError("model", fmt::format("it has no {}", name),
                   names.empty()
                       ? fmt::format("It has no property at all; give its bodies a {}.", name)
                       : fmt::format("It has: {}. Give it a {}, or a map from what it has (model.maps).",
                                     joined(names), name));
}

const std::vector<double>& EarthModel::property_along(std::string_view name, std::string_view axis) const {
  const auto* own = found(*this, fmt::format("{}_{}", name, axis));
  return own != nullptr ? own->values : property(name);
}

std::vector<double> EarthModel::dense(std::string_view name) const {
  const auto& values = property(name);
  const auto* cells = std::get_if<MeshCells>(&geometry);
  if (cells == nullptr) throw InputError("model", "a list of prisms has no mesh");
  if (cells->cell.size() == cells->mesh.size()) return copied(values);
  auto all = filled(cells->mesh.size(), property_kind(name).absent);
  for_each_stretch(cells->cell.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) all[cells->cell[n]] = values[n];
  });
  return all;
}

namespace {

/// Throws the error of check_value for a value, naming the cell.
void blame_cell(const PropertyKind& kind, double value, std::size_t cell) {
  try {
    check_value(kind, value, "model." + std::string(kind.name));
  } catch (const InputError& error) {
    throw InputError(error.where(),
                     std::isfinite(value) ? fmt::format("cell {}: {}", cell, error.problem())
                                          : fmt::format("cell {} has {} {}", cell, kind.name, value),
                     std::isfinite(kind.absent)
                         ? fmt::format("Use {} for cells that take no part.", kind.absent)
                         : error.next());
  }
}

}  // namespace

std::vector<double> values_at(const CellNumbers& cells, std::vector<double> all) {
  if (cells.size() == all.size()) return all;
  auto values = filled(cells.size(), 0.0);
  for_each_stretch(cells.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) values[n] = all[cells[n]];
  });
  return values;
}

EarthModel from_dense(TensorMesh mesh, std::vector<Property> properties) {
  std::vector<const PropertyKind*> kinds;
  for (const auto& p : properties) {
    const auto where = "model." + p.name;
    kinds.push_back(&property_kind(p.name, where));
    if (p.values.size() != mesh.size())
      throw ShapeError(where,
                       fmt::format("{} values for a mesh of {} cells ({} east × {} north × {} up)",
                                   p.values.size(), mesh.size(), mesh.n_east(), mesh.n_north(), mesh.n_up()),
                       fmt::format("Give one {} for every cell, in [up, north, east] order.", p.name));
  }
  const auto takes_part = [&](std::size_t p, std::size_t cell) {
    const double value = properties[p].values[cell], absent = kinds[p]->absent;
    return !is_absent(value, absent) || std::isnan(value) != std::isnan(absent);
  };
  const auto wrong = first_where(mesh.size(), 0, [&](std::size_t cell) {
    for (std::size_t p = 0; p < properties.size(); ++p)
      if (takes_part(p, cell) && !allows(*kinds[p], properties[p].values[cell])) return true;
    return false;
  });
  for (std::size_t p = 0; p < properties.size() && wrong < mesh.size(); ++p)
    if (takes_part(p, wrong)) blame_cell(*kinds[p], properties[p].values[wrong], wrong);

  MeshCells cells{std::move(mesh), {}};
  cells.cell = cells_where(cells.mesh.size(), 0, [&](std::size_t cell) {
    for (std::size_t p = 0; p < properties.size(); ++p)
      if (takes_part(p, cell)) return true;
    return false;
  });
  EarthModel model;
  model.properties = std::move(properties);
  for (auto& p : model.properties) p.values = values_at(cells.cell, std::move(p.values));
  model.geometry = std::move(cells);
  return model;
}

namespace {

/// For each stored cell or prism, whether it has a value of another property that replaces a value of `name`;
/// empty if the model has no such property.
std::vector<bool> stated_otherwise(const EarthModel& model, std::string_view name) {
  static_assert(stretch_length % 64 == 0);  // so that no two threads write bits of one word
  std::vector<bool> stated;
  for (const auto& property : model.properties) {
    if (!supersedes(property.name, name)) continue;
    stated.resize(model.size());
    for_each_stretch(stated.size(), 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n)
        if (!std::isnan(property.values[n])) stated[n] = true;
    });
  }
  return stated;
}

/// Sets the values that are NaN, except where `stated` is true. stated: empty: nowhere
void set_unset(std::vector<double>& values, double value, const std::vector<bool>& stated) {
  for_each_stretch(values.size(), 0, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n)
      if (std::isnan(values[n]) && (stated.empty() || !stated[n])) values[n] = value;
  });
}

}  // namespace

void fill(EarthModel& model, const std::vector<PropertyValue>& background) {
  for (const auto& [name, value] : background) check_value(property_kind(name), value, "background");
  auto* held = std::get_if<MeshCells>(&model.geometry);
  if (held != nullptr && !background.empty() && held->cell.size() < held->mesh.size()) {
    for (auto& property : model.properties) property.values = model.dense(property.name);
    held->cell = CellNumbers::up_to(held->mesh.size());
  }
  // A cell that gives the quantity by another property, such as resistivity in place of conductivity, gets no
  // background value.
  std::vector<std::vector<bool>> stated;
  for (const auto& value : background) stated.push_back(stated_otherwise(model, value.property));
  for (std::size_t b = 0; b < background.size(); ++b) {
    const auto& [name, value] = background[b];
    if (!model.has(name)) model.properties.push_back({name, filled(model.size(), std::nan(""))});
    set_unset(std::ranges::find(model.properties, name, &Property::name)->values, value, stated[b]);
  }
}

}  // namespace terrane
