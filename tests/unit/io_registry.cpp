#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "support/files.hpp"
#include "terrane/io/gathers.hpp"
#include "terrane/io/geotiff.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

GridData a_grid() {
  GridData g;
  g.easting = {0, 10, 20};
  g.northing = {0, 10};
  g.fields = {{"g_u", "mGal", "", {1, 2, 3, 4, 5, 6}}};
  g.attributes = {{"frame", "enu"}, {"job", "[mesh]\nsize = 1"}};
  return g;
}

TEST(Registry, ReadsBackWhatItWroteInEveryFormatThatHoldsTheContent) {
  const TemporaryFolder folder;
  for (const auto* name : {"a.nc", "a.asc", "a.grd"}) {
    write(folder / name, a_grid());
    const auto again = std::get<GridData>(read(folder / name));
    EXPECT_EQ(again.easting, a_grid().easting) << name;
    EXPECT_EQ(again.fields.at(0).values, a_grid().fields[0].values) << name;
  }
  const MeshData mesh{TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}), {{"density", "kg/m3", "", {10, 20}}}, {}};
  for (const auto* name : {"m.nc", "m.h5", "m.msh"}) {
    write(folder / name, mesh);
    EXPECT_EQ(std::get<MeshData>(read(folder / name)).mesh.easting(), mesh.mesh.easting()) << name;
  }
  ReadOptions options;
  options.mesh = folder / "m.msh";
  for (const auto* name : {"m.den", "m.npy"}) {
    write(folder / name, mesh);
    EXPECT_THAT(std::get<MeshData>(read(folder / name, options)).cells.at(0).values, ElementsAre(10, 20))
        << name;
  }
}

TEST(Registry, TurnsGridsIntoTablesAndTablesIntoGrids) {
  const TemporaryFolder folder;
  write(folder / "a.csv", a_grid());
  const auto table = read(folder / "a.csv");
  EXPECT_EQ(std::get<Table>(table).rows(), 6U);
  write(folder / "b.grd", table);
  EXPECT_EQ(std::get<GridData>(read(folder / "b.grd")).fields[0].values, a_grid().fields[0].values);
  auto broken = std::get<Table>(table);
  broken.columns[0].values[0] = 1;
  EXPECT_THAT(message([&] { write(folder / "c.grd", broken); }), HasSubstr("do not form one"));
}

TEST(Registry, TurnsAMeshIntoPrismsForCsv) {
  const TemporaryFolder folder;
  write(folder / "a.csv",
        MeshData{TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}), {{"density", "kg/m3", "", {0, 20}}}, {}});
  const auto prisms = std::get<PrismData>(read(folder / "a.csv"));
  ASSERT_EQ(prisms.prisms.size(), 1U);
  EXPECT_EQ(prisms.prisms[0], (Prism{1, 3, 0, 5, -2, 0}));
  EXPECT_THAT(prisms.properties.at(0).values, ElementsAre(20));
}

TEST(Registry, KeepsEveryPropertyOfAMeshInTheFormatsThatHoldSeveral) {
  const TemporaryFolder folder;
  const MeshData mesh{TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}),
                      {{"density", "kg/m3", "", {10, 20}}, {"conductivity", "S/m", "", {0.5, std::nan("")}}},
                      {}};
  for (const auto* name : {"m.nc", "m.h5", "m.csv"}) {
    write(folder / name, mesh);
    auto content = read(folder / name);
    const auto model = std::holds_alternative<MeshData>(content)
                           ? to_earth_model(std::get<MeshData>(content))
                           : to_earth_model(std::move(std::get<PrismData>(content)));
    EXPECT_THAT(model.property("density"), ElementsAre(10, 20)) << name;
    EXPECT_THAT(model.property("conductivity"), ElementsAre(0.5, testing::IsNan())) << name;
  }
}

