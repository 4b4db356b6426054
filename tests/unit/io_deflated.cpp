#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "support/files.hpp"
#include "terrane/io/deflated.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/interruptible.hpp"

namespace terrane::io {
namespace {

using testing::ElementsAre;
using namespace testing_support;

/// Numbers as fields have them: smooth, with noise in the last digits.
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> out(count);
  for (std::size_t n = 0; n < count; ++n) {
    const auto x = static_cast<double>(n);
    out[n] = static_cast<T>(100 * std::sin(1e-3 * x) + std::fmod(1e-3 * x * x, 1.0));
  }
  return out;
}

/// Variables longer than a chunk, whose last chunks are not full; one has the name of a dimension that it
/// does not lie on, which HDF5 gets to know by another name.
Dataset long_variables() {
  Dataset data;
  data.dimensions = {{"shot", 3}, {"receiver", 7}, {"time", 29'989}, {"station", 70'001}};
  std::vector<std::complex<double>> phasors(70'001);
  for (std::size_t n = 0; n < phasors.size(); ++n)
    phasors[n] = std::polar(1.0, 1e-4 * static_cast<double>(n));
  auto gaps = numbers<double>(70'001);
  gaps[17] = gaps[65'999] = NAN;
  data.coordinates = {{"time", "s", "", {"time"}, numbers<double>(29'989), {}},
                      {"shot", "", "", {"station"}, numbers<std::int32_t>(70'001), {}}};
  data.variables = {
      {"p", "Pa", "", {"shot", "receiver", "time"}, numbers<float>(std::size_t{21} * 29'989), {}},
      {"e", "V/m", "", {"station"}, std::move(phasors), {}},
      {"g_u", "m/s2", "", {"station"}, std::move(gaps), {}},
      {"mark", "1", "", {"station"}, std::vector<unsigned char>(70'001, 3), {}}};
  return data;
}

/// The bytes of a variable, as netCDF reads them.
std::string read_by_netcdf(int file, const std::string& name) {
  int variable = 0, rank = 0;
  nc_type type = NC_NAT;
  std::size_t width = 0;
  EXPECT_EQ(nc_inq_varid(file, name.c_str(), &variable), NC_NOERR) << name;
  std::vector<int> dimensions(NC_MAX_VAR_DIMS);
  nc_inq_var(file, variable, nullptr, &type, &rank, dimensions.data(), nullptr);
  nc_inq_type(file, type, nullptr, &width);
  for (int d = 0; d < rank; ++d) {
    std::size_t size = 0;
    nc_inq_dimlen(file, dimensions[static_cast<std::size_t>(d)], &size);
    width *= size;
  }
  std::string bytes(width, '\0');
  EXPECT_EQ(nc_get_var(file, variable, bytes.data()), NC_NOERR) << name;
  return bytes;
}

std::string numbers_of(const Variable& v) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        std::string bytes;
        if constexpr (!std::is_same_v<T, std::string>)
          bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        return bytes;
      },
      v.values);
}

/// Python's interpreter, asked while HDF5 is locked, would wait for a thread that waits for the lock.
TEST(DeflatedVariables, AreStoredWithoutAskingWhetherTheUserWantsToStop) {
  const TemporaryFolder folder;
  const auto data = long_variables();
  int asked = 0;
  const Interruptible stops([&] { return ++asked < 0; });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // it is asked at most every 50 ms
  write_netcdf(folder / "a.nc", data);
  EXPECT_EQ(asked, 0);
  for_each(1, 1, [](std::size_t) {});
  EXPECT_EQ(asked, 1);
}

TEST(DeflatedVariables, AreReadByNetcdfAsItWouldHaveWrittenThem) {
  const TemporaryFolder folder;
  const auto data = long_variables();
  write_netcdf(folder / "a.nc", data);
  int file = 0, variable = 0, shuffled = 0, deflated = 0, level = 0;
  ASSERT_EQ(nc_open((folder / "a.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) {
      EXPECT_TRUE(read_by_netcdf(file, v.name) == numbers_of(v)) << v.name;
      nc_inq_varid(file, v.name.c_str(), &variable);
      nc_inq_var_deflate(file, variable, &shuffled, &deflated, &level);
      EXPECT_THAT((std::array{shuffled, deflated, level}), ElementsAre(1, 1, deflate_level)) << v.name;
    }
  nc_close(file);

  // The slow twin: netCDF compresses the pressures in the same chunks, in one thread.
  const auto& pressure = std::get<std::vector<float>>(data.variables[0].values);
  const std::vector<std::size_t> shape{3, 7, 29'989}, chunk = chunk_of(shape, sizeof(float));
  std::vector<int> dimensions(3);
  ASSERT_EQ(nc_create((folder / "twin.nc").c_str(), NC_NETCDF4, &file), NC_NOERR);
  for (std::size_t d = 0; d < 3; ++d)
    nc_def_dim(file, data.dimensions[d].name.c_str(), shape[d], &dimensions[d]);
  nc_def_var(file, "p", NC_FLOAT, 3, dimensions.data(), &variable);
  nc_def_var_chunking(file, variable, NC_CHUNKED, chunk.data());
  nc_def_var_deflate(file, variable, 1, 1, deflate_level);
  nc_put_var_float(file, variable, pressure.data());
  ASSERT_EQ(nc_close(file), NC_NOERR);
  const auto first_chunk = [&](const std::string& path) {
    const Hdf5Handle in(open_hdf5(path), H5Fclose), p(H5Dopen2(in, "p", H5P_DEFAULT), H5Dclose);
    const hsize_t start[3]{};
    hsize_t size = 0;
    EXPECT_GE(H5Dget_chunk_storage_size(p, start, &size), 0);
    std::string bytes(size, '\0');
    std::uint32_t filters = 1;
    EXPECT_GE(H5Dread_chunk(p, H5P_DEFAULT, start, &filters, bytes.data()), 0);
    EXPECT_EQ(filters, 0U);
    return bytes;
  };
  EXPECT_TRUE(first_chunk(folder / "a.nc") == first_chunk(folder / "twin.nc"));
}

TEST(DeflatedVariables, ReplaceAFileThatIsThere) {
  const TemporaryFolder folder;
  const auto data = long_variables();
  write_netcdf(folder / "a.nc", data);
  const auto first = bytes_of(folder / "a.nc");
  write_netcdf(folder / "a.nc", data);
  EXPECT_TRUE(bytes_of(folder / "a.nc") == first);
}

TEST(DeflatedVariables, HaveTheSameBytesOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const auto data = long_variables();
  write_netcdf(folder / "many.nc", data);
  for_each(2, 2, [&](std::size_t n) {
    if (n == 0) write_netcdf(folder / "one.nc", data);  // a task has its own thread alone
  });
  EXPECT_TRUE(bytes_of(folder / "many.nc") == bytes_of(folder / "one.nc"));
}

TEST(DeflatedVariables, AreCutIntoRunsOfAtMostHalfAMebibyte) {
  EXPECT_THAT(chunk_of({15'000}, 8), ElementsAre(15'000));
  EXPECT_THAT(chunk_of({1'000'000}, 8), ElementsAre(62'500));
  EXPECT_THAT(chunk_of({200, 3, 5'000}, 4), ElementsAre(8, 3, 5'000));
  EXPECT_THAT(chunk_of({5, 4, 100'001}, 8), ElementsAre(1, 1, 50'001));
  EXPECT_THAT(chunk_of({1, 300'000, 2}, 8), ElementsAre(1, 30'000, 2));
}

TEST(DeflatedVariables, OfMeshesComeBackInBothFormats) {
  const TemporaryFolder folder;
  std::array<std::vector<double>, 3> faces{std::vector<double>(52), std::vector<double>(42),
                                           std::vector<double>(62)};
  for (auto& of : faces) std::iota(of.begin(), of.end(), -40.0);
  const MeshData mesh{TensorMesh(faces[0], faces[1], faces[2]),
                      {{"density", "kg/m3", "", numbers<double>(std::size_t{51} * 41 * 61)},
                       {"velocity_p", "m/s", "", numbers<double>(std::size_t{51} * 41 * 61), true}},
                      {}};
  write_netcdf(folder / "a.nc", mesh);
  write_hdf5(folder / "a.h5", mesh);
  for (const auto& read : {std::get<MeshData>(read_netcdf(folder / "a.nc")), read_hdf5(folder / "a.h5")}) {
    ASSERT_EQ(read.cells.size(), 2U);
    for (const auto& column : read.cells) {
      const auto& written = mesh.cells[column.name == "density" ? 0 : 1].values;
      if (column.name == "density") EXPECT_TRUE(column.values == written);
      else
        for (std::size_t n = 0; n < written.size(); n += 997)
          EXPECT_FLOAT_EQ(static_cast<float>(column.values[n]), static_cast<float>(written[n]));
    }
  }
}

TEST(DeflatedVariables, BeyondSinglePrecisionAreRefusedWhereTheyAreToBeStoredInIt) {
  const TemporaryFolder folder;
  Table table;
  table.columns = {{"easting", "m", "", numbers<double>(5'000)}, {"g", "", "", numbers<double>(5'000), true}};
  table.columns[1].values[4'321] = 1e39;
  EXPECT_THAT(message([&] { write_netcdf(folder / "a.nc", table); }),
              testing::HasSubstr("not representable"));
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace terrane::io
