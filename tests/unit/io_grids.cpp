#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/files.hpp"
#include "terrane/io/beside_grid.hpp"
#include "terrane/io/esri.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/surfer.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Pointwise;
using namespace testing_support;

GridData small_grid() {
  GridData g;
  g.easting = {100, 110, 120};
  g.northing = {-5, 5};
  g.fields = {{"height", "m", "", {1, 2, std::nan(""), 4, 5, 1.0 / 3}}};
  return g;
}

void expect_same(const GridData& a, const GridData& b) {
  EXPECT_THAT(a.easting, Pointwise(DoubleEq(), b.easting));
  EXPECT_THAT(a.northing, Pointwise(DoubleEq(), b.northing));
  EXPECT_THAT(a.fields.at(0).values, Pointwise(testing::NanSensitiveDoubleEq(), b.fields.at(0).values));
}

GridData esri(const std::string& text) {
  TextReader in("dem.asc", text);
  return read_esri(in);
}

TEST(EsriGrid, RunsFromNorthToSouthAndBelongsToCellCentres) {
  const auto g =
      esri("NCOLS 2\nNROWS 2\nXLLCORNER 10\nYLLCORNER 20\nCELLSIZE 4\nNODATA_value -1\n1 2\n3 -1\n");
  EXPECT_THAT(g.easting, ElementsAre(12, 16));
  EXPECT_THAT(g.northing, ElementsAre(22, 26));
  EXPECT_THAT(g.fields[0].values, ElementsAre(3, IsNan(), 1, 2));
  EXPECT_EQ(g.fields[0].name, "dem");
  EXPECT_FALSE(g.geographic);
  EXPECT_THAT(esri("ncols 1\nnrows 2\nxllcenter 10\nyllcenter 20\ndx 4\ndy 5\n1 2\n").northing,
              ElementsAre(20, 25));
}

TEST(EsriGrids, SayEachThingOnce) {
  const auto refused = [](const std::string& header) {
    return testing_support::message([&] { esri("ncols 2\nnrows 1\n" + header + "1 2\n"); });
  };
  EXPECT_THAT(refused("xllcorner 0\nyllcorner 0\ncellsize 4\ncellsize 5\n"),
              HasSubstr("dx is given a second time by cellsize"));
  EXPECT_THAT(refused("xllcorner 0\nyllcorner 0\ndx 4\ndy 5\ncellsize 4\n"), HasSubstr("a second time"));
  EXPECT_THAT(refused("xllcorner 0\nxllcenter 2\nyllcorner 0\ncellsize 4\n"),
              HasSubstr("xll is given a second time by xllcenter"));
}

TEST(EsriGrid, GapsAreKnownHoweverTheirNumberWasPrinted) {
  const auto values = [](const std::string& missing, const std::string& cells) {
    return esri("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 4\n" + missing + cells)
        .fields[0]
        .values;
  };
  // ArcGIS writes the header with all digits and cells with six; GDAL cells in single precision.
  for (const auto* cell : {"-3.40282e+38", "-3.4028234663852886e+38", "-3.4028235e38"})
    EXPECT_THAT(values("NODATA_value -3.4028234663852886e+38\n", std::string("7 ") + cell),
                ElementsAre(7, IsNan()));
  EXPECT_THAT(values("NODATA_value -9999.0001\n", "7 -9999"), ElementsAre(7, IsNan()));
  EXPECT_THAT(values("NODATA_value 0.1\n", "7 0.10000000149011612"), ElementsAre(7, IsNan()));
  EXPECT_THAT(values("NODATA_value nan\n", "7 nan"), ElementsAre(7, IsNan()));
  EXPECT_THAT(values("nodata -1\n", "-1.001 -1"), ElementsAre(-1.001, IsNan()));
  // Without a word of it -9999 is a gap, and a note says so.
  const auto g = esri("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 4\n7 -9999");
  EXPECT_THAT(g.fields[0].values, ElementsAre(7, IsNan()));
  EXPECT_THAT(g.attributes.at("note"), HasSubstr("1 values of -9999 are gaps"));
}