TEST(Registry, AUbcModelIsThePropertyOfItsExtensionOrTheOneAskedFor) {
  const TemporaryFolder folder;
  const MeshData mesh{
      TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}),
      {{"susceptibility", "1", "", {0.01, 0}}, {"conductivity", "mS/m", "", {5, std::nan("")}}},
      {}};
  write(folder / "m.msh", mesh);
  write(folder / "m.sus", mesh);
  write(folder / "m.con", mesh);
  EXPECT_EQ(bytes_of(folder / "m.con"), "0.005\n-100\n");
  EXPECT_THAT(
      message([&] { write(folder / "m.den", mesh); }),
      AllOf(HasSubstr("no cell property \"density\""), HasSubstr("It has: susceptibility, conductivity")));
  ReadOptions options;
  options.mesh = folder / "m.msh";
  EXPECT_EQ(std::get<MeshData>(read(folder / "m.sus", options)).cells.at(0).name, "susceptibility");
  EXPECT_THAT(std::get<MeshData>(read(folder / "m.con", options)).cells.at(0).values,
              ElementsAre(0.005, testing::IsNan()));
  options.property = "resistivity";
  EXPECT_EQ(std::get<MeshData>(read(folder / "m.con", options)).cells.at(0).unit, "ohm m");
  options.property = "resistivty";
  EXPECT_THAT(message([&] { read(folder / "m.con", options); }), HasSubstr("Did you mean \"resistivity\"?"));
}

TEST(Registry, KnowsFilesByTheirFirstBytesWhateverTheirName) {
  const TemporaryFolder folder;
  EXPECT_EQ(format_of(folder.put("a.txt", "DSAA\n")).name, "surfer");
  EXPECT_EQ(format_of(folder.put("a.dat", "datacomp=xx\n")).name, "ubc-gradient");
  EXPECT_EQ(format_of(folder.put("b.txt", "ncols 3\n")).name, "esri");
  EXPECT_EQ(format_of(folder.put("c.txt", "1 2 3\n")).name, "csv");
  write(folder / "a.nc", a_grid());
  std::filesystem::copy_file(folder / "a.nc", folder / "b.grd");
  EXPECT_EQ(format_of(folder / "b.grd").name, "netcdf");
}

TEST(Registry, KnowsArraysOfElectrodesByTheirFirstLines) {
  const TemporaryFolder folder;
  const auto kind_of = [&](const std::string& name, const std::string& text) {
    return format_of(folder.put(name, text)).name;
  };
  EXPECT_EQ(kind_of("a.dat", "# slag dump\n3 # electrodes\n# x/m z/m\n0 0\n1 0\n2 0\n"), "bert");
  EXPECT_EQ(kind_of("b.dat", "2\n0 0\n1 0\n1\n#A B M N rhoa\n1 0 2 0 5\n"), "bert");
  EXPECT_EQ(kind_of("a.obs", "0 0 10 0 2\n20 0 30 0\n30 0 40 0\n"), "ubc-dcip");
  EXPECT_EQ(kind_of("b.obs", "! heights\n0 0 1 10 0 1 1\r\n20 0 1 30 0 1 0.5 0.01\r\n"), "ubc-dcip");
  EXPECT_EQ(kind_of("c.obs", "IPTYPE=1\n0 10 1\n20 30 5\n"), "ubc-dcip");
  EXPECT_EQ(kind_of("d.obs", "line 46800\n2 0 2\n0 10 1\n20 30 0.5 0.1\n"), "ubc-dcip");
  const std::string behind_a_title = "0 10 2\n20 30 0.05\n30 40 0.02\n10 20 1\n30 40 0.04\n";
  EXPECT_EQ(kind_of("t.dat", "Line 1 of 2019\n" + behind_a_title), "ubc-dcip");
  EXPECT_EQ(kind_of("t.dat", "east north value\n" + behind_a_title), "csv");
  EXPECT_EQ(kind_of("t.txt", "line 1\n0 10 1\n20 30 0.05 0.01\n"), "ubc-dcip");
  // As long as the line of their current pair:
  EXPECT_EQ(kind_of("e.obs", "0 0 10 0 1\n20 0 30 0 0.5\n10 0 20 0 1\n30 0 40 0 0.25\n"), "ubc-dcip");
  EXPECT_EQ(kind_of("prisms.txt", "0 0 -1 1 1 0 1\n0 0 -2 1 1 -1 1\n1 0 -2 2 1 -1 1\n"), "csv");
  EXPECT_EQ(kind_of("prisms.dat", "0 0 -1 1 1 0 300\n0 0 -2 1 1 -1 250.5\n"), "csv");
  EXPECT_EQ(kind_of("g.dat", "0 0 10 0 1\n20 0 30 0"), "ubc-dcip");  // whole, and its last line is not cut
  EXPECT_EQ(kind_of("h.dat", "0 0 1 9 0 1 3\n2 0 1 3 0 1 0.5\n3 0 1 4 0 1 0.25\n4 0 1 5 0 1 0.1"),
            "ubc-dcip");
  EXPECT_EQ(kind_of("h.dat", "0 0 1 9 0 1 4\n2 0 1 3 0 1 0.5\n3 0 1 4 0 1 0.25\n4 0 1 5 0 1 0.1\n"), "csv");
  EXPECT_EQ(kind_of("i.dat", "! DCIP3D\n0 0 1 9 0 1 1\n2 0 1 3 0 1 5\n"), "ubc-dcip");
  // Counts of tables and of prisms may fit by chance.
  const std::string rows = "0,0,0,0.1,1\n10,0,0,0.1,1.5\n20,0,0,0.1,2\n30,0,0,0.1,2.5\n40,0,0,0.1,3\n";
  EXPECT_EQ(kind_of("x.csv", "easting,northing,up,sigma,height\n" + rows), "csv");
  EXPECT_EQ(kind_of("y.csv", rows), "csv");
  EXPECT_EQ(kind_of("x.txt", "east north up s h\n0 0 0 0 1\n1 0 0 0 1.5\n2 0 0 0 1\n3 0 0 0 0.5\n"), "csv");
  EXPECT_EQ(kind_of("rock.txt", "0 0 -1 1 1 0 1\n0 0 -2 1 1 -1 2.67\n0 0 -3 1 1 -2 1\n0 0 -4 1 1 -3 2.67\n"),
            "csv");
  EXPECT_EQ(kind_of("f.obs", "2\n0 0 1 0.5\n1 0 1 0.25\n"), "ubc-gravity");
  EXPECT_EQ(kind_of("f.mag", "65 25 50000\n65 25 1\n1\n0 0 0 12 1\n"), "ubc-magnetic");
  EXPECT_EQ(kind_of("list.dat", "2\n0 0 1 0.5\n1 0 1 0.25\n"), "csv");
}

