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
#include "terrane/io/library_lock.hpp"
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

/// A grid of one row of four whole numbers of 16 bits; attributes: gives it some.
template <class Attributes>
std::vector<double> values_of_shorts(const TemporaryFolder& folder, const std::vector<short>& values,
                                     const Attributes& attributes) {
  const auto path = folder / "shorts.nc";
  int file = 0, x = 0, y = 0, vx = 0, vy = 0, v = 0;
  nc_create(path.c_str(), NC_CLOBBER, &file);
  nc_def_dim(file, "x", values.size(), &x);
  nc_def_dim(file, "y", 1, &y);
  nc_def_var(file, "x", NC_DOUBLE, 1, &x, &vx);
  nc_def_var(file, "y", NC_DOUBLE, 1, &y, &vy);
  const int dimensions[] = {y, x};
  nc_def_var(file, "z", NC_SHORT, 2, dimensions, &v);
  attributes(file, v);
  nc_enddef(file);
  std::vector<double> xs;
  for (std::size_t n = 0; n < values.size(); ++n) xs.push_back(1000.0 * static_cast<double>(n));
  nc_put_var_double(file, vx, xs.data());
  nc_put_var_double(file, vy, xs.data());
  nc_put_var_short(file, v, values.data());
  nc_close(file);
  return std::get<GridData>(read_netcdf(path)).fields.at(0).values;
}

TEST(NetCdfGrid, PackedNumbersWithoutSignAreUnpacked) {
  const TemporaryFolder folder;
  const double half = 0.5;
  const auto values = [&](const std::vector<short>& fills, const char* key) {
    return values_of_shorts(folder, {0, -1, -2, 7}, [&](int file, int v) {
      nc_put_att_text(file, v, "_Unsigned", 4, "true");
      nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &half);
      if (!fills.empty()) nc_put_att_short(file, v, key, NC_SHORT, fills.size(), fills.data());
    });
  };
  EXPECT_THAT(values({}, ""), ElementsAre(0, 32767.5, 32767, 3.5));
  EXPECT_THAT(values({-1}, "_FillValue"), ElementsAre(0, IsNan(), 32767, 3.5));
  EXPECT_THAT(values({-2, 7}, "missing_value"), ElementsAre(0, 32767.5, IsNan(), IsNan()));
  EXPECT_THAT(values({0, 8}, "valid_range"), ElementsAre(0, IsNan(), IsNan(), 3.5));
}

TEST(NetCdfGrid, WhatIsOutsideItsValidRangeIsAGap) {
  const TemporaryFolder folder;
  const double half = 0.5, most = 4.1, zero = 0;
  const short least = 2;
  const auto values = [&](auto attributes) {
    return values_of_shorts(folder, {1, 4, 9, NC_FILL_SHORT}, [&](int file, int v) {
      nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &half);
      attributes(file, v);
    });
  };
  // valid_min of the packed type is of packed numbers; valid_max of the unpacked type is not.
  EXPECT_THAT(values([&](int f, int v) { nc_put_att_short(f, v, "valid_min", NC_SHORT, 1, &least); }),
              ElementsAre(IsNan(), 2, 4.5, IsNan()));
  EXPECT_THAT(values([&](int f, int v) {
                nc_put_att_double(f, v, "valid_max", NC_DOUBLE, 1, &most);
                nc_put_att_double(f, v, "valid_min", NC_DOUBLE, 1, &zero);
              }),
              ElementsAre(0.5, 2, IsNan(), IsNan()));
  // What NetCDF fills in is no number, where the file names no other.
  EXPECT_THAT(values([](int, int) {}), ElementsAre(0.5, 2, 4.5, IsNan()));
}

