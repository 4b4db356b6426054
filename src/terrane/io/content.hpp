// The kinds of content of files of all formats: a horizontal grid, a table of points, cells of a tensor mesh,
// prisms, an array without coordinates, or a data set, such as the traces of shots (gathers.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terrane/base/column.hpp"
#include "terrane/base/units.hpp"
#include "terrane/data/dataset.hpp"
#include "terrane/mesh/grid.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/model/earth_model.hpp"
#include "terrane/survey/survey.hpp"

namespace terrane::io {

/// Metadata of a file: frame, gravitational_constant, version, title, history, job, ...
using Attributes = std::map<std::string, std::string>;

/// Named fields on one horizontal grid: values[j * easting.size() + i] at (easting[i], northing[j]). Both
/// axes ascend strictly; they are in metres, or longitude and latitude in degrees if geographic. NaN marks a
/// gap.
struct GridData {
  std::vector<double> easting, northing;
  bool geographic = false;
  std::vector<Column> fields;  ///< [north, east]; a field "up" (m) is the height of the nodes
  std::string projection;      ///< PROJ string or EPSG code of easting and northing; empty if unknown
  Attributes attributes;
  /// Whether the file gives no unit of coordinates, so that metres are assumed.
  bool unit_is_assumed = false;
  std::vector<std::string> downward = {};  ///< names of the fields that are depths, positive downward

  std::size_t size() const noexcept { return easting.size() * northing.size(); }
  const Column* find(std::string_view name) const;
  /// One field as a Grid; without a name, the only field, or the only one besides "up". Throws InputError
  /// that lists the fields.
  Grid grid(std::string_view name = {}) const;
};

/// Whether the nodes of a grid in metres could also be longitudes and latitudes: within ±360 and ±90, with
/// spacings below one.
bool may_be_degrees(const GridData& grid);

/// A column of texts beside the numbers: station names, dates.
struct TextColumn {
  std::string name;
  std::vector<std::string> values;
  std::size_t first_text = 0;  ///< first row whose entry is not a number
};

/// Rows of named numbers as read from a file: units are kept, nothing is converted. NaN marks an empty entry.
struct Table {
  std::vector<Column> columns;
  std::vector<TextColumn> texts;
  std::vector<std::size_t> lines;  ///< line of each row in its file; empty if the file has no lines
  std::string source;              ///< name of the file, for messages
  std::string projection;
  Attributes attributes;

  std::size_t rows() const noexcept;
  const Column* find(std::string_view name) const;
  /// Location of a row for messages: "stations.csv:207", or the file alone if it has no lines.
  std::string where(std::size_t row) const;
  /// A column in SI units. default_unit: the unit if the file gives none; empty: that is an error. gaps:
  /// empty entries are NaN instead of errors. Throws InputError (no such column, text in it, an empty entry,
  /// no unit, a unit of another quantity).
  std::vector<double> si(std::string_view name, Quantity quantity, std::string_view default_unit = {},
                         bool gaps = false) const;
};

/// For a tensor mesh made from an octree mesh: the octree cell that contains each of its cells.
struct Octree {
  std::size_t cells = 0;          ///< number of octree cells in the file; 0: the file had a tensor mesh
  std::vector<std::uint32_t> of;  ///< [up, north, east] index of the octree cell in the file, from 0
};

/// Properties of the cells of a tensor mesh; each column is [up, north, east], easting contiguous. Properties
/// in model/properties.hpp are converted to SI units on reading.
struct MeshData {
  TensorMesh mesh;
  std::vector<Column> cells;
  Attributes attributes;
  /// Whether the file does not give the width of its only cell along northing.
  bool width_is_guessed = false;
  Octree octree = {};

  const Column* find(std::string_view name) const;
};

/// Prisms with properties, SI.
struct PrismData {
  PrismSet prisms;
  std::vector<Property> properties;
  Attributes attributes;
};

/// An array without coordinates (.npy); C order: the last axis is contiguous.
struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  Attributes attributes;
  bool single = false;  ///< whether the array is written in single precision
};

using Content = std::variant<GridData, Table, MeshData, PrismData, Array, Dataset>;

// Conversions between the contents of files and the types that Terrane computes with.

/// Stations from columns easting, northing, up (with any unit of length; default_unit if there is none). All
/// other columns are kept unchanged; if the rows form a grid, `grid` is set. Throws InputError: a missing
/// column, an empty entry (with its line), no rows.
Survey to_survey(const Table& table, std::string_view default_unit = {});
/// Stations at the nodes of a grid that has a field "up" (m). Throws InputError.
Survey to_survey(const GridData& grid);
Table to_table(const Survey& survey, Attributes attributes = {});
Table to_table(const GridData& grid);
/// The grid whose nodes are the rows of a table, row after row from the south-west or in any order; empty if
/// they do not form a grid. Coordinates are easting and northing, or longitude and latitude, or the first two
/// of three columns without names.
std::optional<GridData> to_grid(const Table& table);
/// Whether a table has just three columns without names: x, y and z of points.
bool holds_bare_points(const Table& table);
GridData to_grid_data(const Grid& grid, std::string name, std::string unit);

/// Converts a property in model/properties.hpp to SI units; other columns, and those without a unit, are not
/// changed. Throws InputError (a unit of another quantity).
void to_si(Column& column);

/// The model with all columns whose names are known properties; column `field`, if given, is used as
/// `property`. Throws InputError if there is none of these or a value is not allowed.
EarthModel to_earth_model(MeshData data, std::string_view property = "density", std::string_view field = {});
EarthModel to_earth_model(PrismData data);
/// MeshData or PrismData with all properties of the model.
Content to_content(const EarthModel& model, Attributes attributes = {});

/// Prisms from columns west, east, south, north, bottom, top and known properties; or from columns x1 y1 z1
/// x2 y2 z2 rho, with corners in any order and z up. length_unit, unit: the units of coordinates and of
/// `property` if the file gives none. Throws InputError.
PrismData to_prisms(const Table& table, std::string_view length_unit = {}, std::string_view unit = {},
                    std::string_view property = "density");
Table to_table(const PrismData& prisms);
bool holds_prisms(const Table& table);

}  // namespace terrane::io
