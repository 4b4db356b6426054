// Writes data sets to files of any format: NetCDF with all variables, HDF5 and VTK with the fields in cells,
// all other formats with a table.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/io/content.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {

/// A table with one row per entry of the dimensions of the first variable, outermost first: the coordinates,
/// repeated as needed (a dimension without coordinate is numbered from 0), then the variables. A complex
/// variable becomes two columns, NAME_real and NAME_imag. Variables on other dimensions are left out. Throws
/// InputError (no variable; a variable of texts).
Table to_table(const Dataset& data);

/// Whether a data set has fields at stations: its first variable has the dimension "station" alone, or
/// northing and easting, and the height, "up", has the same dimensions.
bool has_stations(const Dataset& data);

/// Fields at stations as a table, or as a grid if they form one. all_columns: also observed data and other
/// input columns; if false, only computed ones, so that a format with few columns never writes an observation
/// instead of them. Variables on other dimensions are left out; variables may be without values.
Content stations_of(const Dataset& data, bool all_columns);

/// The variables with last dimensions cell_up, cell_northing, cell_easting, as properties of the cells of a
/// mesh; its faces are the coordinates face_up, face_northing, face_easting. Each entry of the dimensions
/// before these becomes a separate column, such as e_u_cells_source_1_frequency_0.5_real; complex values
/// become two. Throws InputError (no such variable or coordinate).
MeshData to_mesh(const Dataset& data);

/// Names of the variables that to_table() leaves out.
std::vector<std::string> left_out(const Dataset& data);

/// The names of the variables that the file would not contain. Throws UnsupportedError if the format cannot
/// hold data sets, and all that write() would throw because of the content; variables may be without values.
std::vector<std::string> left_out(const std::string& path, const Dataset& data,
                                  const WriteOptions& options = {});

/// The files that write() makes (registry.hpp); variables except coordinates may be without values.
std::vector<std::string> written_files(const std::string& path, const Dataset& data,
                                       const WriteOptions& options = {});

/// Writes in the format given by the extension of `path`. A .npy file holds the first variable, which must be
/// real; or, if the data are fields at stations, all computed fields [fields, stations]. .h5 and .vtr files
/// hold the result of to_mesh(). Throws UnsupportedError, FileError.
void write(const std::string& path, const Dataset& data, const WriteOptions& options = {});

}  // namespace terrane::io