TEST(Registry, KnowsAUbcMeshOfAnyNameUnlessItCouldBeAListOfPoints) {
  const TemporaryFolder folder;
  const auto mesh_of = [&](const std::string& name, const std::string& text) {
    return format_of(folder.put(name, text)).name;
  };
  EXPECT_EQ(mesh_of("mesh.txt", "2 2 2\n0 0 0\n2*10\n2*10\n2*5\n"), "ubc-mesh");
  EXPECT_EQ(mesh_of("mesh.dat", "! GG3D\n4 2 2\n0 0 0\n1 2 3 4\n2*10\n2*5\n"), "ubc-mesh");
  EXPECT_EQ(mesh_of("mesh", "1 2 2\r\n0 0 0\r\n10\r\n2*10\r\n2*5\r\n"), "ubc-mesh");
  EXPECT_EQ(mesh_of("points.txt", "3 2 2\n0 0 0\n1 2 3\n4 5 6\n"), "csv");
  EXPECT_EQ(mesh_of("faces.txt", "easting northing up\n0 0 0\n1 2 3\n"), "csv");
  const auto ambiguous = folder.put("three.txt", "3 1 1\n0 0 0\n1 2 3\n10\n5\n");
  ReadOptions as_mesh, as_density;
  as_mesh.format = as_density.mesh_format = "ubc-mesh";
  EXPECT_EQ(std::get<MeshData>(read(ambiguous, as_mesh)).mesh.n_east(), 3u);
  const auto density = folder.put("model.txt", "1\n2\n3\n");
  as_density.format = "ubc-density";
  as_density.mesh = ambiguous;
  const auto model = read(density, as_density);
  EXPECT_THAT(std::get<MeshData>(model).cells.at(0).values, ElementsAre(1000, 2000, 3000));
}

TEST(Registry, SaysWhatItCannotDo) {
  const TemporaryFolder folder;
  EXPECT_THAT(message([&] { read(folder / "none.csv"); }),
              AllOf(HasSubstr("none.csv"), HasSubstr("No such file")));
  EXPECT_THAT(message([&] { read(folder.put("a.xyzzy", "1")); }),
              AllOf(HasSubstr("a.xyzzy"), HasSubstr("netcdf, hdf5, emg3d")));
  EXPECT_THAT(message([&] { write(folder / "a.xyzzy", a_grid()); }), HasSubstr("what format to write"));
  EXPECT_THAT(message([&] {
                write(folder / "a.csv", a_grid(), {"netcfd", ""});
              }),
              HasSubstr("Did you mean \"netcdf\"?"));
  EXPECT_THAT(message([&] { write(folder / "a.h5", a_grid()); }), HasSubstr("cannot hold a grid"));
  EXPECT_THAT(message([&] { write(folder / "a.csv.gz", a_grid()); }), HasSubstr("packed"));
  EXPECT_THAT(message([&] { read(folder.put("a.vtr", "<")); }), HasSubstr("can be written and not read"));
  EXPECT_THAT(message([&] { read(folder.put("a.den", "1")); }), HasSubstr("Name the file of the mesh"));
  ReadOptions bad;
  bad.mesh = folder.put("m.csv", "a\n1\n");
  EXPECT_THAT(message([&] { read(folder / "a.den", bad); }), HasSubstr("does not hold a mesh"));
  for (const auto& f : formats()) EXPECT_TRUE(f.reads() || f.writes()) << f.name;
}

