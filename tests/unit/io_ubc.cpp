#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/ubc.hpp"
#include "terrane/io/ubc_octree.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using namespace testing_support;

TextReader mesh_reader(std::string text) { return {"mesh.msh", std::move(text)}; }

TensorMesh mesh_from(const std::string& text) {
  auto in = mesh_reader(text);
  return read_ubc_mesh(in);
}

TEST(UbcMesh, HasItsOriginAtTheTopAndItsThicknessesFromThere) {
  const auto mesh = mesh_from("2 1 3\n100 200 50\n10 20\n5\n1 2 3\n");
  EXPECT_THAT(mesh.easting(), ElementsAre(100, 110, 130));
  EXPECT_THAT(mesh.northing(), ElementsAre(200, 205));
  EXPECT_THAT(mesh.up(), ElementsAre(44, 47, 49, 50));
}

TEST(UbcMesh, ReadsRunLengthsCommentsAndWidthsThatWrapLines) {
  const auto mesh =
      mesh_from("! a mesh\r\n4 2 1 ! cells\r\n0 0 0\r\n2*20 5\r\n 5 ! wrapped\r\n2*1.5D1\r\n1\r\n");
  EXPECT_THAT(mesh.easting(), ElementsAre(0, 20, 40, 45, 50));
  EXPECT_THAT(mesh.northing(), ElementsAre(0, 15, 30));
}

TEST(UbcMesh, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const auto mesh = mesh_from("60 3 4\n500000.1 7000000.7 123.4\n60*0.1\n20 30.5 20\n2*25 50 100\n");
  write_ubc_mesh(folder / "a.msh", mesh);
  EXPECT_THAT(bytes_of(folder / "a.msh"),
              AllOf(HasSubstr("60*0.1\n"), HasSubstr("20 30.5 20\n"), HasSubstr("2*25 50 100\n")));
  const auto again = read_ubc_mesh(folder / "a.msh");
  EXPECT_EQ(again.easting(), mesh.easting());
  EXPECT_EQ(again.northing(), mesh.northing());
  EXPECT_EQ(again.up(), mesh.up());
}

TEST(UbcMesh, SaysWhereItsCountsOrWidthsAreWrong) {
  EXPECT_THAT(message([] { mesh_from("2 2 2\n0 0 0\n1 1\n1 1\n1\n"); }),
              AllOf(HasSubstr("mesh.msh:5"), HasSubstr("ends after 1 of 2"), HasSubstr("thicknesses")));
  EXPECT_THAT(message([] { mesh_from("1 1 1\n0 0 0\n1\n1\n1 1\n"); }),
              AllOf(HasSubstr("mesh.msh:5"), HasSubstr("after the last cell width")));
  EXPECT_THAT(message([] { mesh_from("2 1 1\n0 0 0\n1 -1\n1\n1\n"); }),
              AllOf(HasSubstr("mesh.msh:3"), HasSubstr("a width of -1")));
  EXPECT_THAT(message([] { mesh_from("2 1 1\n0 0 0\n1 abc\n1\n1\n"); }),
              AllOf(HasSubstr("mesh.msh:3"), HasSubstr("\"abc\"")));
  EXPECT_THAT(message([] { mesh_from("0 1 1\n"); }),
              AllOf(HasSubstr("mesh.msh:1"), HasSubstr("cells east is 0")));
  EXPECT_THAT(message([] { mesh_from("2 1 1\n0 0 nan\n"); }), HasSubstr("mesh.msh:2"));
  EXPECT_THAT(message([] { mesh_from(""); }), HasSubstr("mesh.msh: the file ends"));
  EXPECT_THAT(message([] { mesh_from("10 1 1\n0 0 0\n1000000000*1\n1\n1\n"); }),
              AllOf(HasSubstr("mesh.msh:3"), HasSubstr("1000000000*1")));
  EXPECT_THAT(message([] { mesh_from("9999999 9999999 9999999\n"); }),
              HasSubstr("beyond what memory can hold"));
  EXPECT_THAT(message([] { mesh_from("99999999999 1 1\n"); }), HasSubstr("Allowed: 1 to 10000000"));
}

