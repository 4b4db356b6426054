// An earth model: named properties on the cells of a mesh or on a list of prisms, used by every physics.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/model/cell_numbers.hpp"
#include "terrane/model/properties.hpp"

namespace terrane {

/// The cells of a tensor mesh in which a property is set; only these are stored, so that a large mesh with a
/// few small bodies needs little memory.
struct MeshCells {
  TensorMesh mesh;
  CellNumbers cell;  ///< index in the mesh of each stored cell, ascending
};

struct EarthModel {
  std::variant<MeshCells, PrismSet> geometry;
  std::vector<Property> properties;  ///< each with one value per stored cell, or per prism

  /// Number of stored cells or of prisms.
  std::size_t size() const;
  bool has(std::string_view property) const;
  /// The values of a property [size()], SI. Throws InputError that lists the properties of the model.
  const std::vector<double>& property(std::string_view name) const;
  /// The values of a property along an axis ("east", "north", "up"): conductivity_up, or conductivity if the
  /// model has no property for this axis. Throws InputError.
  const std::vector<double>& property_along(std::string_view name, std::string_view axis) const;
  /// One value per cell of the mesh [up, north, east]; cells that are not stored get the property's `absent`.
  /// Throws InputError (no such property, or the model is a list of prisms).
  std::vector<double> dense(std::string_view name) const;
};

/// A model from the values of each property [cells of the mesh]. Stores only cells in which some property has
/// a value other than its `absent` (properties.hpp). Throws ShapeError; InputError (an infinite value or one
/// outside the range of its property, with the cell).
EarthModel from_dense(TensorMesh mesh, std::vector<Property> properties);

/// The values at some cells of a mesh. all: [cells of the mesh]; returned itself if these are all its cells
std::vector<double> values_at(const CellNumbers& cells, std::vector<double> all);

/// Gives a property's background value to cells and prisms that have no value of this property, nor of one
/// for the same quantity (in_other_words.hpp). Throws InputError (a value outside its range).
void fill(EarthModel& model, const std::vector<PropertyValue>& background);

/// A list of prisms with one value each.
struct PrismValues {
  PrismSet prisms;
  std::vector<double> values;
};

/// The prisms whose value of the property is set and not zero, in the model's order: the sources of a
/// potential field. Throws InputError if the model has no such property.
PrismValues sources(const EarthModel& model, std::string_view property);

/// How many prisms sources() would return.
std::size_t source_count(const EarthModel& model, std::string_view property);

/// All prisms of the model; of a mesh, its stored cells.
PrismSet prisms_of(const EarthModel& model);

}  // namespace terrane