TEST(Registry, NamesFilesThatItKnowsAndDoesNotRead) {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& name, std::string bytes) {
    return message([&] { read(folder.put(name, bytes)); });
  };
  for (const auto* name : {"dem.tif", "dem.asc", "dem.grd"})
    EXPECT_THAT(said(name, std::string("II*\0\x08\0\0\0", 8)),
                HasSubstr(reads_geotiff() ? "cannot be read as a TIFF" : "gdal_translate -of netCDF"));
  std::string geosoft(512, '\0');
  const std::int32_t start[] = {1028, 2, 3, 4, 1};
  geosoft.replace(0, sizeof start, reinterpret_cast<const char*>(start), sizeof start);
  EXPECT_THAT(said("a.grd", geosoft), HasSubstr("a grid of Oasis montaj"));
  EXPECT_THAT(said("a.gxf", "#TITLE\nA grid\n#POINTS\n2\n#ROWS\n2\n#GRID\n1 2\n3 4\n"), HasSubstr("GXF"));
  EXPECT_THAT(said("a.gdf", "product_type gravity_field\nend_of_head =====\n0 0 1\n"), HasSubstr("ICGEM"));
  EXPECT_THAT(said("a.csv", "PK\x03\x04rest"), HasSubstr("a zip archive"));
  EXPECT_THAT(said("a.asc", "rows of something\n"),
              AllOf(HasSubstr("a.asc:1"), HasSubstr("It was taken for ESRI ASCII grid by its name")));
  EXPECT_THAT(said("noddy.grv", "4\n1.0\n"), HasSubstr("Noddy"));
}

std::vector<std::string> words(std::string_view list) {
  std::istringstream in{std::string(list)};
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Registry, EveryRowIsComplete) {
  std::set<std::string> names, extensions;
  for (const auto& format : formats()) {
    SCOPED_TRACE(format.name);
    EXPECT_TRUE(names.insert(std::string(format.name)).second) << "two rows have this name";
    EXPECT_FALSE(format.title.empty());
    EXPECT_TRUE(format.reads() || format.writes());
    EXPECT_EQ(format.writes(), format.left_out != nullptr) << "what is written is checked before";
    EXPECT_FALSE(words(format.holds).empty());
    for (const auto& kind : words(format.holds))
      EXPECT_THAT(kind, testing::AnyOf("grid", "table", "mesh", "prisms", "array", "dataset"));
    for (const auto& extension : words(format.extensions)) {
      EXPECT_EQ(extension.front(), '.');
      EXPECT_TRUE(extensions.insert(extension).second) << extension << " is the extension of two formats";
    }
  }
}

/// Two traces of one shot.
Dataset gather() {
  Gathers g;
  g.step = 0.004;
  g.samples = 2;
  g.source = {{5, 0, 0}, {5, 0, 0}};
  g.receiver = {{0, 0, 0}, {10, 0, 0}};
  g.shot = {1, 1};
  g.values = {1, -2, 3, 0.5F};
  return to_dataset(g);
}

/// What a format may hold, in one example of each kind.
Content example(std::string_view kind) {
  if (kind == "grid") return a_grid();
  if (kind == "array") return Array{{2}, {1, 2}, {}};
  if (kind == "dataset") return gather();
  const TensorMesh mesh({0, 1, 3}, {0, 5}, {-2, 0});
  MeshData data{mesh, {}, {}};
  for (const auto* property : {"density", "susceptibility"})
    data.cells.push_back({property, "", property, {1, 2}});
  if (kind == "mesh") return data;
  if (kind == "prisms") {
    const auto model = to_earth_model(data);
    return PrismData{prisms_of(model), model.properties, {}};
  }
  Table table;
  for (const auto* name : {"easting", "northing", "up"}) table.columns.push_back({name, "m", "", {1, 2}});
  table.columns.push_back({"g_u", "mGal", "", {-3, 4}});
  table.columns.push_back({"g_uu", "E", "", {5, -6}});
  return table;
}

