// Where the nodes of a GeoTIFF are: its tags of places and its keys (OGC 19-008r4), without any library.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// The tags as they are in the file; empty where there are none.
struct GeotiffTags {
  std::vector<double> pixel_scale;           ///< 33550: s_x, s_y, s_z
  std::vector<double> tie_points;            ///< 33922: I, J, K, X, Y, Z of each
  std::vector<double> transformation;        ///< 34264: 4 x 4, row by row
  std::vector<std::uint16_t> key_directory;  ///< 34735
  std::vector<double> key_numbers;           ///< 34736
  std::string key_words;                     ///< 34737
};

/// The unit of heights: z = metres (offset + scale value), in `unit`.
struct GeotiffHeights {
  double scale = 1, offset = 0;
  double metres = 1;  ///< length in metres of a unit without a name here
  std::string unit;   ///< empty: not said
};

/// The order of nodes in the file, and the unit of its numbers.
struct GeotiffPlace {
  bool rows_go_north = false, columns_go_west = false;
  bool map_in_metres = true;
  GeotiffHeights heights;
};

/// Puts axes (ascending), kind, projection and notes into `grid`. Throws InputError: no places, turned axes,
/// or unknown units.
GeotiffPlace place_geotiff(const std::string& name, const GeotiffTags& tags, std::size_t columns,
                           std::size_t rows, GridData& grid, std::vector<std::string>& notes);

}  // namespace terrane::io