TEST(UbcModel, RunsDownFirstThenEastThenNorth) {
  const TemporaryFolder folder;
  const auto mesh = mesh_from("2 2 2\n0 0 0\n1 1\n1 1\n1 1\n");
  const auto data = read_ubc_property(folder.put("a.den", "1\n2\n3\n4\n5\n6\n7\n-100\n"), mesh);
  const auto& d = data.cells.at(0).values;
  EXPECT_EQ(d[mesh.index(0, 0, 1)], 1000);  // the first value is the top south-west cell
  EXPECT_EQ(d[mesh.index(0, 0, 0)], 2000);
  EXPECT_EQ(d[mesh.index(1, 0, 1)], 3000);
  EXPECT_EQ(d[mesh.index(0, 1, 1)], 5000);
  EXPECT_EQ(d[mesh.index(1, 1, 0)], 0);  // air
  write_ubc_property(folder / "b.den", data);
  EXPECT_EQ(read_ubc_property(folder / "b.den", mesh).cells[0].values, d);
}

TEST(UbcModel, SaysHowManyValuesTheMeshWants) {
  const TemporaryFolder folder;
  const auto mesh = mesh_from("2 1 1\n0 0 0\n1 1\n1\n1\n");
  EXPECT_THAT(message([&] { read_ubc_property(folder.put("a.den", "1\n"), mesh); }),
              AllOf(HasSubstr("a.den:1"), HasSubstr("ends after 1 of 2"), HasSubstr("2 x 1 x 1")));
  EXPECT_THAT(message([&] { read_ubc_property(folder.put("a.den", "1 2 3\n"), mesh); }),
              HasSubstr("stands after the 2 values"));
}

Table gravity_from(const std::string& text) {
  TextReader in("data.grv", text);
  return read_ubc_gravity(in);
}

TEST(UbcGravity, ReadsLocationsPredictionsAndObservations) {
  EXPECT_EQ(gravity_from("1\n10 20 30\n").columns.size(), 3U);
  const auto predicted = gravity_from("2 ! stations\n10 20 30 1.5\n\n11 21 31 -2.5\n");
  EXPECT_THAT(predicted.find("g_u")->values, ElementsAre(-1.5, 2.5));
  EXPECT_EQ(predicted.find("g_u")->unit, "mGal");
  EXPECT_THAT(predicted.lines, ElementsAre(2, 4));
  const auto observed = gravity_from("1\n10 20 30 1.5 0.1\n");
  EXPECT_THAT(observed.find("g_u_uncertainty")->values, ElementsAre(0.1));
}

TEST(UbcGravity, ComesBackAsItWasWrittenInAnyUnitAndFrame) {
  const TemporaryFolder folder;
  Table table;
  table.columns = {
      {"easting", "km", "", {1}}, {"northing", "m", "", {2}}, {"up", "m", "", {3}}, {"gz", "mGal", "", {4}}};
  table.attributes["frame"] = "ubc";
  write_ubc_gravity(folder / "a.grv", table);
  EXPECT_EQ(bytes_of(folder / "a.grv"), "1\n1000 2 3 4\n");
  EXPECT_THAT(read_ubc_gravity(folder / "a.grv").find("g_u")->values, ElementsAre(-4));
}