TEST(NetCdfGrid, OfGmt3HasItsNodesByRangesAndRowsFromTheNorth) {
  const TemporaryFolder folder;
  for (const int pixels : {0, 1}) {
    const auto path = folder / "gmt3.grd";
    int file = 0, side = 0, xy = 0;
    nc_create(path.c_str(), NC_CLOBBER, &file);
    nc_def_dim(file, "side", 2, &side);
    nc_def_dim(file, "xysize", 6, &xy);
    int ids[5];
    const char* names[] = {"x_range", "y_range", "spacing", "dimension", "z"};
    for (int n = 0; n < 5; ++n)
      nc_def_var(file, names[n],
                 n == 3   ? NC_INT
                 : n == 4 ? NC_FLOAT
                          : NC_DOUBLE,
                 1, n == 4 ? &xy : &side, &ids[n]);
    nc_put_att_int(file, ids[4], "node_offset", NC_INT, 1, &pixels);
    nc_put_att_text(file, ids[0], "units", 6, "meters");
    nc_enddef(file);
    const double x[] = {0, pixels == 1 ? 300.0 : 200.0}, y[] = {50, pixels == 1 ? 150.0 : 100.0},
                 step[] = {100, 50};
    const int counts[] = {3, 2};
    const float z[] = {1, 2, 3, 4, 5, 6};
    nc_put_var_double(file, ids[0], x);
    nc_put_var_double(file, ids[1], y);
    nc_put_var_double(file, ids[2], step);
    nc_put_var_int(file, ids[3], counts);
    nc_put_var_float(file, ids[4], z);
    nc_close(file);
    const auto g = std::get<GridData>(read_netcdf(path));
    const double in = pixels == 1 ? 50 : 0;
    EXPECT_THAT(g.easting, ElementsAre(in, 100 + in, 200 + in));
    EXPECT_THAT(g.northing, ElementsAre(50 + in / 2, 100 + in / 2));
    EXPECT_THAT(g.fields.at(0).values, ElementsAre(4, 5, 6, 1, 2, 3));
  }
}

/// A grid with these attributes of its field "z" and of the axis "y".
std::string grid_with(const TemporaryFolder& folder, const char* key, const char* value, const char* on) {
  auto path = folder / "with.nc";
  int file = 0, x = 0, y = 0, vx = 0, vy = 0, v = 0, mapping = 0;
  nc_create(path.c_str(), NC_CLOBBER, &file);
  nc_def_dim(file, "x", 2, &x);
  nc_def_dim(file, "y", 2, &y);
  nc_def_var(file, "x", NC_DOUBLE, 1, &x, &vx);
  nc_def_var(file, "y", NC_DOUBLE, 1, &y, &vy);
  const int dimensions[] = {y, x};
  nc_def_var(file, "z", NC_DOUBLE, 2, dimensions, &v);
  nc_def_var(file, "pole", NC_INT, 0, nullptr, &mapping);
  nc_put_att_text(file, v, "grid_mapping", 4, "pole");
  const int on_id = std::string(on) == "z" ? v : std::string(on) == "y" ? vy : mapping;
  nc_put_att_text(file, on_id, key, std::string(value).size(), value);
  nc_enddef(file);
  const double axis[] = {1000, 2000}, values[] = {1, 2, 3, 4};
  nc_put_var_double(file, vx, axis);
  nc_put_var_double(file, vy, axis);
  nc_put_var_double(file, v, values);
  nc_close(file);
  return path;
}

TEST(NetCdfGrid, AttributesThatTurnItsNumbersIntoOthersAreTakenOrRefused) {
  const TemporaryFolder folder;
  const auto depths = std::get<GridData>(read_netcdf(grid_with(folder, "positive", "down", "z")));
  EXPECT_THAT(depths.downward, ElementsAre("z"));
  write_netcdf(folder / "again.nc", depths);
  EXPECT_THAT(std::get<GridData>(read_netcdf(folder / "again.nc")).downward, ElementsAre("z"));
  EXPECT_THAT(
      std::get<GridData>(read_netcdf(grid_with(folder, "standard_name", "sea_floor_depth_below_geoid", "z")))
          .downward,
      ElementsAre("z"));
  EXPECT_THAT(message([&] {
                read_netcdf(grid_with(folder, "grid_mapping_name", "rotated_latitude_longitude", "pole"));
              }),
              HasSubstr("a rotated pole"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "formula_terms", "sigma: y", "y")); }),
              HasSubstr("formula_terms"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "units", "furlong", "y")); }),
              HasSubstr("in \"furlong\""));
  EXPECT_THAT(
      std::get<GridData>(read_netcdf(grid_with(folder, "scale_factor", "0.1", "z"))).fields.at(0).values,
      testing::Contains(testing::DoubleEq(0.4)));
  for (const auto* key : {"scale_factor", "add_offset", "valid_min", "missing_value"})
    EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, key, "tenth", "z")); }),
                HasSubstr(std::string("the attribute ") + key + " of \"z\" is \"tenth\""));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "scale_factor", "0", "z")); }), HasSubstr("is 0"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "scale_factor", "nan", "z")); }),
              HasSubstr("one finite number"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "valid_range", "3", "z")); }),
              HasSubstr("two numbers, the smaller first"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "units", "degrees_west", "y")); }),
              HasSubstr("in \"degrees_west\""));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "units", "degrees", "y")); }),
              HasSubstr("one horizontal coordinate is in degrees and the other is not"));
  EXPECT_THAT(message([&] { read_netcdf(grid_with(folder, "standard_name", "grid_latitude", "y")); }),
              HasSubstr("a rotated pole"));
  EXPECT_THAT(std::get<GridData>(read_netcdf(grid_with(folder, "grid_mapping_name", "mercator", "pole")))
                  .attributes.at("note"),
              HasSubstr("(mercator) is described by parameters alone"));
}

