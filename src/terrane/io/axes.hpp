// Axes with evenly spaced nodes, which several grid formats require.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// n nodes from low to high.
std::vector<double> even_axis(double low, double high, std::size_t n);

/// The spacing of evenly spaced nodes (to 1e-6 of a cell). Throws InputError that names the axis if the
/// spacing is uneven or there are fewer than two nodes.
double even_spacing(const std::string& path, const std::string& name, const std::vector<double>& axis);

/// The field to write into a format that holds only one. Throws InputError as GridData::grid does.
const Column& one_field(const std::string& path, const GridData& grid, const std::string& field);

/// Replaces the values that mark gaps by NaN: values equal to `missing`, exactly or after it was printed with
/// six or more digits or in single precision, as programs that write grids do; if `missing` is beyond 1e30,
/// all values beyond 1e30. Returns the number of gaps.
std::size_t make_gaps(std::vector<double>& values, double missing);

/// A name for a field of a file without names, from the path of the file: "srtm" from "data/srtm.asc.gz";
/// `otherwise` if nothing is left of the path.
std::string stem(const std::string& path, const std::string& otherwise);

}  // namespace terrane::io
