// Data sets into files of any format: NetCDF as they are, HDF5 and VTK the fields of cells, all else as a
// table.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/io/content.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {

/// One row per entry of the dimensions that the first variable has, outermost first: the coordinates,
/// repeated where they need it (a dimension without one is counted from 0), then the variables. A complex
/// variable is two columns, NAME_real and NAME_imag. Variables on other dimensions are left out. Throws
/// InputError (no variable; one of words).
Table to_table(const Dataset& data);

/// Whether a data set has fields at stations: its first variable is on the one dimension "station", or on
/// northing and easting, and so is the height, "up".
bool has_stations(const Dataset& data);

/// Fields at stations as a table, or as a grid where they form one. all_columns: also the observed and other
/// input columns; else computed ones alone, so that a format of few columns never writes an observation in
/// place of them. Variables on other dimensions are left out; variables may be without values.
Content stations_of(const Dataset& data, bool all_columns);

/// The variables whose last dimensions are cell_up, cell_northing, cell_easting as properties of the cells of
/// a mesh, whose faces are the coordinates face_up, face_northing, face_easting. Each entry of the dimensions
/// before the cells is a column of its own, such as e_u_cells_source_1_frequency_0.5_real: complex values are
/// two. Throws InputError (no such variable or coordinate).
MeshData to_mesh(const Dataset& data);

/// Names of the variables that to_table() leaves out.
std::vector<std::string> left_out(const Dataset& data);

/// Throws UnsupportedError where a format holds no data sets, and what write() throws because of this one;
/// values may be missing. Returns the names of the variables that the file would not hold.
std::vector<std::string> left_out(const std::string& path, const Dataset& data,
                                  const WriteOptions& options = {});

/// The files that write() makes (registry.hpp); values may be missing, but for those of coordinates.
std::vector<std::string> written_files(const std::string& path, const Dataset& data,
                                       const WriteOptions& options = {});

/// By the extension of `path`; .npy is the first variable, which must be real, or of fields at stations what
/// was computed, [fields, stations]; .h5 and .vtr are to_mesh(). Throws UnsupportedError, FileError.
void write(const std::string& path, const Dataset& data, const WriteOptions& options = {});

}  // namespace terrane::io