TEST(EsriGrid, MayBeInDegreesWhereItsNodesSaySo) {
  const std::string cells = "\ncellsize 0.25\n1 2\n3 4\n";
  EXPECT_TRUE(may_be_degrees(esri("ncols 2\nnrows 2\nxllcorner 134.1\nyllcorner -23.5" + cells)));
  EXPECT_FALSE(may_be_degrees(esri("ncols 2\nnrows 2\nxllcorner 500\nyllcorner -23.5" + cells)));
  EXPECT_FALSE(may_be_degrees(esri("ncols 2\nnrows 2\nxllcorner 13\nyllcorner -23\ncellsize 25\n1 2 3 4")));
  EXPECT_THAT(
      message([] { esri("ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\nxurcorner 90\ncellsize 4\n1 2"); }),
      HasSubstr("xurcorner is 90, and cells and counts make it 8"));
}

TEST(EsriGrid, ReadsCornersInDegreesAndMinutesInLatin1AndUtf8) {
  for (const std::string degree : {"\xB0", "\xC2\xB0"}) {
    const auto g = esri("ncols 1\nnrows 1\nxllcorner 12" + degree + "40'E\nyllcorner 47" + degree +
                        "30'30\"S\nxurcorner 13" + degree + "00'E\ncellsize 0.5\n7\n");
    EXPECT_TRUE(g.geographic);
    EXPECT_THAT(g.easting, ElementsAre(DoubleNear(12 + 40.0 / 60 + 0.25, 1e-12)));
    EXPECT_THAT(g.northing, ElementsAre(DoubleNear(-(47 + 30.0 / 60 + 30.0 / 3600) + 0.25, 1e-12)));
  }
}

TEST(FilesBesideGrids, SayInWhichUnitsTheyAre) {
  const TemporaryFolder folder;
  const auto placed = [&](const std::string& prj) {
    const std::string grid = "ncols 2\nnrows 2\nxllcenter 7200\nyllcenter 3600\ncellsize 360\n1 2\n3 4\n";
    folder.put("dem.asc", grid);
    folder.put("dem.prj", prj);
    return std::get<GridData>(read(folder / "dem.asc"));
  };
  constexpr const char* wgs84 =
      "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\",SPHEROID[\"WGS_1984\",6378137.0,298.257223563]],"
      "PRIMEM[\"Greenwich\",0.0],UNIT[\"Degree\",0.0174532925199433]]";
  const auto degrees = placed(wgs84);
  EXPECT_TRUE(degrees.geographic);
  EXPECT_FALSE(degrees.unit_is_assumed || degrees.attributes.contains("note"));
  const auto seconds =
      placed("Projection    GEOGRAPHIC\r\nDatum WGS84\r\nUnits DS\r\nZunits FEET\r\nParameters\r\n");
  EXPECT_TRUE(seconds.geographic);
  EXPECT_THAT(seconds.easting, ElementsAre(DoubleNear(2, 1e-12), DoubleNear(2.1, 1e-12)));
  EXPECT_THAT(seconds.fields[0].values[0], DoubleNear(3 * 0.3048, 1e-12));
  const std::string utm =
      "PROJCS[\"WGS_1984_UTM_Zone_33N\"," + std::string(wgs84) +
      ",PROJECTION[\"Transverse_Mercator\"],PARAMETER[\"False_Easting\",500000.0],PARAMETER[\"False_"
      "Northing\","
      "0.0],PARAMETER[\"Central_Meridian\",15.0],PARAMETER[\"Scale_Factor\",0.9996],PARAMETER[\"Latitude_Of_"
      "Origin\",0.0],UNIT[";
  const auto metres = placed(utm + "\"Meter\",1.0]]");
  EXPECT_THAT(metres.projection, HasSubstr("WGS_1984_UTM_Zone_33N"));
  EXPECT_THAT(metres.easting, ElementsAre(7200, 7560));
  EXPECT_THAT(placed(utm + "\"Foot\",0.3048]]").easting,
              ElementsAre(DoubleNear(7200 * 0.3048, 1e-9), testing::_));
  const auto high =
      placed(utm +
             "\"Meter\",1.0]],VERTCS[\"Depth\",VDATUM[\"Sea\"],PARAMETER[\"Vertical_Shift\",0.0],"
             "PARAMETER[\"Direction\",-1.0],UNIT[\"Foot_US\",0.3048006096012192]]");
  EXPECT_THAT(high.downward, ElementsAre("dem"));
  EXPECT_NEAR(high.fields[0].values[0], 3 * 0.3048006096012192, 1e-12);
  EXPECT_THAT(placed("nonsense").attributes.at("note"), HasSubstr("dem.prj beside it is not understood"));
  EXPECT_TRUE(placed("nonsense").unit_is_assumed);
  EXPECT_THAT(message([&] { placed("Projection UTM\nUnits CHAINS\n"); }),
              AllOf(HasSubstr("dem.prj"), HasSubstr("\"chains\""), HasSubstr("Allowed: METERS, FEET")));
  EXPECT_THAT(message([&] { placed("Projection UTM\nUnits METERS\nXshift -500000\n"); }),
              HasSubstr("xshift"));
}

