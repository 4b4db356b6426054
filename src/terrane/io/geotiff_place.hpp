// The positions of a GeoTIFF's nodes, from its tags and keys (OGC 19-008r4), without any library.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The values of tags in the file; empty if a tag is missing.
struct GeotiffTags {
  std::vector<double> pixel_scale;           ///< tag 33550: s_x, s_y, s_z
  std::vector<double> tie_points;            ///< tag 33922: I, J, K, X, Y, Z of each tie point
  std::vector<double> transformation;        ///< tag 34264: 4 x 4, row by row
  std::vector<std::uint16_t> key_directory;  ///< tag 34735
  std::vector<double> key_numbers;           ///< tag 34736
  std::string key_words;                     ///< tag 34737
};

/// Conversion of stored values to heights: z = metres · (offset + scale · value), in `unit`.
struct GeotiffHeights {
  double scale = 1, offset = 0;
  double metres = 1;  ///< length in metres of a unit without a name in Terrane; `unit` is then "m"
  std::string unit;   ///< empty: not stated
};

/// The order of nodes in the file, and the unit of heights.
struct GeotiffPlace {
  bool rows_go_north = false, columns_go_west = false;
  bool map_in_metres = true;
  GeotiffHeights heights;
};

/// Sets the axes (ascending), kind of coordinates and projection of `grid`, and adds notes. Throws
/// InputError: no positions, rotated axes, or unknown units.
GeotiffPlace place_geotiff(const std::string& name, const GeotiffTags& tags, std::size_t columns,
                           std::size_t rows, GridData& grid, std::vector<std::string>& notes);

}  // namespace terrane::io
