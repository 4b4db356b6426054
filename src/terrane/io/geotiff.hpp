// GeoTIFF grids (.tif): rows of nodes, mostly from north to south, with tags and keys for their positions
// (OGC 19-008r4). Read with libtiff; builds without it have no_geotiff.cpp, which reports that.
//
//   ModelPixelScale, ModelTiepoint   applied: x = X + (column - I) s_x, y = Y - (row - J) s_y, with
//                                    scales s and a tie point: column I, row J has coordinates X, Y
//   ModelTransformation              applied if it has no rotation; rotated grids are refused
//   several tie points alone         refused: they are control points
//   GTRasterType                     applied: values are at cell centres (area) or at nodes
//   GTModelType, EPSG codes          degrees or metres, and the projection; other map units become metres
//   scale and offset of heights      applied; from the tags and from GDAL_METADATA
//   units of heights                 applied; from VerticalUnits, the vertical system or GDAL_METADATA
//   GDAL_NODATA                      gaps; without it -32768, -9999 and -3.4e38 are gaps, with a note
//   bands                            one field each; transparent nodes (alpha, mask) are gaps
//   further images                   copies at other resolutions are skipped, others noted
//   colours, complex numbers         refused
//   geodetic datum                   longitudes and latitudes are used as WGS84; another datum is noted
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Whether this build can read GeoTIFF.
bool reads_geotiff() noexcept;

/// Whether the first bytes are those of a TIFF.
bool begins_tiff(std::string_view head);

/// bytes: the whole file; name: for messages; memory: maximum number of bytes for reading, 0: the free
/// memory. Throws InputError, MemoryError; UnsupportedError if reads_geotiff() is false.
GridData read_geotiff(const std::string& name, std::string_view bytes, std::size_t memory = 0);

}  // namespace terrane::io
