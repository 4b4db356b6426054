#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <netcdf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/files.hpp"
#include "terrane/io/hdf5.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/netcdf_sink.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Pair;
using namespace testing_support;

MeshData small_mesh() {
  return {TensorMesh({0, 1, 3}, {10, 15}, {-30, -10, 0}),
          {{"density", "kg/m3", "density", {1, 2, 3, 4}}},
          {{"title", "four cells"}}};
}

/// A grid as other programs write it, in NetCDF-3: y descending, packed int16 with a fill value, kilometres.
std::string packed_grid(const TemporaryFolder& folder) {
  auto path = folder / "packed.nc";
  int file = 0, x = 0, y = 0, vx = 0, vy = 0, v = 0;
  nc_create(path.c_str(), NC_CLOBBER, &file);
  nc_def_dim(file, "x", 3, &x);
  nc_def_dim(file, "y", 2, &y);
  nc_def_var(file, "x", NC_FLOAT, 1, &x, &vx);
  nc_def_var(file, "y", NC_DOUBLE, 1, &y, &vy);
  nc_put_att_text(file, vx, "units", 2, "km");
  nc_put_att_text(file, vy, "units", 2, "km");
  const int dimensions[] = {y, x};
  nc_def_var(file, "gravity", NC_SHORT, 2, dimensions, &v);
  const short fill = -1;
  const double scale = 0.5, offset = 100;
  nc_put_att_short(file, v, "_FillValue", NC_SHORT, 1, &fill);
  nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &scale);
  nc_put_att_double(file, v, "add_offset", NC_DOUBLE, 1, &offset);
  nc_put_att_text(file, v, "units", 4, "mGal");
  nc_enddef(file);
  const double xs[] = {1, 2, 3}, ys[] = {9, 8};
  const short values[] = {0, 1, -1, 3, 4, 5};
  nc_put_var_double(file, vx, xs);
  nc_put_var_double(file, vy, ys);
  nc_put_var_short(file, v, values);
  nc_close(file);
  return path;
}

TEST(NetCdfGrid, IsUnpackedAndTurnedSouthToNorth) {
  const TemporaryFolder folder;
  const auto g = std::get<GridData>(read_netcdf(packed_grid(folder)));
  EXPECT_THAT(g.easting, ElementsAre(1000, 2000, 3000));
  EXPECT_THAT(g.northing, ElementsAre(8000, 9000));
  EXPECT_FALSE(g.geographic);
  EXPECT_THAT(g.fields.at(0).values, ElementsAre(101.5, 102, 102.5, 100, 100.5, IsNan()));
  EXPECT_EQ(g.fields[0].unit, "mGal");
}

TEST(NetCdfGrid, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  GridData g;
  g.easting = {0, 1, 5};
  g.northing = {3, 4};
  g.fields = {{"up", "m", "", {1, 2, 3, 4, 5, 6}},
              {"g_u", "mGal", "gravity, up", {.1, .2, .3, .4, .5, std::nan("")}}};
  g.projection = "EPSG:32735";
  g.attributes = {{"frame", "enu"}, {"job", "[mesh]\nsize = 1\n"}};
  write_netcdf(folder / "a.nc", g);
  const auto again = std::get<GridData>(read_netcdf(folder / "a.nc"));
  EXPECT_EQ(again.easting, g.easting);
  EXPECT_EQ(again.northing, g.northing);
  EXPECT_EQ(again.find("up")->values, g.find("up")->values);
  EXPECT_THAT(again.find("g_u")->values, ElementsAre(.1, .2, .3, .4, .5, IsNan()));
  EXPECT_EQ(again.find("g_u")->description, "gravity, up");
  EXPECT_EQ(again.projection, g.projection);
  EXPECT_EQ(again.attributes, g.attributes);
  EXPECT_EQ(std::get<GridData>(read_netcdf(folder / "a.nc", "g_u")).fields.size(), 1U);
  g.geographic = true;
  write_netcdf(folder / "a.nc", g);
  EXPECT_TRUE(std::get<GridData>(read_netcdf(folder / "a.nc")).geographic);
}

