#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "support/files.hpp"
#include "terrane/io/airborne.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/notes.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using namespace testing_support;

Table csv(std::string text) {
  TextReader in("stations.csv", std::move(text));
  return read_csv(in);
}

TEST(Csv, TakesUnitsFromItsHeader) {
  const auto t = csv("easting [km],northing (m),up [m],g_u [mGal],note\n1,2,3,-4.5,6\n");
  EXPECT_EQ(t.columns.size(), 5U);
  EXPECT_EQ(t.find("northing")->unit, "m");
  EXPECT_EQ(t.find("note")->unit, "");
  EXPECT_THAT(t.si("easting", Quantity::length), ElementsAre(1000));
  EXPECT_THAT(t.si("g_u", Quantity::acceleration), ElementsAre(-4.5e-5));
}

TEST(Csv, KeepsWhatItsCommentsSay) {
  const auto t =
      csv("# frame: enu\n# job: [mesh]\n# job: a = 1\n# hello\n# projection: EPSG:32735\nup [m]\n1\n# "
          "later\n2\n");
  EXPECT_THAT(t.attributes,
              ElementsAre(Pair("comment", "hello"), Pair("frame", "enu"), Pair("job", "[mesh]\na = 1")));
  EXPECT_EQ(t.projection, "EPSG:32735");
  EXPECT_THAT(t.find("up")->values, ElementsAre(1, 2));
  EXPECT_THAT(t.lines, ElementsAre(7, 9));
}

TEST(Csv, SplitsAtSemicolonsTabsAndBlanksToo) {
  for (const auto* text : {"up [m];x [m]\n1; 2\n", "up [m]\tx [m]\r\n1\t2\r\n",
                           "  up [m]   x [m]\n 1 \t 2 \n", "up [m], x [m]\n1,2,\n"}) {
    const auto t = csv(text);
    ASSERT_EQ(t.columns.size(), 2U) << text;
    EXPECT_EQ(t.columns[1].unit, "m");
    EXPECT_THAT(t.columns[1].values, ElementsAre(2));
  }
}

TEST(Csv, KeepsWordsAndQuotedEntries) {
  const auto t = csv("station,up [m],code\n\"A, \"\"old\"\"\",1,007\nB,,12\n");
  ASSERT_EQ(t.texts.size(), 1U);
  EXPECT_EQ(t.texts[0].name, "station");
  EXPECT_THAT(t.texts[0].values, ElementsAre("A, \"old\"", "B"));
  EXPECT_TRUE(std::isnan(t.find("up")->values[1]));
  EXPECT_THAT(t.find("code")->values, ElementsAre(7, 12));
}

TEST(Csv, CountsAnEmptyEntryAsMissingAndSaysWhereWhenItIsNeeded) {
  const auto t = csv("easting [m],northing [m],up [m]\n0,0,1\n0,1,\n0,2,NA\n");
  EXPECT_THAT(message([&] { to_survey(t); }),
              AllOf(HasSubstr("stations.csv:3"), HasSubstr("2 rows (this is the first) have no up")));
}

TEST(Csv, AsksForAMissingUnitUnlessADefaultIsGiven) {
  const auto t = csv("easting,northing,up\n1,2,3\n");
  EXPECT_THAT(message([&] { to_survey(t); }),
              AllOf(HasSubstr("stations.csv"), HasSubstr("column \"easting\" has no unit"),
                    HasSubstr("easting [m]"), HasSubstr("survey.length_unit")));
  EXPECT_THAT(to_survey(t, "km").up, ElementsAre(3000));
  EXPECT_THAT(message([&] { csv("up [mGal]\n1\n").si("up", Quantity::length); }),
              AllOf(HasSubstr("column \"up\""), HasSubstr("mGal")));
}

TEST(Csv, NamesTheNearestColumn) {
  EXPECT_THAT(message([] { to_survey(csv("eastng [m],northing [m],up [m]\n1,2,3\n")); }),
              AllOf(HasSubstr("no column \"easting\""), HasSubstr("eastng")));
}

TEST(Csv, SaysWhereAnEntryIsWrong) {
  EXPECT_THAT(message([] { csv("up [m]\n1\nabc\n"); }),
              AllOf(HasSubstr("stations.csv:3"), HasSubstr("column \"up\": \"abc\"")));
  EXPECT_THAT(message([] { csv("easting\nabc\n"); }), HasSubstr("stations.csv:2"));
  EXPECT_THAT(message([] { csv("a,b\n1,2\n3\n"); }),
              AllOf(HasSubstr("stations.csv:3"), HasSubstr("1 entries where there are 2")));
  EXPECT_THAT(message([] { csv("a,a\n"); }), HasSubstr("two columns are called \"a\""));
  EXPECT_THAT(message([] { csv("a,b\n\"1,2\n"); }),
              AllOf(HasSubstr("stations.csv:2"), HasSubstr("not closed")));
  EXPECT_THAT(message([] { csv("# nothing\n\n"); }), HasSubstr("no rows"));
  EXPECT_THAT(
      message([] { csv("station,up [m]\nA,1\n").si("station", Quantity::length); }),
      AllOf(HasSubstr("stations.csv:2"), HasSubstr("column \"station\" holds text"), HasSubstr("\"A\"")));
}

