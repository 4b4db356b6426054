// Data sets into files of any format: NetCDF as they are, HDF5 and VTK the fields of cells, all else as a
// table.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"
#include "terrane/io/content.hpp"

namespace terrane::io {

/// One row per entry of the dimensions that the first variable has, outermost first: the coordinates,
/// repeated where they need it (a dimension without one is counted from 0), then the variables. A complex
/// variable is two columns, NAME_real and NAME_imag. Variables on other dimensions are left out. Throws
/// InputError (no variable; one of words).
Table to_table(const Dataset& data);

/// The variables whose last dimensions are cell_up, cell_northing, cell_easting as properties of the cells of
/// a mesh, whose faces are the coordinates face_up, face_northing, face_easting. Each entry of the dimensions
/// before the cells is a column of its own, such as e_u_cells_source_1_frequency_0.5_real: complex values are
/// two. Throws InputError (no such variable or coordinate).
MeshData to_mesh(const Dataset& data);

/// Names of the variables that to_table() leaves out.
std::vector<std::string> left_out(const Dataset& data);

/// Throws UnsupportedError where a format holds no data sets, and what write() throws because of this one;
/// values may be missing. Returns the names of the variables that the file would not hold.
std::vector<std::string> left_out(const std::string& path, const Dataset& data);

/// The files that write() makes (registry.hpp); values may be missing, but for those of coordinates.
std::vector<std::string> written_files(const std::string& path, const Dataset& data);

/// By the extension of `path`; .npy is the first variable, which must be real; .h5 and .vtr are to_mesh().
/// Throws UnsupportedError, FileError.
void write(const std::string& path, const Dataset& data);

}  // namespace terrane::io