Table stations_with(std::vector<Column> columns, const std::string& frame) {
  Table table;
  table.columns = {{"easting", "m", "", {1}}, {"northing", "m", "", {2}}, {"up", "m", "", {3}}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  table.attributes["frame"] = frame;
  return table;
}

TEST(UbcGravity, HoldsWhatWasComputedBesideWhatWasObserved) {
  const TemporaryFolder folder;
  const auto table = stations_with({{"gz_observed", "mGal", "", {7.25}},
                                    {"gz_uncertainty", "mGal", "", {0.5}},
                                    {"gz", "mGal", "", {4}},
                                    {"gz_residual", "mGal", "", {3.25}},
                                    {"zz", "E", "", {9}}},
                                   "ubc");
  const auto path = folder / "a.obs";
  write_ubc_gravity(path, table);
  EXPECT_EQ(bytes_of(path), "1\n1 2 3 4\n");
  write_ubc_gravity(path, table, "gz_observed");
  EXPECT_EQ(bytes_of(path), "1\n1 2 3 7.25 0.5\n");
  write_ubc_gravity(path, table, "gz_residual");
  EXPECT_EQ(bytes_of(path), "1\n1 2 3 3.25\n");
  EXPECT_THAT(left_out_of_ubc_gravity(path, table), ElementsAre("zz"));
}

TEST(UbcGravity, HoldsObservedDataOfWhichNothingWasComputed) {
  const TemporaryFolder folder;
  write_ubc_gravity(
      folder / "a.obs",
      stations_with({{"g_u_observed", "mGal", "", {-7.25}}, {"g_u_uncertainty", "mGal", "", {0.5}}}, "enu"));
  EXPECT_EQ(bytes_of(folder / "a.obs"), "1\n1 2 3 7.25 0.5\n");
}

TEST(UbcGravity, RefusesChannelsOfWhichItHoldsNone) {
  const TemporaryFolder folder;
  const auto tensor = stations_with({{"zz", "E", "", {9}}}, "ubc");
  EXPECT_THAT(message([&] { write_ubc_gravity(folder / "a.obs", tensor); }),
              AllOf(HasSubstr("a.obs"), HasSubstr("hold gz"), HasSubstr("only zz"), HasSubstr(".gg")));
  write_ubc_gravity(folder / "a.loc", tensor);
  EXPECT_EQ(bytes_of(folder / "a.loc"), "1\n1 2 3\n");
  write_ubc_gravity(folder / "b.obs", stations_with({}, "ubc"));
  EXPECT_EQ(bytes_of(folder / "b.obs"), "1\n1 2 3\n");
}

TEST(UbcGravity, SaysWhereADataLineIsWrong) {
  EXPECT_THAT(message([] { gravity_from("2\n1 2 3 4\n1 2 3\n"); }),
              AllOf(HasSubstr("data.grv:3"), HasSubstr("3 numbers on a line")));
  EXPECT_THAT(message([] { gravity_from("1\n1 2\n"); }),
              AllOf(HasSubstr("data.grv:2"), HasSubstr("Allowed: E N elevation")));
  EXPECT_THAT(message([] { gravity_from("3\n1 2 3\n4 5 6\n"); }), HasSubstr("ends after 2 of 3"));
  EXPECT_THAT(message([] { gravity_from("1\n1 2 3\n4 5 6\n"); }),
              AllOf(HasSubstr("data.grv:3"), HasSubstr("after the 1 stations")));
  EXPECT_THAT(message([] { gravity_from("1\n1 2 NaN\n"); }),
              AllOf(HasSubstr("data.grv:2"), HasSubstr("\"NaN\"")));
  EXPECT_THAT(message([] { gravity_from("1\n1 2 3 4 -0.1\n"); }), HasSubstr("an uncertainty of -0.1"));
  EXPECT_THAT(message([] { gravity_from("x y z\n"); }),
              AllOf(HasSubstr("data.grv:1"), HasSubstr("number of stations")));
  EXPECT_THAT(message([] { gravity_from("900000000\n1 2 3\n"); }), HasSubstr("too short"));
}

Table gradient_from(const std::string& text) {
  TextReader in("data.gg", text);
  return read_ubc_gradient(in);
}

Table magnetic_from(std::string text) {
  TextReader in("data.mag", std::move(text));
  return read_ubc_magnetic(in);
}

TEST(UbcMagnetic, ReadsAnomaliesWithTheMainField) {
  const auto all = magnetic_from("65 -12 50000 ! field\n65 348 1\n2 ! data\n1 2 3 10.5 0.5\n4 5 6 -7 0.5\n");
  EXPECT_THAT(all.find("tmi")->values, ElementsAre(10.5, -7));
  EXPECT_EQ(all.find("tmi")->unit, "nT");
  EXPECT_THAT(all.find("tmi_uncertainty")->values, ElementsAre(0.5, 0.5));
  EXPECT_THAT(all.find("main_field_inclination")->values, ElementsAre(65, 65));
  EXPECT_THAT(all.find("main_field_declination")->values, ElementsAre(-12, -12));
  EXPECT_THAT(all.find("main_field_intensity")->values, ElementsAre(50000, 50000));
  const auto own = magnetic_from("90 0 55000\n0 0 0\n1\n1 2 3 90 17 4.5\n");
  EXPECT_THAT(own.find("tmi")->values, ElementsAre(4.5));
  EXPECT_EQ(magnetic_from("90 0 55000\n90 0 1\n1\n1 2 3\n").find("tmi"), nullptr) << "locations alone";
}

TEST(UbcMagnetic, ComponentsOfOnePlaceAreOneStation) {
  // Down is -b_u; a third station has the vertical component alone.
  const auto all = magnetic_from(
      "65 -12 50000\n0 0 0\n6\n1 2 3 0 90 10 1\n1 2 3 0 0 20 2\n1 2 3 90 0 30 3\n"
      "1 2 3 65 348 40 4\n4 2 3 0 270 5 1\n7 2 3 -90 0 6 1\n");
  EXPECT_THAT(all.find("easting")->values, ElementsAre(1, 4, 7));
  EXPECT_THAT(all.find("b_e")->values, ElementsAre(10, -5, IsNan()));
  EXPECT_THAT(all.find("b_n")->values, ElementsAre(20, IsNan(), IsNan()));
  EXPECT_THAT(all.find("b_u")->values, ElementsAre(-30, IsNan(), 6));
  EXPECT_THAT(all.find("tmi")->values, ElementsAre(40, IsNan(), IsNan()));
  EXPECT_THAT(all.find("b_u_uncertainty")->values, ElementsAre(3, IsNan(), 1));
  EXPECT_THAT(all.find("main_field_intensity")->values, ElementsAre(50000, 50000, 50000));
  const auto down = magnetic_from("65 -12 50000\n90 0 1\n1\n1 2 3 4\n");
  EXPECT_THAT(down.find("b_u")->values, ElementsAre(-4));
}

TEST(UbcMagnetic, SaysWhatIsWrong) {
  EXPECT_THAT(message([] { magnetic_from("65 -12\n"); }),
              AllOf(HasSubstr("data.mag:1"), HasSubstr("3 numbers")));
  EXPECT_THAT(message([] { magnetic_from("95 -12 50000\n95 -12 1\n1\n1 2 3 4\n"); }),
              HasSubstr("a main field of inclination 95"));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n0 30 1\n1\n1 2 3 4\n"); }),
              AllOf(HasSubstr("data.mag:2"), HasSubstr("components along east, north and up")));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n0 0 0\n1\n1 2 3 60 0 4\n"); }),
              HasSubstr("data.mag:4"));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n65 -12 2\n1\n1 2 3 4\n"); }), HasSubstr("0 or 1"));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n65 -12 1\n2\n1 2 3 4\n"); }),
              HasSubstr("ends after 1 of 2"));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n65 -12 1\n1\n1 2 3 4 -1\n"); }),
              HasSubstr("an uncertainty of -1"));
  EXPECT_THAT(message([] { magnetic_from("65 -12 50000\n"); }), HasSubstr("truncated"));
}