TEST(Csv, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  Table t;
  t.columns = {{"easting", "m", "", {0.1, 1e300}}, {"g_u", "mGal", "", {-1.0 / 3, std::nan("")}}};
  t.texts = {{"name", {"a,b", "say \"hi\""}, 0}};
  t.attributes = {{"frame", "enu"}, {"job", "[mesh]\n\nsize = 1\n"}};
  t.projection = "EPSG:32735";
  write_csv(folder / "a.csv", t);
  const auto again = read_csv(folder / "a.csv");
  EXPECT_EQ(again.columns[0].values, t.columns[0].values);
  EXPECT_EQ(again.columns[1].values[0], t.columns[1].values[0]);
  EXPECT_TRUE(std::isnan(again.columns[1].values[1]));
  EXPECT_EQ(again.columns[1].unit, "mGal");
  EXPECT_EQ(again.texts[0].values, t.texts[0].values);
  EXPECT_EQ(again.attributes, t.attributes);
  EXPECT_EQ(again.projection, t.projection);
}

TEST(CsvPrisms, ComeInAnyCornerOrderWithoutAHeader) {
  for (const auto* text :
       {"0 0 -10 5 6 0 2670\n5 6 0 0 0 -10 100\n", "0,0,-10,5,6,0,2670\n5,6,0,0,0,-10,100\n"}) {
    const auto t = csv(text);
    ASSERT_TRUE(holds_prisms(t));
    const auto p = to_prisms(t, "m", "kg/m3");
    EXPECT_EQ(p.prisms[0], (Prism{0, 5, 0, 6, -10, 0}));
    EXPECT_EQ(p.prisms[1], p.prisms[0]);
    EXPECT_THAT(p.properties.at(0).values, ElementsAre(2670, 100));
  }
}

TEST(CsvPrisms, ComeWithFacesByName) {
  const auto t = csv(
      "density [g/cm3],west [km],east [km],south [km],north [km],bottom [km],top [km]\n2.67,0,1,0,2,-3,0\n");
  const auto p = to_prisms(t);
  EXPECT_EQ(p.prisms[0], (Prism{0, 1000, 0, 2000, -3000, 0}));
  EXPECT_DOUBLE_EQ(p.properties.at(0).values[0], 2670);
}

TEST(CsvPrisms, SayWhichLineHasNoThickness) {
  EXPECT_THAT(message([] { to_prisms(csv("0 0 0 1 1 1 5\n0 0 0 1 1 0 5\n"), "m", "kg/m3"); }),
              AllOf(HasSubstr("stations.csv:2"), HasSubstr("no extent between z1 0 and z2 0")));
  EXPECT_THAT(message([] {
                to_prisms(csv("west,east,south,north,bottom,top,density\n1,0,0,1,0,1,5\n"), "m", "kg/m3");
              }),
              AllOf(HasSubstr("stations.csv:2"), HasSubstr("west 1 and east 0"), HasSubstr("west < east")));
  EXPECT_THAT(message([] { csv("0 0 0 1 1 1 5\n0 0 x 1 1 1 5\n"); }),
              AllOf(HasSubstr("stations.csv:2"), HasSubstr("\"x\"")));
  EXPECT_THAT(message([] { csv("0 0 0 1 1 1 5\n0 0 0 1 1 5\n"); }),
              AllOf(HasSubstr("stations.csv:2"), HasSubstr("6 entries where there are 7")));
  EXPECT_THAT(message([] { to_prisms(csv("0 0 0 1 1 1 nan\n"), "m", "kg/m3"); }), HasSubstr("no rho"));
}

