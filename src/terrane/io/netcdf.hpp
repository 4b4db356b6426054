// CF NetCDF: horizontal grids, station tables, and cells of tensor meshes.
//
// Grid: 1-D coordinate variables in either direction, fields on both; packed data are unpacked, fill values
// become NaN. Stations: one dimension. Mesh: 3-D variables whose coordinates are cell centres with bounds.
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

/// As NetCDF allows names: without slashes and control characters, no blank at the end, a letter, digit or
/// underscore at the start, and not too long.
std::string netcdf_name(std::string name);

/// Throws FileError where a name in the header of a classic file is longer than NetCDF allows: netCDF copies
/// it whole, into room that is meant for NC_MAX_NAME bytes. Of other files it says nothing.
void check_classic_names(const std::string& path);

}  // namespace terrane::io