TEST(NetCdfGrid, StoresInSinglePrecisionOnlyWhatIsMarkedSo) {
  const TemporaryFolder folder;
  GridData grid{{0, 1}, {0}, false, {{"fine", "1", "", {0.1, 0.2}}, {"coarse", "1", "", {0.1, 0.2}, true}},
                "",     {}};
  write_netcdf(folder / "grid.nc", grid);
  const auto back = std::get<GridData>(read_netcdf(folder / "grid.nc"));
  EXPECT_THAT(back.find("fine")->values, ElementsAre(0.1, 0.2));
  EXPECT_THAT(back.find("coarse")->values, ElementsAre(double{0.1F}, double{0.2F}));
}

TEST(NetCdfTable, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  Table t;
  t.columns = {{"easting", "m", "", {1, 2}},
               {"northing", "m", "", {3, 4}},
               {"up", "m", "", {5, 6}},
               {"g_u", "mGal", "", {7, std::nan("")}}};
  t.texts = {{"name", {"A", "B"}, 0}};
  write_netcdf(folder / "a.nc", t);
  const auto again = std::get<Table>(read_netcdf(folder / "a.nc"));
  EXPECT_EQ(to_survey(again).up, (std::vector<double>{5, 6}));
  EXPECT_THAT(again.find("g_u")->values, ElementsAre(7, IsNan()));
  EXPECT_EQ(again.find("g_u")->unit, "mGal");
  EXPECT_THAT(again.texts.at(0).values, ElementsAre("A", "B"));
}

