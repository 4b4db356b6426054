// Replaces geotiff.cpp in builds without libtiff.
#include "terrane/base/error.hpp"
#include "terrane/io/geotiff.hpp"

namespace terrane::io {

bool reads_geotiff() noexcept { return false; }

GridData read_geotiff(const std::string& name, std::string_view, std::size_t) {
  throw UnsupportedError(name, "is a TIFF, and this program was built without libtiff",
                         "`gdal_translate -of netCDF IN OUT.nc` makes NetCDF of it; or install libtiff 4.5 "
                         "(Debian: libtiff-dev) and build again.");
}

}  // namespace terrane::io