/// One magnetotelluric site, or a model of resistivity.
Content magnetotelluric_example(std::string_view kind) {
  if (kind == "mesh")
    return MeshData{TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}), {{"resistivity", "ohm m", "", {10, 20}}}, {}};
  Table table;
  for (const auto* name : {"easting", "northing", "up"}) table.columns.push_back({name, "m", "", {1, 1}});
  table.columns.push_back({"frequency", "Hz", "", {10, 20}});
  for (const auto* name : {"z_en_real", "z_en_imag", "z_ne_real", "z_ne_imag"})
    table.columns.push_back({name, "ohm", "", {-3, 4}});
  return table;
}

/// Two arrays of electrodes.
Content electrodes_example() {
  Table table;
  double x = 0;
  for (const auto* name : {"a_easting", "b_easting", "m_easting", "n_easting"})
    table.columns.push_back({name, "m", "", {x++, 4}});
  table.columns[1].values[1] = std::nan("");
  table.columns[3].values[1] = table.columns[2].values[1] = 2;
  table.columns[3].values[1] = 3;
  for (const auto* name : {"a_northing", "b_northing", "m_northing", "n_northing"})
    table.columns.push_back({name, "m", "", {0, name[0] == 'b' ? std::nan("") : 0}});
  table.columns.push_back({"resistance_observed", "V/A", "", {-3, 4}});
  return table;
}

/// One quadrilateral.
Content film_example() {
  Dataset data;
  data.dimensions = {{"point", 4}, {"cell", 1}, {"corner", 4}};
  for (const auto* name : {"point_easting", "point_northing", "point_up"})
    data.coordinates.push_back({name, "m", "", {"point"}, std::vector<double>{0, 1, 1, 0}, {}});
  data.variables = {{"cell_points", "", "", {"cell", "corner"}, std::vector<std::int32_t>{0, 1, 2, 3}, {}},
                    {"level", "m", "", {"point"}, std::vector<double>{1, 2, 3, 4}, {}}};
  return data;
}

/// The numbers that a content is about.
std::vector<double> numbers(const Content& content) {
  if (const auto* g = std::get_if<GridData>(&content)) return g->fields.back().values;
  if (const auto* t = std::get_if<Table>(&content); t != nullptr && t->find("frequency") != nullptr)
    return t->find("frequency")->values;
  if (const auto* t = std::get_if<Table>(&content); t != nullptr && t->find("resistance_observed") != nullptr)
    return t->find("resistance_observed")->values;
  if (const auto* t = std::get_if<Table>(&content))
    return t->find(t->find("g_uu") != nullptr ? "g_uu" : "g_u")->values;
  if (const auto* m = std::get_if<MeshData>(&content)) return m->mesh.easting();
  if (const auto* p = std::get_if<PrismData>(&content)) return p->prisms.east;
  if (const auto* d = std::get_if<Dataset>(&content)) {
    const auto values = to_gathers("example", *d).values;
    return {values.begin(), values.end()};
  }
  return std::get<Array>(content).values;
}

TEST(Registry, EveryFormatKeepsTheNumbersOfWhatItHolds) {
  const TemporaryFolder folder;
  write(folder / "mesh.msh", example("mesh"));
  for (const auto& format : formats())
    for (const auto& kind : words(format.holds)) {
      SCOPED_TRACE(std::string(format.name) + ": " + kind);
      const bool telluric = format.name == "edi" || format.name.starts_with("modem");
      const bool electrodes = format.name == "bert" || format.name == "ubc-dcip";
      auto held = telluric                  ? magnetotelluric_example(kind)
                  : electrodes              ? electrodes_example()
                  : format.name == "vtkhdf" ? film_example()
                                            : example(kind);
      if (auto* mesh = std::get_if<MeshData>(&held); mesh != nullptr && format.name == "rsf")
        mesh->mesh = TensorMesh({0, 1.5, 3}, {0, 5}, {-2, 0});  // even cells
      const auto path = folder / (std::string(format.name) + "-" + kind);
      WriteOptions written;
      written.format = format.name;
      if (format.name == "ubc-model" || (format.name == "rsf" && kind == "mesh"))
        written.field = "susceptibility";
      if (!format.writes()) {
        EXPECT_THROW(write(path, held, written), UnsupportedError);
        continue;
      }
      EXPECT_NO_THROW(left_out(path, held, written));
      write(path, held, written);
      ReadOptions options;
      options.format = format.name;
      options.mesh = folder / "mesh.msh";
      options.property = written.field;
      if (!format.reads()) {
        EXPECT_THROW(read(path, options), UnsupportedError);
        continue;
      }
      if (kind == "array") options.mesh.clear();
      const auto again = read(path, options);
      const auto kept = format.name == "ubc-gravity" ? std::vector<double>{-3, 4} : numbers(held);
      EXPECT_EQ(numbers(again), kept);
    }
}