TEST(NetCdfMesh, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  write_netcdf(folder / "a.nc", small_mesh());
  const auto again = std::get<MeshData>(read_netcdf(folder / "a.nc"));
  EXPECT_THAT(again.mesh.easting(), ElementsAre(0, 1, 3));
  EXPECT_THAT(again.mesh.northing(), ElementsAre(10, 15));
  EXPECT_THAT(again.mesh.up(), ElementsAre(-30, -10, 0));
  EXPECT_THAT(again.find("density")->values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(again.attributes, ElementsAre(Pair("title", "four cells")));
}

/// A density on (easting, northing, depth) with evenly spaced centres and no bounds, in g/cm³.
TEST(NetCdfMesh, TakesDepthsDownAndAxesInAnyOrder) {
  const TemporaryFolder folder;
  const auto path = folder / "depth.nc";
  int file = 0, v = 0, axes[3];
  int dimensions[3];
  nc_create(path.c_str(), NC_NETCDF4, &file);
  const char* names[] = {"easting", "northing", "depth"};
  for (int a = 0; a < 3; ++a) {
    nc_def_dim(file, names[a], 2, &dimensions[a]);
    nc_def_var(file, names[a], NC_DOUBLE, 1, &dimensions[a], &axes[a]);
    nc_put_att_text(file, axes[a], "units", 1, "m");
    const double centres[] = {5, 15};
    nc_put_var_double(file, axes[a], centres);
  }
  nc_put_att_text(file, axes[2], "positive", 4, "down");
  nc_def_var(file, "density", NC_DOUBLE, 3, dimensions, &v);
  nc_put_att_text(file, v, "units", 5, "g/cm3");
  const double values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  nc_put_var_double(file, v, values);
  nc_close(file);
  const auto data = std::get<MeshData>(read_netcdf(path));
  EXPECT_THAT(data.mesh.up(), ElementsAre(-20, -10, 0));
  EXPECT_THAT(data.find("density")->values, ElementsAre(1000, 5000, 3000, 7000, 0, 4000, 2000, 6000));
  EXPECT_EQ(data.find("density")->unit, "kg/m3");
}

/// As images of two dimensions are written.
TEST(NetCdfMesh, ALoneCellAlongNorthingWithoutBoundsIsGuessedAsWideAsTheOthersAreApart) {
  const TemporaryFolder folder;
  Dataset image;
  image.dimensions = {{"up", 2}, {"northing", 1}, {"easting", 3}};
  image.coordinates = {{"up", "m", "up", {"up"}, std::vector<double>{-30, -10}, {}},
                       {"northing", "m", "northing", {"northing"}, std::vector<double>{5}, {}},
                       {"easting", "m", "easting", {"easting"}, std::vector<double>{0, 10, 20}, {}}};
  image.variables = {
      {"image", "Pa2", "image", {"up", "northing", "easting"}, std::vector<double>{1, 2, 3, 4, 5, 6}, {}}};
  write_netcdf(folder / "image.nc", image);
  const auto data = std::get<MeshData>(read_netcdf(folder / "image.nc"));
  EXPECT_THAT(data.mesh.northing(), ElementsAre(0, 10));
  EXPECT_THAT(data.find("image")->values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(data.width_is_guessed);
  image.dimensions = {{"up", 2}, {"northing", 3}, {"easting", 1}};
  for (auto& axis : image.coordinates) {
    if (axis.name == "easting") axis.values = std::vector<double>{0};
    if (axis.name == "northing") axis.values = std::vector<double>{5, 15, 25};
  }
  write_netcdf(folder / "slab.nc", image);
  EXPECT_THAT(message([&] { read_netcdf(folder / "slab.nc"); }),
              HasSubstr("coordinate \"easting\" has one cell and no bounds"));
}

TEST(NetCdf, SaysWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { read_netcdf(folder / "none.nc"); }),
              AllOf(HasSubstr("none.nc"), HasSubstr("No such file")));
  EXPECT_THAT(message([&] { read_netcdf(folder.put("text.nc", "hello")); }),
              AllOf(HasSubstr("text.nc"), HasSubstr("cannot be opened as NetCDF")));
  const auto path = packed_grid(folder);
  EXPECT_THAT(message([&] { read_netcdf(path, "gravit"); }),
              AllOf(HasSubstr("no variable \"gravit\""), HasSubstr("gravity")));
  const auto bytes = bytes_of(path);
  EXPECT_THAT(message([&] { read_netcdf(folder.put("cut.nc", bytes.substr(0, bytes.size() / 2))); }),
              HasSubstr("cut.nc"));
}

TEST(NetCdf, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  auto mesh = small_mesh();
  mesh.cells.push_back(mesh.cells[0]);  // two variables of one name
  EXPECT_THAT(message([&] { write_netcdf(folder / "a.nc", mesh); }),
              AllOf(HasSubstr("a.nc"), HasSubstr("cannot be written")));
  EXPECT_THAT(message([&] { write_hdf5(folder / "a.h5", mesh); }),
              AllOf(HasSubstr("a.h5"), HasSubstr("cannot be written")));
  EXPECT_EQ(folder.entries(), 0U);
  EXPECT_THAT(message([&] { write_netcdf(folder / "no/a.nc", mesh); }), HasSubstr("Create the folder first"));
}