TEST(FilesBesideGrids, OfGdalSayTheMapAndWhatIsNotReadOfThemIsNoted) {
  const TemporaryFolder folder;
  folder.put("dem.asc", "ncols 2\nnrows 2\nxllcenter 1\nyllcenter 2\ncellsize 1\n1 2\n3 4\n");
  folder.put(
      "dem.asc.aux.xml",
      "<PAMDataset><SRS>GEOGCS[&quot;WGS 84&quot;,DATUM[&quot;WGS_1984&quot;,SPHEROID[&quot;WGS 84&quot;,"
      "6378137,298.257223563]],PRIMEM[&quot;Greenwich&quot;,0],UNIT[&quot;degree&quot;,"
      "0.0174532925199433]]</SRS><PAMRasterBand band=\"1\"><Description>z</Description><NoDataValue "
      "le_hex_equiv=\"0000000000000840\">3</NoDataValue><UnitType>ft</UnitType><Offset>5</Offset>"
      "<Scale>0.1</Scale></PAMRasterBand></PAMDataset>");
  const auto grid = std::get<GridData>(read(folder / "dem.asc"));
  EXPECT_TRUE(grid.geographic);
  EXPECT_THAT(grid.fields[0].values,
              ElementsAre(testing::IsNan(), DoubleNear(5.4 * 0.3048, 1e-12), DoubleNear(5.1 * 0.3048, 1e-12),
                          DoubleNear(5.2 * 0.3048, 1e-12)));
  EXPECT_EQ(grid.fields[0].unit, "m");
  EXPECT_THAT(grid.attributes.at("note"),
              HasSubstr("0.1 times those stored, and 5 more, by dem.asc.aux.xml"));
  folder.put("dem.asc.aux.xml",
             "<PAMDataset><PAMRasterBand band=\"1\"><Scale>a</Scale></PAMRasterBand></PAMDataset>");
  EXPECT_THAT(message([&] { read(folder / "dem.asc"); }),
              AllOf(HasSubstr("dem.asc.aux.xml"), HasSubstr("Scale is \"a\"")));
}

TEST(FilesBesideGrids, DoNotChangeValuesOfFormatsThatHaveAScaleOfTheirOwn) {
  const TemporaryFolder folder;
  GridData grid{{0, 1000}, {0, 1000}, false, {{"z", "m", "", {1, 2, 3, 4}}}, "", {}};
  grid.unit_is_assumed = true;
  const auto beside = [&](const char* band) {
    folder.put("dem.nc.aux.xml", fmt::format("<PAMRasterBand band=\"1\">{}</PAMRasterBand>", band));
    place_by_files_beside(folder / "dem.nc", false, grid);
  };
  EXPECT_THAT(message([&] { beside("<NoDataValue>3</NoDataValue>"); }),
              AllOf(HasSubstr("dem.nc.aux.xml"), HasSubstr("NoDataValue, Scale or Offset"),
                    HasSubstr("gdal_translate")));
  beside("<Scale>1</Scale>");
  EXPECT_THAT(grid.fields[0].values, ElementsAre(1, 2, 3, 4));
}