TEST(NetCdf, GroupsAndVariablesThatAreNotReadAreNamed) {
  const TemporaryFolder folder;
  const auto with = [&](bool group, bool root) {
    const auto name = folder / "groups.nc";
    int file = 0, inside = 0, x = 0, y = 0, time = 0, v = 0;
    nc_create(name.c_str(), NC_CLOBBER | NC_NETCDF4, &file);
    if (group) nc_def_grp(file, "data", &inside);
    if (root) {
      nc_def_dim(file, "x", 2, &x);
      nc_def_dim(file, "y", 2, &y);
      nc_def_dim(file, "time", 2, &time);
      const double axis[] = {1, 2};
      for (const auto& [key, d] : {std::pair("x", x), std::pair("y", y)}) {
        nc_def_var(file, key, NC_DOUBLE, 1, &d, &v);
        nc_put_var_double(file, v, axis);
      }
      const int dimensions[] = {time, y, x};
      nc_def_var(file, "heights", NC_DOUBLE, 3, dimensions, &v);
    }
    nc_close(file);
    return name;
  };
  EXPECT_THAT(message([&] { read_netcdf(with(true, false)); }),
              HasSubstr("it has 1 groups, which are not read: data"));
  EXPECT_THAT(message([&] { read_netcdf(with(false, true)); }),
              HasSubstr("variable \"heights\" has a further axis, time (2 entries)"));
}

TEST(NetCdfGrid, NamesItsReferenceSystemWhereCfAndGdalLookForIt) {
  const TemporaryFolder folder;
  GridData grid{{0, 1000}, {0, 1000}, false, {{"z", "m", "", {1, 2, 3, 4}}}, "EPSG:32735", {}};
  write_netcdf(folder / "a.nc", grid);
  {
    const LibraryLock lock;
    int file = 0, z = 0, crs = 0;
    ASSERT_EQ(nc_open((folder / "a.nc").c_str(), NC_NOWRITE, &file), NC_NOERR);
    const auto text = [&](int id, const char* key) {
      std::size_t length = 0;
      nc_inq_attlen(file, id, key, &length);
      std::string words(length, ' ');
      nc_get_att_text(file, id, key, words.data());
      return words;
    };
    nc_inq_varid(file, "z", &z);
    ASSERT_EQ(nc_inq_varid(file, text(z, "grid_mapping").c_str(), &crs), NC_NOERR);
    EXPECT_THAT(text(crs, "crs_wkt"), AllOf(HasSubstr("PROJCRS"), HasSubstr("UTM zone 35S")));
    EXPECT_EQ(text(crs, "spatial_ref"), text(crs, "crs_wkt"));
    nc_close(file);
  }
  const auto back = std::get<GridData>(read_netcdf(folder / "a.nc"));
  EXPECT_EQ(back.projection, "EPSG:32735");
  EXPECT_EQ(back.fields.size(), 1U);
  // Of feet Terrane's metres are none.
  grid.projection = "EPSG:2263";
  write_netcdf(folder / "a.nc", grid);
  EXPECT_TRUE(std::get<GridData>(read_netcdf(folder / "a.nc")).attributes.empty());
}