TEST(Table, BecomesAGridWhateverTheOrderOfItsRows) {
  const auto t = csv("easting [km],northing [m],up [m],z\n1,10,0,11\n0,10,0,10\n0,5,0,0\n1,5,0,1\n");
  const auto g = to_grid(t);
  ASSERT_TRUE(g);
  EXPECT_THAT(g->easting, ElementsAre(0, 1000));
  EXPECT_THAT(g->northing, ElementsAre(5, 10));
  EXPECT_THAT(g->find("z")->values, ElementsAre(0, 1, 10, 11));
  EXPECT_FALSE(to_grid(csv("easting [m],northing [m]\n0,0\n1,0\n0,1\n0,1\n")));
  EXPECT_FALSE(to_grid(csv("easting [m],northing [m]\n0,0\n1,0\n0,1\n")));
  // Points without names of columns, as many programs write elevations.
  const auto bare = to_grid(csv("0 10 5\n20 10 6\n0 30 7\n20 30 8\n"));
  ASSERT_TRUE(bare.has_value());
  EXPECT_EQ(bare->easting, (std::vector<double>{0, 20}));
  EXPECT_EQ(bare->northing, (std::vector<double>{10, 30}));
  EXPECT_EQ(bare->fields.at(0).name, "up");
  EXPECT_EQ(bare->fields.at(0).values, (std::vector<double>{5, 6, 7, 8}));
  EXPECT_TRUE(bare->unit_is_assumed);
  EXPECT_FALSE(to_grid(csv("0 10 5\n20 10 6\n0 30 7\n20 31 8\n")));
  EXPECT_TRUE(to_grid(csv("longitude,latitude,z\n0,0,1\n1,0,1\n0,1,1\n1,1,1\n"))->geographic);
}

TEST(Table, BecomesAGriddedSurveyWhenItsRowsRunEastFirst) {
  const auto s = to_survey(csv("easting [m],northing [m],up [m]\n0,0,1\n1,0,1\n0,2,1\n1,2,1\n"));
  ASSERT_TRUE(s.grid);
  EXPECT_THAT(s.grid->northing, ElementsAre(0, 2));
  EXPECT_FALSE(to_survey(csv("easting [m],northing [m],up [m]\n0,2,1\n1,2,1\n0,0,1\n1,0,1\n")).grid);
}

TEST(Csv, WithAHundredThousandColumnsIsReadInASecondOrTwo) {
  std::string header = "c0", row = "0";
  for (int c = 1; c < 100000; ++c) header += fmt::format(",c{}", c), row += ",1";
  TextReader in("wide.csv", header + "\n" + row + "\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(read_csv(in).columns.size(), 100000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // minutes, column by column
}

TEST(Csv, TakesNoMoreMemoryThanItIsAllowed) {
  std::string text = "a,b\n";
  for (int row = 0; row < 100000; ++row) text += "1,2\n";
  const auto read = [&](std::size_t memory) {
    return message([&] {
      TextReader in("rows.csv", text, memory);
      read_csv(in);
    });
  };
  EXPECT_EQ(read(4'000'000), "no error");
  EXPECT_NE(read(2'000'000).find("rows.csv:1: would need 2.4 MB"), std::string::npos) << read(2'000'000);
  EXPECT_NE(read(100'000).find("rows.csv: would need"), std::string::npos) << read(100'000);
}

TEST(Csv, DecimalCommasAreReadWhereCommasDoNotPartEntries) {
  const auto table = [](const std::string& text) {
    TextReader in("t.csv", text);
    return read_csv(in);
  };
  const auto t = table("easting [m];northing [m];up [m]\n1,5;-2,25;3\n");
  EXPECT_EQ(t.find("easting")->values[0], 1.5);
  EXPECT_EQ(t.find("northing")->values[0], -2.25);
  EXPECT_THAT(t.attributes.at("note"), HasSubstr("decimal signs"));
  EXPECT_THAT(message([&] { table("a;b\n1,5;2\n1.5;2\n"); }), HasSubstr("some numbers have decimal commas"));
  EXPECT_THAT(message([&] { table("Line 10\n1 2 3 4\n"); }), HasSubstr("Is it a table?"));
}

/// A dummy was a datum of -9999 mGal, or a station at a depth of 10 km.
TEST(Csv, NumbersThatAreWrittenForNoValueAreFoundWhereTheyAreFarFromAllOthers) {
  const TemporaryFolder folder;
  const auto said = [&](const std::string& name, const std::vector<std::string>& values) {
    std::string text = "easting," + name + "\n";
    for (const auto& value : values) text += "1," + value + "\n";
    return written_for_none(read(folder.put("table.csv", text)));
  };
  EXPECT_THAT(said("g_u", {"0.3", "0.1", "", "-9999", "0.4"}), HasSubstr("g_u: -9999 (value 4) is far"));
  EXPECT_THAT(said("up", {"2200", "300", "-9999", "1500"}), HasSubstr("up: -9999"));
  EXPECT_THAT(said("tmi", {"-1e32", "20", "-40", "12", "-1e32"}), HasSubstr("2 such in all"));
  EXPECT_EQ(said("tmi", {"-9000", "20", "-9999", "12"}), "");
  EXPECT_EQ(said("up", {"-10.5", "-9999.5", "-3", "-2"}), "");
  EXPECT_EQ(said("b_easting", {"0", "10", "20", "-9999"}), "");
  EXPECT_EQ(said("g_u", {"-999", "-9999"}), "");
  // A chargeability of -9999 V/V is read as mV/V, a density of -999.25 g/cm3 as kg/m3.
  for (const double none : {-9999e3, -999.25e3, -99990.0})
    EXPECT_NE(written_for_none(Column{"chargeability", "mV/V", "", {5, 7, none, 6}}), "") << none;
  EXPECT_EQ(written_for_none(Column{"chargeability", "mV/V", "", {5, 7, -9998e3, 6}}), "");
  const std::string faces = "west,east,south,north,bottom,top,density\n",
                    rows = "0,10,0,10,-30,0,1\n10,20,0,10,-20,0,2\n20,30,0,10,-25,0,3\n";
  ReadOptions units;
  units.unit = "kg/m3", units.length_unit = "m";
  const auto prisms = [&](const std::string& last) {
    const auto file = folder.put("prisms.csv", faces + rows + last);
    TextReader in(file, faces + rows + last);
    const auto as_table = written_for_none(read_csv(in));
    EXPECT_EQ(as_table, written_for_none(read(file, units)));
    return as_table;
  };
  EXPECT_EQ(prisms("30,999999,-999999,10,-9999,0,2\n"), "") << "a slab that ends far away";
  EXPECT_THAT(prisms("30,40,0,10,-30,0,-9999\n"), HasSubstr("density: -9999 (value 4)"));
  EXPECT_THAT(written_for_none(Array{{4}, {1, 2, 3, -9999}, {}}), HasSubstr("-9999 (value 4)"));
  Table two;
  two.columns = {{"up", "m", "", {1, 2, 3, 4}}, {"tmi", "nT", "", {1, 2, 3, -9999}}};
  EXPECT_THAT(written_for_none(two), HasSubstr("tmi: -9999"));
  EXPECT_EQ(written_for_none(two, [](std::string_view name) { return name == "up"; }), "");
}

TEST(GeosoftXyz, DummiesAreGaps) {
  TextReader in("a.xyz", "/ X Y mag\nLine 10\n1 2 -1.0e32\n1 2 -1000000\n");
  const auto values = read_geosoft(in).find("mag")->values;
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], -1e6);
}