TEST(EsriGrid, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  write_esri(folder / "a.asc", small_grid());
  expect_same(read_esri(folder / "a.asc"), small_grid());
}

TEST(EsriGrid, CannotHoldOblongOrUnevenCells) {
  const TemporaryFolder folder;
  auto g = small_grid();
  g.northing = {-5, 6};
  EXPECT_THAT(message([&] { write_esri(folder / "a.asc", g); }),
              AllOf(HasSubstr("a.asc"), HasSubstr("not square")));
  g.easting = {100, 110, 121};
  EXPECT_THAT(message([&] { write_esri(folder / "a.asc", g); }),
              HasSubstr("along easting are not evenly spaced"));
  g.fields.push_back({"other", "", "", g.fields[0].values});
  EXPECT_THAT(message([&] { write_esri(folder / "a.asc", g); }),
              AllOf(HasSubstr("there are 2"), HasSubstr("height, other")));
  EXPECT_THAT(message([&] { write_esri(folder / "a.asc", g, "heigt"); }),
              HasSubstr("Did you mean \"height\"?"));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(EsriGrid, SaysWhatIsWrongInIt) {
  const std::string head = "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n";
  EXPECT_THAT(message([&] { esri(head + "1 2\n3\n"); }),
              AllOf(HasSubstr("dem.asc:7"), HasSubstr("ends after 3 of 4")));
  EXPECT_THAT(message([&] { esri(head + "1 2\n3 4 5\n"); }),
              AllOf(HasSubstr("dem.asc:7"), HasSubstr("after the last row")));
  EXPECT_THAT(message([&] { esri("nclos 2\n" + head); }),
              AllOf(HasSubstr("dem.asc:1"), HasSubstr("not a line of an ESRI")));
  EXPECT_THAT(message([&] { esri(head + "1 2\n3 x\n"); }), AllOf(HasSubstr("dem.asc:7"), HasSubstr("\"x\"")));
  EXPECT_THAT(message([] { esri("ncols 2\n1 2\n"); }), HasSubstr("no nrows"));
  EXPECT_THAT(message([] { esri("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 0\n1 2 3 4\n"); }),
              HasSubstr("cell size of 0"));
  EXPECT_THAT(
      message([] { esri("ncols 100000000\nnrows 100000000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1\n"); }),
      HasSubstr("ends after 1 of"));
  EXPECT_THAT(message([] { esri("ncols 2\nnrows -2\n"); }), HasSubstr("nrows is -2"));
  EXPECT_THAT(message([] { esri("ncols 2\nnrows 1\nxllcorner 1e20\nyllcorner 0\ncellsize 1\n1 2\n"); }),
              HasSubstr("lost in the rounding"));
}

std::string surfer6_binary() {
  std::string s = "DSBB";
  const auto put = [&](auto v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(std::int16_t{3}), put(std::int16_t{2});
  for (const double v : {100., 120., -5., 5., 1., 5.}) put(v);
  for (const float v : {1.F, 2.F, 1.70141e38F, 4.F, 5.F, 0.5F}) put(v);
  return s;
}

TEST(SurferGrid, ReadsSurfer6Binary) {
  const auto g = read_surfer("a.grd", surfer6_binary());
  EXPECT_THAT(g.easting, ElementsAre(100, 110, 120));
  EXPECT_THAT(g.northing, ElementsAre(-5, 5));
  EXPECT_THAT(g.fields[0].values, ElementsAre(1, 2, IsNan(), 4, 5, 0.5));
}

TEST(SurferGrid, ReadsSurfer6TextWithRowsThatWrap) {
  const auto g =
      read_surfer("a.grd", "DSAA\r\n3 2\r\n100 120\r\n-5 5\r\n1 5\r\n1 2\r\n1.70141E+038 4\r\n5 .5\r\n");
  EXPECT_THAT(g.easting, ElementsAre(100, 110, 120));
  EXPECT_THAT(g.fields[0].values, ElementsAre(1, 2, IsNan(), 4, 5, 0.5));
}

TEST(SurferGrid, ComesBackAsItWasWrittenAsTextAndAsSurfer7) {
  const TemporaryFolder folder;
  write_surfer_text(folder / "a.grd", small_grid());
  expect_same(read_surfer(folder / "a.grd"), small_grid());
  write_surfer7(folder / "b.grd", small_grid());
  EXPECT_EQ(bytes_of(folder / "b.grd").size(),
            100 + 6 * sizeof(double));  // where Surfer 7 files have their data
  expect_same(read_surfer(folder / "b.grd"), small_grid());
}

TEST(SurferGrid, BlanksOfFewDigitsAreGapsAndWhatStandsBehindIsNoted) {
  EXPECT_THAT(read_surfer("a.grd", "DSAA\n2 2\n0 9\n0 9\n1 5\n1 1.7014e38\n3 4").fields[0].values,
              ElementsAre(1, IsNan(), 3, 4));
  EXPECT_THAT(read_surfer("a.grd", surfer6_binary() + "more").attributes.at("note"),
              HasSubstr("4 bytes behind the last node"));
}

TEST(SurferGrid, OfSurfer7IsRefusedWhenItIsRotated) {
  const TemporaryFolder folder;
  write_surfer7(folder / "a.grd", small_grid());
  auto bytes = bytes_of(folder / "a.grd");
  const double angle = 30;
  std::memcpy(&bytes[20 + 8 + 48], &angle, sizeof angle);
  EXPECT_THAT(message([&] { read_surfer("a.grd", bytes); }), HasSubstr("rotated by 30 degrees"));
}

TEST(SurferGrid, SkipsSectionsOfSurfer7ThatItDoesNotKnow) {
  const TemporaryFolder folder;
  write_surfer7(folder / "a.grd", small_grid());
  auto bytes = bytes_of(folder / "a.grd");
  bytes.insert(92, std::string("FLTI\x08\0\0\0"
                               "12345678",
                               16));
  expect_same(read_surfer("a.grd", bytes), small_grid());
}

TEST(SurferGrid, SaysThatItIsTruncatedAtEveryByte) {
  const TemporaryFolder folder;
  write_surfer7(folder / "a.grd", small_grid());
  for (const auto& bytes : {bytes_of(folder / "a.grd"), surfer6_binary()})
    for (std::size_t n = 0; n < bytes.size(); ++n)
      EXPECT_THROW(read_surfer("a.grd", std::string_view(bytes).substr(0, n)), InputError) << n;
}

TEST(SurferGrid, SaysWhatIsWrongInIt) {
  EXPECT_THAT(message([] { read_surfer("a.grd", "DSAA\n1 2\n"); }),
              AllOf(HasSubstr("a.grd:2"), HasSubstr("columns is 1")));
  EXPECT_THAT(message([] { read_surfer("a.grd", "DSAA\n2 2\n5 1\n0 1\n0 1\n1 2 3 4\n"); }),
              HasSubstr("ascending limits"));
  EXPECT_THAT(message([] { read_surfer("a.grd", "DSAA\n2 2\n0 1\n0 1\n0 1\n1 2 3\n"); }),
              HasSubstr("ends after 3 of 4"));
  EXPECT_THAT(message([] { read_surfer("a.grd", "hello"); }), HasSubstr("not a Surfer grid"));
  auto bomb = surfer6_binary();
  bomb[4] = bomb[6] = '\xFF';
  bomb[5] = bomb[7] = '\x7F';  // 32767 x 32767
  EXPECT_THAT(message([&] { read_surfer("a.grd", bomb); }),
              AllOf(HasSubstr("32767 x 32767"), HasSubstr("has 24 left")));
}

}  // namespace
}  // namespace terrane::io
