// CF NetCDF: horizontal grids, station tables, and cells of tensor meshes.
//
// Grid: 1-D coordinate variables, ascending or descending, and fields on both; packed data are unpacked, fill
// values become NaN. Stations: one dimension. Mesh: 3-D variables whose coordinates are cell centres with
// bounds. Grids of GMT 3 (x_range, y_range, spacing, dimension, z) are read as well.
//
//   scale_factor, add_offset      applied; one finite number, also as text, otherwise refused
//   _FillValue, missing_value     applied, also several values; without them NetCDF's default fill values
//   _Unsigned                     applied to values, fill values and valid ranges
//   valid_min, _max, _range       values outside are gaps; the range is of packed values, or of unpacked ones
//                                 if it has their type
//   units of coordinates          degrees east and north, lengths; others are refused; none: unit_is_assumed
//   positive, names of depths     applied to vertical axes and to columns; for fields: GridData::downward
//   formula_terms                 refused: the axis has no heights
//   grid_mapping                  its crs_wkt is the projection, otherwise noted; rotated poles are refused
//   groups, further axes          groups and variables on other axes are noted; another axis with several
//                                 entries is refused
//   axis, standard_name           give the direction of a coordinate
//   bounds                        applied to meshes
//   node_offset of GMT 3          applied: if 1, the range ends at the edges of pixels, not at nodes
#pragma once

#include <string>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// GridData, Table or MeshData. field: name of the only variable to read. Throws FileError, InputError.
Content read_netcdf(const std::string& path, const std::string& field = {}, std::size_t memory = 0);
/// Whether a variable has the dimension time, and receiver or trace: then the file is read as a data set.
/// Throws FileError.
bool holds_gathers(const std::string& path);
void write_netcdf(const std::string& path, const GridData& grid);
void write_netcdf(const std::string& path, const Table& table);
void write_netcdf(const std::string& path, const MeshData& mesh);

/// Converts to a name that NetCDF allows: without slashes and control characters, without a blank at the end,
/// beginning with a letter, digit or underscore, and not too long.
std::string netcdf_name(std::string name);

/// Throws FileError if a name in the header of a classic file is longer than NetCDF allows: netCDF copies it
/// to a buffer of NC_MAX_NAME bytes without a check. Files of other kinds are not checked.
void check_classic_names(const std::string& path);

}  // namespace terrane::io