TEST(UbcGradient, TurnsNorthEastDownIntoEastNorthUp) {
  const auto t = gradient_from("datacomp=xx,xy,xz,yy,yz,zz\n1 !! # of data\n10 20 30 1 2 3 4 5 6\n");
  EXPECT_THAT(t.find("g_nn")->values, ElementsAre(1));
  EXPECT_THAT(t.find("g_en")->values, ElementsAre(2));
  EXPECT_THAT(t.find("g_nu")->values, ElementsAre(-3));
  EXPECT_THAT(t.find("g_ee")->values, ElementsAre(4));
  EXPECT_THAT(t.find("g_eu")->values, ElementsAre(-5));
  EXPECT_THAT(t.find("g_uu")->values, ElementsAre(6));
  EXPECT_EQ(t.find("g_uu")->unit, "E");
}

TEST(UbcGradient, ReadsASubsetWithBlanksAndUncertainties) {
  const auto t = gradient_from("! comment\ndatacomp = zz xz\n1\n10 20 30 6 3 0.6 0.3\n");
  EXPECT_THAT(t.find("g_nu")->values, ElementsAre(-3));
  EXPECT_THAT(t.find("g_nu_uncertainty")->values, ElementsAre(0.3));
}

TEST(UbcGradient, ReadsTheLocationsOfAForwardRun) {
  TextReader in("survey.loc", "datacomp=xx,xy,zz\n2\n1 2 3\n4 5 6\n");
  const auto table = read_ubc_gradient(in);
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_THAT(table.columns[2].values, ElementsAre(3, 6));
  TextReader mixed("survey.loc", "datacomp=xx\n2\n1 2 3\n4 5 6 7\n");
  EXPECT_THROW(read_ubc_gradient(mixed), InputError);
}