TEST(Registry, GivesAGridTheUnitsThatItsFileLacks) {
  const TemporaryFolder folder;
  ReadOptions options;
  options.unit = "m";
  options.length_unit = "km";
  const auto path = folder.put("a.asc", "ncols 2\nnrows 1\nxllcenter 1\nyllcenter 2\ncellsize 1\n5 6\n");
  auto g = std::get<GridData>(read(path, options));
  EXPECT_THAT(g.easting, ElementsAre(1000, 2000));
  EXPECT_EQ(g.fields[0].unit, "m");
  options.length_unit = "degrees";
  EXPECT_TRUE(std::get<GridData>(read(path, options)).geographic);
}

TEST(Describe, TellsShapeUnitsRangeFrameAndTheJob) {
  auto g = a_grid();
  g.projection = "EPSG:32735";
  g.fields[0].values[0] = std::nan("");
  EXPECT_THAT(
      describe(g, "a.nc"),
      AllOf(HasSubstr("a.nc"), HasSubstr("grid, 2 north x 3 east"), HasSubstr("3 nodes, 0 to 20 m, every 10"),
            HasSubstr("g_u  2 to 6 mGal, 1 empty"), HasSubstr("frame         enu"), HasSubstr("EPSG:32735"),
            HasSubstr("[mesh]\n              size = 1")));
  EXPECT_THAT(
      describe(MeshData{TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}), {{"density", "kg/m3", "", {10, 20}}}, {}},
               "m.h5"),
      AllOf(HasSubstr("1 up x 1 north x 2 east = 2 cells"), HasSubstr("spacing varies"),
            HasSubstr("10 to 20 kg/m3")));
  EXPECT_THAT(describe(Array{{2, 2}, {1, 2, 3, 4}, {}}, "a.npy"),
              AllOf(HasSubstr("array [2, 2]"), HasSubstr("1 to 4")));
  EXPECT_THAT(describe(Table{}, "a.csv"), HasSubstr("table, 0 rows"));
  EXPECT_THAT(describe(PrismData{}, "p.csv"), HasSubstr("0 prisms"));
}

/// Numbers of the open data's README.
TEST(OpenData, HoldsWhatItsDescriptionSays) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "set TERRANE_DATA to the folder of the open data";
  const auto stations = std::get<Table>(read(folder + "/gravity/southern-africa-gravity.csv.xz"));
  EXPECT_EQ(stations.rows(), 14'359U);
  EXPECT_EQ(stations.columns.at(3).name, "gravity_mgal");
  const auto clear_lake = std::get<Table>(read(folder + "/gravity/clvf-groundgrav.csv"));
  EXPECT_EQ(clear_lake.rows(), 2'929U);
  EXPECT_EQ(clear_lake.texts.at(0).name, "Station_ID");
  const auto gravity = std::get<GridData>(read(folder + "/gravity/earth-gravity-10arcmin.nc"));
  EXPECT_TRUE(gravity.geographic);
  EXPECT_EQ(gravity.easting.size(), 2161U);
  EXPECT_EQ(gravity.northing.size(), 1081U);
  EXPECT_NEAR(gravity.find("gravity")->values.front(), 979'800, 2'000);  // mGal at the south pole, 10 km up
  const auto srtm = std::get<GridData>(read(folder + "/gravity/srtm_1240-1300E_4740-4750N.asc.gz"));
  EXPECT_TRUE(srtm.geographic);
  EXPECT_EQ(srtm.fields[0].values.size(), 80'000U);
  EXPECT_NEAR(srtm.easting.front(), 12 + 40.0 / 60, 1e-3);
  ReadOptions tomofast;
  tomofast.format = "tomofast-grid";
  EXPECT_EQ(std::get<PrismData>(read(folder + "/gravity/tomofast-hamersley/grav_grid.txt.gz", tomofast))
                .prisms.size(),
            57'057U);
}

}  // namespace
}  // namespace terrane::io
