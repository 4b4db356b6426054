// GeoTIFF grids (.tif): rows of nodes, mostly from north to south, with tags and keys that say where they are
// (OGC 19-008r4). By libtiff, which builds may lack: no_geotiff.cpp then says so.
//
//   ModelPixelScale, ModelTiepoint   applied: x = X + (column - I) s_x, y = Y - (row - J) s_y
//   ModelTransformation              applied where it turns nothing; turned grids are refused
//   several tie points alone         refused: they are control points
//   GTRasterType                     applied: a value belongs to a cell (area, half a cell inside) or a node
//   GTModelType, EPSG codes          degrees or metres, and the projection; units of maps become metres
//   scale and offset of heights      applied, of the tags and of GDAL_METADATA
//   units of heights                 of VerticalUnits, the vertical system or GDAL_METADATA: applied
//   GDAL_NODATA                      gaps; without it -32768, -9999 and -3.4e38 are gaps, and noted
//   bands                            a field each; transparency (alpha, a mask) makes gaps
//   further images                   copies at other scales are passed over, others noted
//   colours, complex numbers         refused
//   geodetic datum                   longitudes and latitudes count as WGS84's; another datum is noted
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Whether this build reads them.
bool reads_geotiff() noexcept;

/// Whether first bytes are those of a TIFF.
bool begins_tiff(std::string_view head);

/// bytes: the whole file; name: for messages; memory: bytes that reading may take, 0: what the machine has
/// left. Throws InputError, MemoryError; UnsupportedError where reads_geotiff() is false.
GridData read_geotiff(const std::string& name, std::string_view bytes, std::size_t memory = 0);

}  // namespace terrane::io
