// Axes of evenly spaced nodes, which several grid formats require.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// n nodes from low to high.
std::vector<double> even_axis(double low, double high, std::size_t n);

/// The spacing, if all nodes keep it to 1e-6 of a cell. Throws an InputError that names the axis if they do
/// not, or if there are fewer than two nodes.
double even_spacing(const std::string& path, const std::string& name, const std::vector<double>& axis);

/// The field to write where a format holds one. Throws InputError as GridData::grid does.
const Column& one_field(const std::string& path, const GridData& grid, const std::string& field);

/// Numbers that stand for gaps become NaN: those that are `missing`, or that it becomes when it is printed
/// with six digits or more or in single precision, as programs that write grids do; where it is beyond 1e30,
/// all that are. Returns how many.
std::size_t make_gaps(std::vector<double>& values, double missing);

/// "srtm" from "data/srtm.asc.gz", or `otherwise` when nothing is left: the name of a field that has none.
std::string stem(const std::string& path, const std::string& otherwise);

}  // namespace terrane::io