TEST(UbcGradient, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const auto t = gradient_from("datacomp=xx,xz,zz\n2\n1 2 3 4 5 6 .4 .5 .6\n7 8 9 10 11 12 1 1 1\n");
  write_ubc_gradient(folder / "a.gg", t);
  const auto again = read_ubc_gradient(folder / "a.gg");
  ASSERT_EQ(again.columns.size(), t.columns.size());
  for (const auto& c : t.columns) {
    const auto& values = again.find(c.name)->values;
    for (std::size_t i = 0; i < c.values.size(); ++i) EXPECT_DOUBLE_EQ(values[i], c.values[i]) << c.name;
  }
}

TEST(UbcGradient, SaysWhichComponentsItKnows) {
  EXPECT_THAT(message([] { gradient_from("datacomp=xx,uv\n1\n1 2 3 4 5\n"); }),
              AllOf(HasSubstr("data.gg:1"), HasSubstr("\"uv\""), HasSubstr("xx, xy, xz")));
  EXPECT_THAT(message([] { gradient_from("datacomp=xx,xx\n"); }), HasSubstr("twice"));
  EXPECT_THAT(message([] { gradient_from("datacomp=\n"); }), HasSubstr("no components"));
  EXPECT_THAT(message([] { gradient_from("5\n1 2 3\n"); }), HasSubstr("list of components"));
  EXPECT_THAT(message([] { gradient_from("datacomp=xx,zz\n1\n1 2 3 4\n"); }),
              AllOf(HasSubstr("data.gg:3"), HasSubstr("4 numbers")));
}

TEST(UbcMesh, RunsMayHaveBlanks) {
  const auto m = mesh_from("6 4 5\n-1000 -1000 300\n200 4 * 100 300\n2 *100 2* 150\n3 * 50 2 * 75\n");
  EXPECT_THAT(m.easting(), testing::ElementsAre(-1000, -800, -700, -600, -500, -400, -100));
  EXPECT_THAT(m.northing(), testing::ElementsAre(-1000, -900, -800, -650, -500));
}

TEST(UbcMesh, OfASectionIsCalledThat) {
  const testing_support::TemporaryFolder folder;
  const auto section = folder.put("line.msh", "! DCIP2D\n3\n-100 -40 3\n40 16\n100 3\n1\n0 20 8\n");
  EXPECT_THAT(message([&] { read_ubc_mesh(section); }), HasSubstr("a mesh of a section, of DCIP2D or MT2D"));
  const auto counts_apart = folder.put("own.msh", "1\n1\n1\n0 0 0\n5\n5\n5\n");
  EXPECT_EQ(read_ubc_mesh(counts_apart).size(), 1U);
}

/// Eight cells of 20 m, of which the one at the top south-west corner is divided into eight of 10 m.
const char* const divided_octree =
    "4 4 4 ! cells of 10 m\n100 200 80\n10 10 5\n15\n"
    "1 1 1 1\n2 1 1 1\n1 2 1 1\n2 2 1 1\n1 1 2 1\n2 1 2 1\n1 2 2 1\n2 2 2 1\n"
    "3 1 1 2\n1 3 1 2\n3 3 1 2\n1 1 3 2\n3 1 3 2\n1 3 3 2\n3 3 3 2\n";

MeshData octree_from(const std::string& text) {
  auto in = mesh_reader(text);
  EXPECT_TRUE(is_ubc_octree(in));
  return read_ubc_octree(in);
}

