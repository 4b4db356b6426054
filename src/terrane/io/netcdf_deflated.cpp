#include "terrane/io/netcdf_deflated.hpp"

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_mem.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/io/hdf5_image.hpp"

namespace terrane::io {

namespace {

/// The variable's name in HDF5: netCDF adds a prefix if it is also the name of a dimension that is not the
/// variable's first.
int name_in_hdf5(int file, int variable, std::string& name) {
  std::array<char, NC_MAX_NAME + 1> own{};
  int rank = 0, dimension = -1;
  int status = nc_inq_varname(file, variable, own.data());
  if (status == NC_NOERR) status = nc_inq_varndims(file, variable, &rank);
  std::vector<int> dimensions(static_cast<std::size_t>(rank));
  if (status == NC_NOERR) status = nc_inq_vardimid(file, variable, dimensions.data());
  name = own.data();
  if (status == NC_NOERR && nc_inq_dimid(file, own.data(), &dimension) == NC_NOERR &&
      (dimensions.empty() || dimensions.front() != dimension))
    name.insert(0, "_nc4_non_coord_");
  return status;
}

}  // namespace

void check_written(int status, const std::string& path) {
  if (status != NC_NOERR)
    throw FileError(path, fmt::format("cannot be written as NetCDF: {}", nc_strerror(status)),
                    "Nothing was left behind.");
}

int define_deflated(int file, int variable, std::vector<std::size_t> shape, Deflated& out) {
  nc_type type = NC_NAT;
  int status = nc_inq_vartype(file, variable, &type);
  if (status == NC_NOERR) status = nc_inq_type(file, type, nullptr, &out.width);
  if (status == NC_NOERR) status = name_in_hdf5(file, variable, out.name);
  if (status != NC_NOERR) return status;
  out.shape = std::move(shape);
  const auto chunk = chunk_of(out.shape, out.width);
  status = nc_def_var_chunking(file, variable, NC_CHUNKED, chunk.data());
  return status == NC_NOERR ? nc_def_var_deflate(file, variable, 1, 1, deflate_level) : status;
}

void write_closed(int file, const std::vector<Deflated>& all, AtomicFile& out) {
  NC_memio image{};
  check_written(nc_close_memio(file, &image), out.path());
  std::unique_ptr<void, decltype(&std::free)> owner(image.memory, std::free);
  const auto begun = hdf5_image(image.memory, image.size);
  if (all.empty()) return out.write(begun);
  Hdf5InMemory whole(out.path(), begun);
  owner.reset();
  const bool stored = whole.file() >= 0 && store_deflated(whole.file(), all);
  const auto bytes = stored ? whole.close() : std::string_view();
  if (bytes.empty()) check_written(NC_EHDFERR, out.path());
  out.write(bytes);
}

}  // namespace terrane::io
