// An earth model: bodies on a mesh or as a list of prisms, with named properties, from which every physics
// takes what it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/model/properties.hpp"

namespace terrane {

/// The cells of a tensor mesh where some property was set; only these are stored. So a large mesh with a few
/// bodies in it needs little memory.
struct MeshCells {
  TensorMesh mesh;
  std::vector<std::uint64_t> cell;  ///< index of each cell held, ascending
};

struct EarthModel {
  std::variant<MeshCells, PrismSet> geometry;
  std::vector<Property> properties;  ///< each with one value per cell held, or per prism

  /// Cells held, or prisms.
  std::size_t size() const;
  bool has(std::string_view property) const;
  /// [size()] SI. Throws InputError that names what the model has.
  const std::vector<double>& property(std::string_view name) const;
  /// The property along an axis ("east", "north", "up"): conductivity_up, or conductivity where the model has
  /// no value for that axis. Throws InputError.
  const std::vector<double>& property_along(std::string_view name, std::string_view axis) const;
  /// One value per cell of the mesh [up, north, east]; cells that are not held have the property's `absent`.
  /// Throws InputError (no such property, or a list of prisms).
  std::vector<double> dense(std::string_view name) const;
};

/// Values [cells of the mesh] of each property; only cells where some property is not absent are held. Throws
/// ShapeError; InputError (infinite or outside the range of its property, with the cell).
EarthModel from_dense(TensorMesh mesh, const std::vector<Property>& properties);

/// Gives every cell of the mesh, or every prism, that has no value of a property the value of the background:
/// all of them when the model does not have the property. Throws InputError (a value outside its range).
void fill(EarthModel& model, const std::vector<PropertyValue>& background);

/// A list of prisms with a value each.
struct PrismValues {
  PrismSet prisms;
  std::vector<double> values;
};

/// The prisms whose property is set and other than zero, in the model's order: the sources of a potential
/// field. Throws InputError when the model has no such property.
PrismValues sources(const EarthModel& model, std::string_view property);

/// How many prisms sources() would return.
std::size_t source_count(const EarthModel& model, std::string_view property);

/// Every prism of the model, held cells as prisms.
PrismSet prisms_of(const EarthModel& model);

}  // namespace terrane
