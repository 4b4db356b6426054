// VTKHDF for ParaView and PyVista: fields over time at points that cells join.
//
// Of a data set with
//
//   coordinates  point_easting, point_northing, point_up (point) [m]
//   variables    cell_points (cell, corner): quadrilaterals or bricks, points counted from 0 in VTK's order
//                NAME (point), NAME (point, component), or either after one more dimension, which is time
//
// the file has the points, the cells and those fields: an UnstructuredGrid of version 2.0, in which the mesh
// stands once and time steps follow (VTK File Formats, VTKHDF). The coordinate that has the name of the outer
// dimension says when.
#pragma once

#include <string>
#include <vector>

#include "terrane/data/dataset.hpp"

namespace terrane::io {

/// Throws UnsupportedError: no points and cells, or no field on them.
void write_vtkhdf(const std::string& path, const Dataset& data);
/// Names of the variables without a place in it; values may be missing. Throws what writing would throw.
std::vector<std::string> left_out_of_vtkhdf(const std::string& path, const Dataset& data);

}  // namespace terrane::io