TEST(UbcOctree, HasAllOfItsFacesAsATensorMeshAndItsValuesInAllPartsOfACell) {
  const TemporaryFolder folder;
  folder.put("tree.msh", divided_octree);
  const auto data = std::get<MeshData>(read(folder / "tree.msh"));
  EXPECT_THAT(data.mesh.easting(), ElementsAre(100, 110, 120, 140));
  EXPECT_THAT(data.mesh.northing(), ElementsAre(200, 210, 220, 240));
  EXPECT_THAT(data.mesh.up(), ElementsAre(60, 70, 75, 80));
  EXPECT_THAT(data.attributes.at("note"),
              AllOf(HasSubstr("15 cells"), HasSubstr("27 cells"), HasSubstr("each became 1 to 4 cells")));
  std::string values;
  for (int cell = 1; cell <= 15; ++cell) values += std::to_string(cell) + '\n';
  ReadOptions options;
  options.mesh = folder / "tree.msh";
  const auto model = std::get<MeshData>(read(folder.put("tree.sus", values), options));
  const auto at = [&](std::size_t i, std::size_t j, std::size_t k) {
    return model.find("susceptibility")->values[model.mesh.index(i, j, k)];
  };
  EXPECT_EQ(at(0, 0, 2), 1);  // the small one at the top south-west corner
  EXPECT_EQ(at(1, 0, 2), 2);
  EXPECT_EQ(at(0, 1, 2), 3);
  EXPECT_EQ(at(0, 0, 1), 5);
  EXPECT_EQ(at(2, 0, 2), 9);  // one of 20 m became four
  EXPECT_EQ(at(2, 1, 2), 9);
  EXPECT_EQ(at(2, 1, 1), 9);
  EXPECT_EQ(at(0, 1, 0), 12);
  EXPECT_EQ(at(2, 2, 0), 15);
  EXPECT_THAT(message([&] { read(folder.put("short.sus", "1\n2\n"), options); }),
              AllOf(HasSubstr("2 of 15"), HasSubstr("octree")));
}

TEST(UbcOctree, SaysWhichCellsOverlapLeaveGapsOrLieOutside) {
  EXPECT_THAT(message([] { octree_from("2 2 2\n0 0 0\n1 1 1\n2\n1 1 1 2\n2 2 2 1\n"); }),
              HasSubstr("cells 1 and 2 overlap"));
  EXPECT_THAT(message([] { octree_from("2 2 2\n0 0 0\n1 1 1\n2\n1 1 1 1\n2 2 2 1\n"); }),
              HasSubstr("no cell holds the place"));
  EXPECT_THAT(message([] { octree_from("2 2 2\n0 0 0\n1 1 1\n1\n2 1 1 2\n"); }),
              AllOf(HasSubstr("mesh.msh:5"), HasSubstr("reaches to 3 east")));
  EXPECT_THAT(message([] { octree_from("2 2 2\n0 0 0\n1 1 1\n2\n1 1 1 1\n2 2 2 1 7\n"); }),
              AllOf(HasSubstr("mesh.msh:6"), HasSubstr("cell 2 of 2")));
  EXPECT_THAT(message([] { octree_from("8 8 8\n0 0 0\n1 1 1\n9\n1 1 1 4\n5 1 1 4\n"); }),
              HasSubstr("ends after 2 of 9 cells"));
}

TEST(UbcOctree, IsRefusedBeforeItTakesMoreMemoryThanThereIs) {
  std::string rows;  // one small cell after the other along the diagonal: all planes of the mesh are faces
  for (int n = 1; n <= 1000; ++n) rows += "1 1 1 1\n";
  for (int n = 1; n <= 1000; ++n)
    rows += std::to_string(n) + ' ' + std::to_string(n) + ' ' + std::to_string(n) + " 1\n";
  TextReader in("mesh.msh", "1024 1024 1024\n0 0 0\n1 1 1\n2000\n" + rows, 10 << 20);
  EXPECT_THROW(read_ubc_octree(in), MemoryError);
}

TEST(UbcOctree, IsNoTensorMeshWhoseWidthsStandInSuchLines) {
  TextReader in("mesh.msh", "3 1 4\n0 0 0\n10 10 10\n10\n5 5 5 5\n");
  EXPECT_FALSE(is_ubc_octree(in));
  EXPECT_EQ(read_ubc_mesh(in).n_up(), 4u);
}

TEST(UbcMagnetic, IsKnownByItsFirstThreeLinesWhateverItIsCalled) {
  const TemporaryFolder folder;
  const auto t = std::get<Table>(read(folder.put(
      "data.obs", "60.0 10.0 50000.0\n60.0 10.0 1\n2\n0.0 0.0 50.0 12.5 1.0\n100.0 0.0 50.0 -3.5 1.0\n")));
  EXPECT_EQ(t.find("tmi")->values[1], -3.5);
}

}  // namespace
}  // namespace terrane::io