TEST(NetCdfDataSet, PackedNumbersAreUnpacked) {
  const TemporaryFolder folder;
  int file = 0, time = 0, receiver = 0, v = 0;
  nc_create((folder / "a.nc").c_str(), NC_CLOBBER, &file);
  nc_def_dim(file, "time", 2, &time);
  nc_def_dim(file, "receiver", 2, &receiver);
  const int dimensions[] = {time, receiver};
  nc_def_var(file, "pressure", NC_SHORT, 2, dimensions, &v);
  const double half = 0.5;
  const short fill = -99;
  nc_put_att_double(file, v, "scale_factor", NC_DOUBLE, 1, &half);
  nc_put_att_short(file, v, "_FillValue", NC_SHORT, 1, &fill);
  nc_enddef(file);
  const short values[] = {1, 2, -99, -4};
  nc_put_var_short(file, v, values);
  nc_close(file);
  EXPECT_THAT(std::get<std::vector<double>>(read_dataset(folder / "a.nc").variables.at(0).values),
              ElementsAre(0.5, 1, IsNan(), -2));
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

/// A mesh of 3 x 3 x 3 cells whose densities are made by `add`.
template <class Add>
std::string mesh_with(const TemporaryFolder& folder, const Add& add) {
  auto path = folder / "mesh.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t four = 4;
  const double faces[] = {0, 1, 2, 3};
  for (const auto* name : {"easting", "northing", "up"}) {
    const hid_t space = H5Screate_simple(1, &four, nullptr);
    const hid_t data =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, faces);
    H5Dclose(data);
    H5Sclose(space);
  }
  const hsize_t cells[] = {3, 3, 3};
  const hid_t space = H5Screate_simple(3, cells, nullptr), made = H5Pcreate(H5P_DATASET_CREATE);
  add(file, space, made, path);
  H5Pclose(made);
  H5Sclose(space);
  H5Fclose(file);
  return path;
}

// A file of a stranger must not crash the library, read other files of this machine, or fill its memory.
TEST(Hdf5Mesh, WhatIsNotInTheFileItselfIsRefused) {
  const TemporaryFolder folder;
  const auto add = [](hid_t file, hid_t space, hid_t made) {
    H5Dclose(H5Dcreate2(file, "density", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT));
  };
  const auto virtual_set =
      mesh_with(folder, [&](hid_t file, hid_t space, hid_t made, const std::string& path) {
        H5Pset_virtual(made, space, path.c_str(), "density", space);
        add(file, space, made);
      });
  EXPECT_THAT(message([&] { read_hdf5(virtual_set); }), HasSubstr("a virtual data set"));
  EXPECT_THAT(message([&] { read_netcdf(virtual_set); }), HasSubstr("a virtual data set"));
  const auto stored_elsewhere =
      mesh_with(folder, [&](hid_t file, hid_t space, hid_t made, const std::string&) {
        H5Pset_external(made, "/etc/passwd", 0, 27 * sizeof(double));
        add(file, space, made);
      });
  EXPECT_THAT(message([&] { read_hdf5(stored_elsewhere); }),
              HasSubstr("are in other files (external storage)"));
  const auto linked = mesh_with(folder, [&](hid_t file, hid_t, hid_t, const std::string&) {
    H5Lcreate_external("other.h5", "density", file, "density", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(message([&] { read_hdf5(linked); }), HasSubstr("is in another file"));
  const auto claimed = mesh_with(folder, [&](hid_t file, hid_t, hid_t, const std::string&) {
    const hsize_t many = hsize_t{1} << 40;
    const hid_t space = H5Screate_simple(1, &many, nullptr);
    H5Dclose(H5Dcreate2(file, "density", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
  });
  EXPECT_THAT(message([&] { read_hdf5(claimed); }), HasSubstr("and none was written"));
  // Groups, each of which has two names in the one before it: 2²⁰ ways.
  const auto diamond = mesh_with(folder, [&](hid_t file, hid_t, hid_t, const std::string&) {
    hid_t above = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int n = 0; n < 20; ++n) {
      const hid_t next = H5Gcreate2(above, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_hard(above, "a", above, "b", H5P_DEFAULT, H5P_DEFAULT);
      H5Gclose(above);
      above = next;
    }
    H5Gclose(above);
  });
  EXPECT_THAT(message([&] { read_netcdf(diamond); }), HasSubstr("has 2 names"));
  EXPECT_THAT(message([&] { read_hdf5(diamond); }), HasSubstr("has 2 names"));
  const auto deep = mesh_with(folder, [&](hid_t file, hid_t, hid_t, const std::string&) {
    hid_t above = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int n = 0; n < 1000; ++n) {
      const hid_t next = H5Gcreate2(above, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Gclose(above);
      above = next;
    }
    H5Gclose(above);
  });
  EXPECT_THAT(message([&] { read_netcdf(deep); }), HasSubstr("nested deeper than 100"));
  EXPECT_THAT(message([&] { read_hdf5(deep); }), HasSubstr("nested deeper than 100"));
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