TEST(GeosoftXyz, LinesHaveTheNamesOfTheLastCommentThatFits) {
  const TemporaryFolder folder;
  const auto t =
      std::get<Table>(read(folder.put("survey.xyz",
                                      "/ Geosoft database export\n/ X Y Z TMI\n//====\nLine 10\n"
                                      " 500000.0 7000000.0 80.0 51234.5\n 500010.0 7000000.0 80.0 *\n"
                                      "Tie 20\n 500010.0 7000100.0 80.0 51230.1\n")));
  EXPECT_EQ(t.rows(), 3U);
  EXPECT_EQ(t.find("X")->values[1], 500010);
  EXPECT_TRUE(std::isnan(t.find("TMI")->values[1]));
  EXPECT_EQ(t.texts.at(0).values.at(2), "20");
  EXPECT_THAT(message([&] { read(folder.put("b.xyz", "Line 1\n1 2 3\n1 2\n")); }),
              HasSubstr("b.xyz:3: 2 entries"));
}

TEST(AsegGdf, ColumnsAreThoseOfTheDefinitionBesideTheData) {
  const TemporaryFolder folder;
  folder.put("survey.dfn",
             "DEFN   ST=RECD,RT=COMM;RT:A4;COMMENTS:A76\nDEFN 1 ST=RECD,RT=;LINE:I6\nDEFN 2 "
             "ST=RECD,RT=;X:F10.1:UNIT=m\n"
             "DEFN 3 ST=RECD,RT=;Y:F10.1:UNIT=m\nDEFN 4 ST=RECD,RT=;Z:F8.1:UNIT=m\n"
             "DEFN 5 ST=RECD,RT=;MAG:F9.2:UNIT=nT,NULL=-9999.99;END DEFN\n");
  const auto t = std::get<Table>(read(folder.put("survey.dat",
                                                 "    10  500000.0 7000000.0    80.0 51234.50\n"
                                                 "    10  500010.0 7000000.0    80.0 -9999.99\n"
                                                 "    10  500010.0 7000000.0    80.0-12345.25\n")));
  EXPECT_EQ(t.find("MAG")->values[0], 51234.5);
  EXPECT_TRUE(std::isnan(t.find("MAG")->values[1]));
  EXPECT_EQ(t.find("MAG")->values[2], -12345.25) << "no blank before it";
  EXPECT_EQ(t.find("Y")->unit, "m");
  EXPECT_EQ(t.find("Y")->values[1], 7000000);
}

}  // namespace
}  // namespace terrane::io
