// CF NetCDF: horizontal grids, station tables, and cells of tensor meshes.
//
// Grid: 1-D coordinate variables in either direction, fields on both; packed data are unpacked, fill values
// become NaN. Stations: one dimension. Mesh: 3-D variables whose coordinates are cell centres with bounds.
// Grids of GMT 3 (x_range, y_range, spacing, dimension, z) are read as well.
//
//   scale_factor, add_offset      applied
//   _FillValue, missing_value     applied, each of several; without them what NetCDF fills in
//   _Unsigned                     applied to values, fills and valid ranges
//   valid_min, _max, _range       what lies outside is a gap; of packed values, or of the type of others
//   units of coordinates          degrees and lengths; others are refused; none: unit_is_assumed
//   positive, names of depths     applied to vertical axes; of fields: GridData::downward
//   formula_terms                 refused: the axis has no heights
//   grid_mapping                  its crs_wkt is the projection; rotated poles are refused
//   axis, standard_name           say which way a coordinate goes
//   bounds                        applied to meshes
//   node_offset of GMT 3          applied: pixels end at the range
#pragma once

#include <string>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// GridData, Table or MeshData. field: read only this variable. Throws FileError, InputError.
Content read_netcdf(const std::string& path, const std::string& field = {}, std::size_t memory = 0);
/// Whether a variable is on time and on receiver or trace: then the file is read as a data set. Throws
/// FileError.
bool holds_gathers(const std::string& path);
void write_netcdf(const std::string& path, const GridData& grid);
void write_netcdf(const std::string& path, const Table& table);
void write_netcdf(const std::string& path, const MeshData& mesh);

/// Makes a name that NetCDF allows: without slashes and control characters, no blank at the end, a letter,
/// digit or underscore at the start, and not too long.
std::string netcdf_name(std::string name);

/// Throws FileError where a name in the header of a classic file is longer than NetCDF allows: netCDF copies
/// it whole into a buffer of NC_MAX_NAME bytes. Other files pass unchecked.
void check_classic_names(const std::string& path);

}  // namespace terrane::io
