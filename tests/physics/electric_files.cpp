// Files of arrays and their data: UBC DCIP and BERT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/physics/electric/survey/files.hpp"

namespace terrane::electric::files {
namespace {

using io::read_bert;
using io::read_ubc_dcip;
using io::write_bert;
using io::write_ubc_dcip;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string corpus = TERRANE_SOURCE_DIR "/tests/fuzz/corpus/";

TEST(FilesOfArrays, ASectionOfUbcHasItsPairsAlongALineOnTheGround) {
  const auto section = read_measured(corpus + "ubc_dcip/section.obs");
  const auto& electrodes = section.electrodes;
  ASSERT_EQ(electrodes.arrays.size(), 3U);
  const auto& p = electrodes.place;
  const auto at = [&](int n) { return n < 0 ? -1 : p[static_cast<std::size_t>(n)].e; };
  EXPECT_EQ(at(electrodes.arrays[1].a), 26000);
  EXPECT_EQ(at(electrodes.arrays[1].b), 26100);
  EXPECT_EQ(at(electrodes.arrays[1].m), 26700);
  EXPECT_EQ(electrodes.arrays[2].b, Array::far_away);
  EXPECT_TRUE(std::isnan(p[0].u));
  ASSERT_EQ(section.columns.size(), 1U);
  EXPECT_EQ(section.columns[0].name, "resistance");
  EXPECT_THAT(section.columns[0].values, ElementsAre(3.395308e-3, 1.727969e-3, 1.7e-3));
  EXPECT_EQ(section.columns[0].uncertainty[2], 5.1e-5);
}

TEST(FilesOfArrays, UbcWithHeightsSaysThatItHoldsChargeabilities) {
  const auto data = read_measured(corpus + "ubc_dcip/general.obs");
  EXPECT_EQ(data.columns[0].name, "chargeability");
  EXPECT_EQ(data.electrodes.place[1], (Point{10, 0, 1.25}));
  EXPECT_EQ(data.electrodes.arrays[2].n, Array::far_away);
}

TEST(FilesOfArrays, BertDividesVoltagesByCurrentsAndLeavesOutWhatIsNotValid) {
  const auto line = read_measured(corpus + "bert/line.ohm");
  ASSERT_EQ(line.electrodes.arrays.size(), 2U);
  EXPECT_EQ(line.electrodes.place[3], (Point{3, 0, -0.2}));
  EXPECT_EQ(line.electrodes.arrays[1].n, Array::far_away);
  const auto* r = line.find("resistance");
  ASSERT_TRUE(r);
  EXPECT_NEAR(r->values[0], -0.125, 1e-15);
  EXPECT_NEAR(r->uncertainty[0], 0.0025, 1e-15);
  const auto survey = read_measured(corpus + "bert/survey.dat");
  EXPECT_EQ(survey.electrodes.place[1], (Point{5, 1, -2}));
  EXPECT_EQ(survey.find("phase")->uncertainty[0], 0.5);
  EXPECT_EQ(survey.find("apparent_resistivity")->values[0], 101.5);
}

TEST(FilesOfArrays, WhatIsWrittenIsReadAgain) {
  Measured measured;
  measured.electrodes = {{{0, 0, 3}, {5, 1, 2.5}, {10, 0, 2}, {15, 0.25, -1.125}},
                         {{0, 1, 2, 3}, {0, 1, 3, 2}, {2, -1, 3, -1}}};
  measured.columns = {{"resistance", "V/A", {0.125, -0.25, 3.5}, {0.0125, 0.025, 0.07}}};
  const auto folder = std::filesystem::path(testing::TempDir());
  for (const std::string name : {"electric_files.obs", "electric_files.ohm"}) {
    const auto file = folder / name;
    name.ends_with(".ohm") ? write_bert(file, measured) : write_ubc_dcip(file, measured);
    const auto again = read_measured(file);
    ASSERT_EQ(again.electrodes.arrays.size(), 3U) << name;
    for (std::size_t n = 0; n < 3; ++n) {
      const auto of = [&](const Electrodes& e, int which) {
        return which < 0 ? Point{-99, 0, 0} : e.place[static_cast<std::size_t>(which)];
      };
      const auto &a = measured.electrodes.arrays[n], &b = again.electrodes.arrays[n];
      EXPECT_EQ(of(measured.electrodes, a.a), of(again.electrodes, b.a));
      EXPECT_EQ(of(measured.electrodes, a.b), of(again.electrodes, b.b));
      EXPECT_EQ(of(measured.electrodes, a.m), of(again.electrodes, b.m));
      EXPECT_EQ(of(measured.electrodes, a.n), of(again.electrodes, b.n));
    }
    EXPECT_EQ(again.find("resistance")->values, measured.columns[0].values);
    for (std::size_t n = 0; n < 3; ++n)
      EXPECT_NEAR(again.find("resistance")->uncertainty[n], measured.columns[0].uncertainty[n], 1e-9);
    std::filesystem::remove(file);
  }
}

TEST(FilesOfArrays, AnArrayWithoutAValueIsAGapInBertAndLeftOutOfUbc) {
  Measured measured;
  measured.electrodes = {{{0, 0, 0}, {5, 0, 0}, {10, 0, 0}, {15, 0, 0}}, {{0, 1, 2, 3}, {0, 1, 3, 2}}};
  measured.columns = {{"resistance", "V/A", {NAN, 90}, {1, 3}}};
  const testing_support::TemporaryFolder folder;
  write_bert(folder / "gap.ohm", measured);
  const auto with = read_measured(folder / "gap.ohm");
  ASSERT_EQ(with.electrodes.arrays.size(), 2U);
  EXPECT_TRUE(std::isnan(with.columns.at(0).values[0]));
  EXPECT_EQ(with.columns[0].values[1], 90);
  write_ubc_dcip(folder / "gap.obs", measured);
  const auto without = read_measured(folder / "gap.obs");
  ASSERT_EQ(without.electrodes.arrays.size(), 1U);
  EXPECT_EQ(without.columns.at(0).values[0], 90);
}

/// Rows of a run, with what was measured beside it.
io::Table rows_of_a_run() {
  io::Table table;
  const double far = std::nan("");
  const std::vector<std::vector<double>> x{{15, 5}, {0, far}, {5, 10}, {10, 15}};  // a b m n
  for (std::size_t p = 0; p < 4; ++p)
    for (const auto* axis : {"easting", "northing", "up"}) {
      table.columns.push_back({std::string(1, "abmn"[p]) + "_" + axis, "m", "", x[p]});
      if (axis[0] != 'e')
        for (double& value : table.columns.back().values)
          value = std::isnan(value) ? far : axis[0] == 'n' ? 1 : 2;
    }
  table.columns.push_back({"resistance", "V/A", "", {-0.5, 0.25}});
  table.columns.push_back({"geometric_factor", "m", "", {-100, 200}});
  table.columns.push_back({"apparent_resistivity", "ohm m", "", {50, 50}});
  table.columns.push_back({"chargeability", "mV/V", "", {10, 20}});
  table.columns.push_back({"resistance_observed", "V/A", "", {-0.4, 0.2}});
  table.columns.push_back({"resistance_uncertainty", "mV/A", "", {40, 10}});
  return table;
}

TEST(FilesOfArrays, RowsOfARunAreWhatItComputedAndElectrodesInOrder) {
  const testing_support::TemporaryFolder folder;
  const auto rows = rows_of_a_run();
  EXPECT_THAT(io::left_out_of_bert("a.ohm", rows),
              ElementsAre("chargeability", "resistance_observed", "resistance_uncertainty"));
  io::write_bert_rows(folder / "a.ohm", rows);
  EXPECT_EQ(testing_support::bytes_of(folder / "a.ohm"),
            "4\n# x y z\n0 1 2\n5 1 2\n10 1 2\n15 1 2\n2\n# a b m n r rhoa k\n"
            "4 1 2 3 -0.5 50 -100\n2 0 3 4 0.25 50 200\n0\n");
  io::write_ubc_dcip_rows(folder / "a.dcip", rows, "chargeability");
  EXPECT_THAT(read_measured(folder / "a.dcip").find("chargeability")->values, ElementsAre(10, 20));
  EXPECT_THAT(testing_support::message([&] { io::write_ubc_dcip_rows(folder / "b", rows, "phase"); }),
              HasSubstr("no column \"phase\""));
  // Nothing in the file would tell it from a resistance.
  EXPECT_THAT(
      testing_support::message([&] { io::write_ubc_dcip_rows(folder / "b", rows, "apparent_resistivity"); }),
      HasSubstr("no column \"apparent_resistivity\""));
}

TEST(FilesOfArrays, WhatARunWroteIsKnownWhateverItsName) {
  const testing_support::TemporaryFolder folder;
  const auto rows = rows_of_a_run();
  for (const auto* field : {"resistance", "chargeability"}) {
    io::write_ubc_dcip_rows(folder / "a.dat", rows, field);
    EXPECT_EQ(io::format_of(folder / "a.dat").name, "ubc-dcip") << field;
  }
}

TEST(FilesOfArrays, ArraysWithoutAValueAreCountedBeforeUbcLeavesThemOut) {
  auto rows = rows_of_a_run();
  std::erase_if(rows.columns, [](const Column& c) { return c.name.starts_with("resistance_"); });
  for (auto& column : rows.columns)
    if (column.name == "resistance") column.values[0] = NAN;
  EXPECT_THAT(io::left_out_of_ubc_dcip("a.dcip", rows, ""),
              ElementsAre("geometric_factor", "apparent_resistivity", "chargeability",
                          "1 of 2 arrays, which have no resistance"));
}

TEST(FilesOfArrays, AtAFrequencyResistancesAreMagnitudesAsTheirPhasesAsk) {
  const testing_support::TemporaryFolder folder;
  auto rows = rows_of_a_run();
  for (auto& column : rows.columns)
    if (column.name == "resistance") column.values = {-0.3, 0.4};
  rows.columns.push_back({"reactance", "V/A", "", {0.4, -0.3}});
  rows.columns.push_back({"phase", "mrad", "", {927.295218, 643.501109}});
  EXPECT_THAT(io::left_out_of_bert("a.ohm", rows),
              ElementsAre("chargeability", "resistance_observed", "resistance_uncertainty"));
  io::write(folder / "a.ohm", rows);
  const auto data = read_measured(folder / "a.ohm");
  EXPECT_THAT(data.find("resistance")->values, ElementsAre(testing::DoubleEq(-0.5), testing::DoubleEq(0.5)));
  EXPECT_THAT(data.find("phase")->values, ElementsAre(927.295218, 643.501109));
}

TEST(FilesOfArrays, RowsThatWereMeasuredKeepTheirUncertainty) {
  const testing_support::TemporaryFolder folder;
  auto rows = rows_of_a_run();
  std::erase_if(rows.columns,
                [](const Column& c) { return c.name == "resistance" || c.name == "chargeability"; });
  EXPECT_THAT(io::left_out_of_ubc_dcip("a.dcip", rows, ""),
              ElementsAre("geometric_factor", "apparent_resistivity"));
  for (const auto* name : {"a.dcip", "a.ohm"}) {
    io::write(folder / name, rows);
    const auto again = std::get<io::Table>(io::read(folder / name));
    EXPECT_THAT(again.find("resistance_observed")->values, ElementsAre(-0.4, 0.2)) << name;
    const auto spread = testing::ElementsAre(testing::DoubleEq(0.04), testing::DoubleEq(0.01));
    EXPECT_THAT(again.find("resistance_uncertainty")->values, spread) << name;
    // A job takes the table as it takes the file.
    io::write(folder / "a.csv", again);
    EXPECT_THAT(read_measured(folder / "a.csv").find("resistance")->uncertainty, spread);
    EXPECT_EQ(read_measured(folder / "a.csv").electrodes.arrays.at(1).b, Array::far_away);
  }
}

TEST(FilesOfArrays, HeightsThatAreNotKnownAreNotMadeUp) {
  const testing_support::TemporaryFolder folder;
  auto rows = rows_of_a_run();
  for (auto& column : rows.columns)
    if (column.name.ends_with("_up")) column.values = {NAN, NAN};
  io::write(folder / "a.dcip", rows);
  EXPECT_THAT(testing_support::bytes_of(folder / "a.dcip"),
              testing::StartsWith("! DCIP3D: resistance\n15 1 0 1 1\n5 1 10 1 -0.5\n"));
  EXPECT_TRUE(std::isnan(read_measured(folder / "a.dcip").electrodes.place[0].u));
  const auto said = [&] { return testing_support::message([&] { io::write(folder / "a.ohm", rows); }); };
  EXPECT_THAT(said(), HasSubstr("have no heights"));
  for (auto& column : rows.columns)
    if (column.name.ends_with("_northing"))
      for (double& value : column.values) value *= 0;
  EXPECT_EQ(said(), "no error");
  EXPECT_TRUE(std::isnan(read_measured(folder / "a.ohm").electrodes.place[0].u));
  rows.columns[2].values[0] = 1;  // of a
  EXPECT_THAT(said(), HasSubstr("electrode 1 has no height, and others have"));
}

TEST(FilesOfArrays, TablesWithoutArraysAreRefused) {
  io::Table stations;
  for (const auto* name : {"easting", "northing", "up", "g_u"})
    stations.columns.push_back({name, "", "", {1}});
  for (const auto* name : {"a.ohm", "a.dcip"})
    EXPECT_THAT(testing_support::message([&] { io::left_out(name, stations); }),
                HasSubstr("the table has no column a_easting"));
}

TEST(FilesOfArrays, WhatCouldNotBeReadAgainIsNotWritten) {
  const testing_support::TemporaryFolder folder;
  Measured measured;
  measured.electrodes = {{{0, 0, 0}, {5, 0, 0}, {10, 0, 0}, {15, 0, 0}}, {{0, 1, 2, 3}, {0, 1, 3, 2}}};
  const auto said = [&](auto write, std::vector<double> values, std::vector<double> uncertainty) {
    measured.columns = {{"resistance", "V/A", std::move(values), std::move(uncertainty)}};
    return testing_support::message([&] { write(folder / "some", measured); });
  };
  EXPECT_THAT(said(write_bert, {1, 0}, {0.1, 0.1}), HasSubstr("array 2: its resistance is 0"));
  EXPECT_EQ(said(write_bert, {1, 0}, {0.1, 0}), "no error");
  EXPECT_EQ(said(write_ubc_dcip, {1, 0}, {0.1, 0.1}), "no error");
  EXPECT_EQ(read_measured(folder / "some").columns.at(0).uncertainty[1], 0.1);
  EXPECT_THAT(said(write_ubc_dcip, {1, 2}, {0.1, NAN}), HasSubstr("array 2: it has a value without"));
  EXPECT_EQ(said(write_ubc_dcip, {1, NAN}, {0.1, NAN}), "no error");
  EXPECT_EQ(said(write_bert, {1, 2}, {0.1, NAN}), "no error");
  EXPECT_THAT(said(write_ubc_dcip, {NAN, NAN}, {}), HasSubstr("no array with a value"));
  for (const auto write : {write_bert, write_ubc_dcip}) {
    EXPECT_THAT(said(write, {INFINITY, 1}, {}), HasSubstr("array 1: resistance that is infinite"));
    EXPECT_THAT(said(write, {1, 1}, {1, INFINITY}), HasSubstr("with an infinite uncertainty"));
  }
}

TEST(FilesOfArrays, OfAnotherNumberOfValuesThanArraysAreNotWritten) {
  const testing_support::TemporaryFolder folder;
  Measured measured;
  measured.electrodes = {{{0, 0, 0}, {5, 0, 0}, {10, 0, 0}, {15, 0, 0}}, {{0, 1, 2, 3}, {0, 1, 3, 2}}};
  const auto said = [&] {
    for (const auto write : {write_bert, write_ubc_dcip}) {
      const auto text = testing_support::message([&] { write(folder / "some", measured); });
      if (text != "no error") return text;
    }
    return std::string("no error");
  };
  measured.columns = {{"resistance", "V/A", {1, 2}, {}}};
  EXPECT_EQ(said(), "no error");
  measured.columns[0].values.pop_back();
  EXPECT_THAT(said(), HasSubstr("1 values for 2 arrays"));
  measured.columns[0] = {"resistance", "V/A", {1, 2}, {0.1}};
  EXPECT_THAT(said(), HasSubstr("1 uncertainties for 2 arrays"));
  measured.columns = {};
  measured.electrodes.arrays[1].n = 7;
  EXPECT_THAT(said(), HasSubstr("there is no electrode 8"));
}

std::string wrong(const std::function<void()>& run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FilesOfArrays, InducedPolarizationOfBertIsAPhaseOrByItsUnitAChargeability) {
  const auto read = [](const std::string& names) {
    io::TextReader in("input", "4\n# x\n0\n1\n2\n3\n1\n# a b m n " + names + "\n1 2 3 4 5 0.25\n");
    return io::read_arrays(in);
  };
  const auto expect = [](const Measured& data, const char* name, const char* unit, double value,
                         double spread) {
    ASSERT_EQ(data.columns.size(), 1U);
    const auto& column = data.columns.front();
    EXPECT_EQ(column.name, name);
    EXPECT_EQ(column.unit, unit);
    EXPECT_THAT(column.values, ElementsAre(DoubleEq(value)));
    EXPECT_THAT(column.uncertainty, ElementsAre(DoubleEq(spread)));
  };
  expect(read("ip iperr"), "phase", "mrad", 5, 0.25);
  expect(read("ip/rad iperr"), "phase", "mrad", 5000, 250);
  expect(read("ip/mrad iperr/rad"), "phase", "mrad", 5, 250);
  expect(read("ip/mV/V iperr"), "chargeability", "mV/V", 5, 0.25);
  expect(read("ip/V/V iperr/mV/V"), "chargeability", "mV/V", 5000, 0.25);
  expect(read("ip/% iperr/%"), "chargeability", "mV/V", 50, 2.5);
  for (const char* mixed : {"ip/mrad iperr/%", "ip iperr/mV/V", "ip/mV/V iperr/mrad"})
    EXPECT_THAT(wrong([&] { read(mixed); }), HasSubstr("Both are phases")) << mixed;
}

TEST(FilesOfArrays, WhatIsWrongIsNamedWithItsLine) {
  const auto ubc = [](const char* content) {
    return wrong([&] {
      io::TextReader in("input", content);
      read_ubc_dcip(in);
    });
  };
  const auto bert = [](const char* content) {
    return wrong([&] {
      io::TextReader in("input", content);
      read_bert(in);
    });
  };
  EXPECT_THAT(ubc("0 0 10 0 2\n20 0 30 0 1 2\n"), HasSubstr("1 of 2 potential pairs"));
  EXPECT_THAT(ubc("0 0 10 0 1\n20 0 30\n"), HasSubstr("input:2: 3 numbers"));
  EXPECT_THAT(ubc("0 10\n"), HasSubstr("2 numbers on the line of a current pair"));
  EXPECT_THAT(ubc("0 0 10 0 1.5\n"), HasSubstr("1.5 is not a number of potential pairs"));
  const std::string block = "0 0 10 0 1\n20 0 30 0 -0.003 0.0001\n";
  EXPECT_THAT(ubc(("IPTYPE=2\n" + block).c_str()), HasSubstr("input:1: IPTYPE=2 is not read: secondary"));
  EXPECT_THAT(ubc(("IPTYPE = 1\n" + block + "IPTYPE=2\n" + block).c_str()), HasSubstr("input:4: IPTYPE=2"));
  EXPECT_THAT(ubc((block + "IPTYPE=1\n" + block).c_str()), HasSubstr("data before this line are potentials"));
  EXPECT_EQ(ubc(("IPTYPE=1\n" + block + "IPTYPE = 1\n" + block).c_str()), "accepted");
  EXPECT_THAT(bert("2\n0 0\n1 0\n1\n# a b m rhoa\n1 2 0 5\n"), HasSubstr("no column n"));
  EXPECT_THAT(bert("2\n0 0\n1 0\n1\n# a b m n\n1 3 0 2\n"), HasSubstr("an array has electrode 3"));
  EXPECT_THAT(bert("3\n0 0\n1 0\n"), HasSubstr("2 of 3 electrodes"));
}

}  // namespace
}  // namespace terrane::electric::files