TEST(Hdf5Mesh, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  auto data = small_mesh();
  data.cells.push_back({"susceptibility", "1", "", {5, 6, 7, std::nan("")}});
  data.attributes["job"] = std::string(100'000, 'x');
  write_hdf5(folder / "a.h5", data);
  const auto again = read_hdf5(folder / "a.h5");
  EXPECT_EQ(again.mesh.up(), data.mesh.up());
  EXPECT_EQ(again.mesh.easting(), data.mesh.easting());
  EXPECT_EQ(again.find("density")->values, data.cells[0].values);
  EXPECT_EQ(again.find("density")->unit, "kg/m3");
  EXPECT_THAT(again.find("susceptibility")->values, ElementsAre(5, 6, 7, IsNan()));
  EXPECT_EQ(again.attributes, data.attributes);
}

TEST(Hdf5Mesh, SaysWhatItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { read_hdf5(folder / "none.h5"); }),
              AllOf(HasSubstr("none.h5"), HasSubstr("No such file")));
  EXPECT_THAT(message([&] { read_hdf5(folder.put("text.h5", "hello")); }),
              HasSubstr("cannot be opened as HDF5"));
  write_hdf5(folder / "a.h5", small_mesh());
  const auto bytes = bytes_of(folder / "a.h5");
  EXPECT_THAT(message([&] { read_hdf5(folder.put("cut.h5", bytes.substr(0, bytes.size() / 2))); }),
              HasSubstr("cut.h5"));
  const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lmove(file, "up", file, "top", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THAT(message([&] { read_hdf5(folder / "a.h5"); }),
              AllOf(HasSubstr("no dataset \"up\""), HasSubstr("easting, northing and up")));
  const hid_t again = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcopy(again, "easting", again, "up", H5P_DEFAULT, H5P_DEFAULT);
  H5Ldelete(again, "top", H5P_DEFAULT);
  H5Lcopy(again, "northing", again, "wrong", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(again);
  EXPECT_THAT(message([&] { read_hdf5(folder / "a.h5"); }),
              AllOf(HasSubstr("\"wrong\" has the shape [2]"), HasSubstr("[2, 1, 2] cells")));
}

TEST(NetCdfAndHdf5, AreReadAndWrittenByManyThreadsAtOnce) {
  const TemporaryFolder folder;
  std::atomic<int> whole{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (int turn = 0; turn < 15; ++turn) {
          const auto path = folder / fmt::format("{}.{}", t, (t + turn) % 2 == 0 ? "h5" : "nc");
          const bool hdf5 = path.ends_with("h5");
          if (hdf5) write_hdf5(path, small_mesh());
          else write_netcdf(path, small_mesh());
          const auto back = hdf5 ? read_hdf5(path) : std::get<MeshData>(read_netcdf(path));
          if (back.cells.at(0).values == small_mesh().cells.at(0).values) ++whole;
        }
      });
  }
  EXPECT_EQ(whole, 8 * 15);
}

TEST(NetCdfAndHdf5, AreReadInAProcessForkedWhileAnotherThreadWrites) {
  const TemporaryFolder folder;
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    while (!stop) write_netcdf(folder / "busy.nc", small_mesh());
  });
  write_hdf5(folder / "mesh.h5", small_mesh());
  for (int child = 0; child < 20; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      _exit(read_hdf5(folder / "mesh.h5").cells.size() == 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
}

/// A classic file with one dimension and an attribute of it that have such long names.
std::string classic_file(std::size_t dimension_name, std::size_t attribute_name) {
  const auto number = [](std::size_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
  };
  const auto name = [&](std::size_t size) {
    return number(size) + std::string(size, 'a') + std::string((4 - size % 4) % 4, '\0');
  };
  const std::string none = number(0) + number(0);
  const auto attribute =
      number(12) + number(1) + name(attribute_name) + number(2) + number(1) + "x" + std::string(3, '\0');
  return "CDF\x01" + number(0) + number(10) + number(1) + name(dimension_name) + number(2) + attribute + none;
}

TEST(NetcdfFiles, OfTheClassicFormatWithNamesThatAreTooLongAreRefusedBeforeTheLibraryCopiesThem) {
  const TemporaryFolder folder;
  const auto said = [&](std::size_t dimension, std::size_t attribute) {
    return message([&] { read_netcdf(folder.put("classic.nc", classic_file(dimension, attribute))); });
  };
  EXPECT_THAT(said(5000, 4), HasSubstr("a name of 5000 bytes; NetCDF allows 256"));
  EXPECT_THAT(said(4, 257), HasSubstr("a name of 257 bytes; NetCDF allows 256"));
  EXPECT_THAT(said(256, 256), testing::Not(HasSubstr("a name of")));
}

}  // namespace
}  // namespace terrane::io
