// What a file can hold, whatever its format: a horizontal grid, a table of points, cells of a tensor mesh,
// prisms, a bare array, or a data set, such as the traces of shots (gathers.hpp).
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

/// What a file says about itself: frame, gravitational_constant, version, title, history, job, ...
using Attributes = std::map<std::string, std::string>;

/// Named fields on one horizontal grid: values[j * easting.size() + i] at (easting[i], northing[j]); both
/// axes strictly ascending, in metres, or longitude and latitude in degrees when geographic. NaN marks a gap.
struct GridData {
  std::vector<double> easting, northing;
  bool geographic = false;
  std::vector<Column> fields;  ///< [north, east]; a field "up" (m) is the height of the nodes
  std::string projection;      ///< PROJ string or EPSG code of easting and northing; empty if unknown
  Attributes attributes;
  bool unit_is_assumed = false;            ///< the file does not say that they are metres
  std::vector<std::string> downward = {};  ///< names of the fields that are depths: they grow downward

  std::size_t size() const noexcept { return easting.size() * northing.size(); }
  const Column* find(std::string_view name) const;
  /// One field as a Grid; without a name the only field, or the only one besides "up".
  /// Throws InputError that lists the fields.
  Grid grid(std::string_view name = {}) const;
};

/// Whether the nodes of a grid in metres could also be longitudes and latitudes: within 360 and 90, with
/// spacings below one.
bool may_be_degrees(const GridData& grid);

/// A column of words beside the numbers: station names, dates.
struct TextColumn {
  std::string name;
  std::vector<std::string> values;
  std::size_t first_text = 0;  ///< first row whose entry is not a number
};

/// Rows of named numbers, as read: units are kept, nothing is converted. NaN marks an empty entry.
struct Table {
  std::vector<Column> columns;
  std::vector<TextColumn> texts;
  std::vector<std::size_t> lines;  ///< line of each row in its file; empty when the file has no lines
  std::string source;              ///< the file, for messages
  std::string projection;
  Attributes attributes;

  std::size_t rows() const noexcept;
  const Column* find(std::string_view name) const;
  /// "stations.csv:207", or the file alone when it has no lines.
  std::string where(std::size_t row) const;
  /// A column in SI units. `default_unit` stands in where the file gives none; empty: that is an error.
  /// gaps: empty entries are NaN. Throws InputError (no such column, text in it, an empty entry, no unit, a
  /// unit of another quantity).
  std::vector<double> si(std::string_view name, Quantity quantity, std::string_view default_unit = {},
                         bool gaps = false) const;
};

/// For a tensor mesh that was made of an octree mesh: the octree cell in which each of its cells lies.
struct Octree {
  std::size_t cells = 0;          ///< number of cells of the file; 0: it had a tensor mesh
  std::vector<std::uint32_t> of;  ///< [up, north, east], from 0 in the order of the file
};

/// Properties of the cells of a tensor mesh; each column is [up, north, east], easting contiguous.
/// Those that model/properties.hpp knows are in SI units once read.
struct MeshData {
  TensorMesh mesh;
  std::vector<Column> cells;
  Attributes attributes;
  bool width_is_guessed = false;  ///< the file does not give the width of its one cell along northing
  Octree octree = {};

  const Column* find(std::string_view name) const;
};

/// Prisms with properties, SI.
struct PrismData {
  PrismSet prisms;
  std::vector<Property> properties;
  Attributes attributes;
};

/// Numbers without coordinates (.npy); C order: the last axis is contiguous.
struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;
  Attributes attributes;
  bool single = false;  ///< write in single precision
};

using Content = std::variant<GridData, Table, MeshData, PrismData, Array, Dataset>;

// Conversions between the contents of files and what Terrane computes with.

/// Stations from columns easting, northing, up (any length unit; `default_unit` where none is given); all
/// other columns are kept as they are, and the grid is set when the rows form one. Throws InputError: a
/// column missing, an empty entry with its line, no rows.
Survey to_survey(const Table& table, std::string_view default_unit = {});
/// Stations at the nodes of a grid that has a field "up" (m). Throws InputError.
Survey to_survey(const GridData& grid);
Table to_table(const Survey& survey, Attributes attributes = {});
Table to_table(const GridData& grid);
/// The grid that the rows form when they are nodes of one, row after row from the south-west or in any order;
/// empty when they do not. Coordinates are easting and northing, or longitude and latitude, or the first two
/// of three columns without names.
std::optional<GridData> to_grid(const Table& table);
/// Whether it has three columns without names: x, y and z of points.
bool holds_bare_points(const Table& table);
GridData to_grid_data(const Grid& grid, std::string name, std::string unit);

/// Converts a property that model/properties.hpp knows into SI units; other columns, and those without a
/// unit, stay as they are. Throws InputError (a unit of another quantity).
void to_si(Column& column);

/// The model with all columns whose names are known properties; column `field`, when it is not empty, is read
/// as `property`. Throws InputError when there is none of these or a value is not allowed.
EarthModel to_earth_model(const MeshData& data, std::string_view property = "density",
                          std::string_view field = {});
EarthModel to_earth_model(PrismData data);
/// MeshData or PrismData with all properties of the model.
Content to_content(const EarthModel& model, Attributes attributes = {});

/// Prisms from columns west, east, south, north, bottom, top and known properties, or x1 y1 z1 x2 y2 z2 rho
/// with corners in any order (z up). length_unit stands in where the file gives none, unit where it gives
/// none for `property`. Throws InputError.
PrismData to_prisms(const Table& table, std::string_view length_unit = {}, std::string_view unit = {},
                    std::string_view property = "density");
Table to_table(const PrismData& prisms);
bool holds_prisms(const Table& table);

}  // namespace terrane::io
