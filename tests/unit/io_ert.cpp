// Arrays of electrodes in files of other programs: what each field is taken for.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/files.hpp"
#include "terrane/io/electrodes.hpp"
#include "terrane/io/ert_protocols.hpp"
#include "terrane/io/ert_tables.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using electric::Point;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

ElectrodeData arrays_from(const std::string& text, const UbcColumn& column = {}) {
  TextReader in("a.dat", text);
  return read_arrays(in, column);
}
std::string refusal(const std::string& text) {
  return message([&] { arrays_from(text); });
}
/// x of A, B, M, N; -1: far away.
std::vector<double> places(const ElectrodeData& data, std::size_t n) {
  const auto& array = data.electrodes.arrays.at(n);
  std::vector<double> all;
  for (const int e : {array.a, array.b, array.m, array.n})
    all.push_back(e < 0 ? -1 : data.electrodes.place[static_cast<std::size_t>(e)].e);
  return all;
}

const std::string four = "4\n# x z\n0 0\n5 0.5\n10 0\n15 0\n";

TEST(Bert, PlacesAreThoseThatColumnsAreCalled) {
  const auto plane = arrays_from("4\n# x y\n0 0\n5 0\n0 5\n5 5\n1\n# a b m n r\n1 3 2 4 1.86\n0\n");
  EXPECT_EQ(plane.electrodes.place[3].n, 5);
  EXPECT_TRUE(std::isnan(plane.electrodes.place[3].u)) << "on the ground";
  EXPECT_THAT(plane.note, HasSubstr("taken as easting and northing"));
  EXPECT_EQ(arrays_from(four + "1\n# a b m n r\n1 2 3 4 1\n").electrodes.place[1], (Point{5, 0, 0.5}));
  const auto swapped = arrays_from("2\n#z/cm y/m x/m\n100 2 3\n0 0 0\n1\n# a b m n r\n1 0 2 0 1\n");
  EXPECT_EQ(swapped.electrodes.place[0], (Point{3, 2, 1}));
  const auto unnamed = arrays_from("2\n# a line of 2020/05/01\n0 1\n5 1\n1\n# a b m n r\n1 0 2 0 1\n");
  EXPECT_EQ(unnamed.electrodes.place[0], (Point{0, 0, 1}));
  EXPECT_THAT(unnamed.note, HasSubstr("without names"));
}

TEST(Bert, WhatStandsBehindTheCountsIsLookedAt) {
  EXPECT_THAT(refusal(four + "1\n# a b m n r\n1 2 3 4 1\n2 3 4 1 1\n"),
              HasSubstr("\"2\" stands after the 1 arrays"));
  EXPECT_THAT(refusal(four + "# a b m n rhoa\n1 2 3 4 100\n1 2 4 3 100\n"),
              HasSubstr("a.dat:8: the number of arrays is missing"));
  EXPECT_THAT(refusal(four + "1\n# a b m n r\n1 2 3 4 1\n0\n9\n"),
              HasSubstr("a.dat:11: \"9\" stands after the last"));
  EXPECT_THAT(arrays_from(four + "1\n# a b m n r foo\n1 2 3 4 1 7\n2\n0 1\n5 2\n").note,
              AllOf(HasSubstr("columns that are not read: foo"), HasSubstr("2 points of topography")));
  EXPECT_THAT(refusal(four + "1\n# a b m n r\n1 2 3 4 1 9\n"),
              HasSubstr("6 numbers on a line of arrays, where 5"));
  EXPECT_THAT(message([] {
                TextReader in("l.ohm", "Line7_block.dat\n 0 5.0\n");
                read_bert(in);
              }),
              HasSubstr("ABEM"));
}

TEST(Bert, ColumnsOfOneNameAreRefusedAndArraysLeftOutAreCounted) {
  EXPECT_THAT(refusal(four + "1\n# a b m n r r\n1 2 3 4 1 2\n"), HasSubstr("two columns are called r"));
  EXPECT_THAT(refusal("2\n# x x\n0 0\n5 5\n1\n# a b m n r\n1 0 2 0 1\n"),
              HasSubstr("two columns are called x"));
  const auto some = arrays_from(four + "2\n# a b m n r valid\n1 2 3 4 1 0\n1 3 2 4 2 1\n");
  EXPECT_THAT(some.find("resistance")->values, ElementsAre(2));
  EXPECT_THAT(some.note, HasSubstr("1 of 2 arrays are not valid"));
}

TEST(Bert, UnitsThatAreNotSaidAreNotedAndMayBeGiven) {
  const std::string data = four + "1\n# a b m n r err ip iperr\n1 2 3 4 2 3 8 0.5\n0\n";
  const auto plain = arrays_from(data);
  EXPECT_THAT(plain.note, HasSubstr("err has no unit and is a share of the value: up to 3"));
  EXPECT_THAT(plain.note, HasSubstr("ip has no unit and is taken as a phase"));
  EXPECT_EQ(plain.find("phase")->values[0], 8);
  const auto charged = arrays_from(data, {"chargeability", ""});
  EXPECT_EQ(charged.find("phase"), nullptr);
  EXPECT_EQ(charged.find("chargeability")->values[0], 8);
  EXPECT_EQ(charged.find("chargeability")->uncertainty[0], 0.5);
}

std::string res2dinv(int kind, const std::string& where, const std::string& rows,
                     const std::string& end = "0\n") {
  return "A line\n5.0\n" + std::to_string(kind) + "\n2\n" + where + "\n0\n" + rows + end;
}

TEST(Res2dinv, KindsOfArraysHaveTheirElectrodes) {
  const auto first = [](int kind, const std::string& where, const std::string& row) {
    const auto data = arrays_from(res2dinv(kind, where, row + " 100\n" + row + " 90\n"));
    EXPECT_THAT(data.find("apparent_resistivity")->values, ElementsAre(100, 90));
    EXPECT_TRUE(std::isnan(data.electrodes.place[0].u));
    return places(data, 0);
  };
  EXPECT_THAT(first(1, "0", "10 5"), ElementsAre(10, 25, 15, 20));
  EXPECT_THAT(first(1, "1", "17.5 5"), ElementsAre(10, 25, 15, 20)) << "x of the middle";
  EXPECT_THAT(first(2, "0", "10 5"), ElementsAre(10, -1, 15, -1));
  EXPECT_THAT(first(3, "0", "10 5 2"), ElementsAre(15, 10, 25, 30));
  EXPECT_THAT(first(3, "1", "20 5 2"), ElementsAre(15, 10, 25, 30));
  EXPECT_THAT(first(4, "0", "10 5"), ElementsAre(15, 10, 20, 25));
  EXPECT_THAT(first(5, "0", "10 5"), ElementsAre(10, 20, 15, 25));
  EXPECT_THAT(first(6, "0", "10 5 2"), ElementsAre(10, -1, 20, 25));
  EXPECT_THAT(first(6, "0", "10 5 -2"), ElementsAre(25, -1, 15, 10)) << "the current electrode behind";
  EXPECT_THAT(first(7, "0", "10 5 2"), ElementsAre(10, 35, 20, 25));
  EXPECT_THAT(refusal(res2dinv(8, "0", "10 5 2 100\n10 5 2 100\n")), HasSubstr("arrays of kind 8"));
  EXPECT_THAT(refusal(res2dinv(6, "1", "10 5 2 100\n10 5 2 100\n")), HasSubstr("by their middles"));
  EXPECT_THAT(refusal(res2dinv(1, "0", "10 5 100\n10 5 100\n15 5 100\n")),
              HasSubstr("\"15 5 100\" stands after the data"));
  EXPECT_THAT(refusal(res2dinv(1, "0", "10 5 2 100\n10 5 100\n")), HasSubstr("4 numbers on a line of data"));
}

TEST(Res2dinv, MayEndInZerosOfOneLineAndBeCalledAsOthersBegin) {
  const std::string rows = "0 5 100\n5 5 90\n";
  for (const char* end : {"0 0 0 0\n", "0,0,0,0\n", "0\n0 0\n0\n", ""})
    EXPECT_EQ(arrays_from(res2dinv(1, "0", rows, end)).note, "") << end;
  EXPECT_THAT(refusal(res2dinv(1, "0", rows, "0 1\n")), HasSubstr("stands after the data"));
  for (const std::string title : {"Line 7", "GENERAL"}) {
    const auto text = title + "\n5\n1\n2\n0\n0\n" + rows + "0\n";
    const TemporaryFolder folder;
    EXPECT_EQ(format_of(folder.put("title.dat", text)).name, "res2dinv") << title;
  }
}

TEST(Res2dinv, ArraysOfAnyPlacesHaveResistancesChargeabilitiesAndTopography) {
  const auto data = arrays_from(
      "t\n1\n11\n0\nType of measurement (0=app. "
      "resistivity,1=resistance)\n1\n2\n2\n1\nChargeability\nmV/V\n0.1 1.1\n"
      "Error estimate for data present\nType of error estimate (0=same unit as data)\n0\n"
      "4 0 0 3 0 1 0 2 0 84 5 0.5\n3 4 0 6 0 8 0 21 4 0.25\n2\n3\n0 10\n5 13\n10 13\n1\n0\n0\n");
  EXPECT_THAT(data.find("resistance")->values, ElementsAre(84, 21));
  EXPECT_THAT(data.find("resistance")->uncertainty, ElementsAre(0.5, 0.25));
  EXPECT_THAT(data.find("chargeability")->values, ElementsAre(5, 4));
  EXPECT_EQ(data.electrodes.arrays[1].b, electric::Array::far_away);
  // 3 up within 5 along the ground is 4 across.
  const auto& p = data.electrodes.place;
  EXPECT_NEAR(p[1].e, 2.4, 1e-12);
  EXPECT_NEAR(p[1].u, 11.8, 1e-12);
  EXPECT_NEAR(p.back().e, 4 + 3, 1e-12);
  EXPECT_NEAR(p.back().u, 13, 1e-12);
  const auto flat = arrays_from(res2dinv(1, "0", "0 5 100\n5 5 90\n", "1\n2\n0 100\n20 120\n1\n"));
  EXPECT_EQ(flat.electrodes.place[1].e, 15);
  EXPECT_EQ(flat.electrodes.place[1].u, 115);
  EXPECT_THAT(refusal(res2dinv(1, "0", "0 5 100\n5 5 90\n", "1\n2\n0 100\n10 120\n1\n")),
              HasSubstr("lies beside the topography"));
  const auto other = arrays_from("t\n1\n1\n1\n0\n1\nChargeability\nmsec\n0 1\n0 5 100 3\n0\n");
  EXPECT_EQ(other.find("chargeability"), nullptr);
  EXPECT_THAT(other.note, HasSubstr("\"msec\" are not read"));
}

TEST(Syscal, TablesHaveTheirElectrodesAsSpacings) {
  const TemporaryFolder folder;
  const auto file = folder.put("s.csv",
                               " El-array ,Spa.1,Spa.2,Spa.3,Spa.4,Rho,Dev.,M,Sp,Vp,In\n"
                               " Dipole Dipole ,0.0,5.0,10.0,15.0,100.00,0.50,1.00,-5.0,106.1,1000.0\n"
                               " Dipole Dipole ,5.0,10.0,15.0,20.0,80.00,0.10,1.10,-4.0,106.1,1000.0\n");
  const auto t = std::get<Table>(read(file));
  EXPECT_THAT(t.find("a_easting")->values, ElementsAre(0, 5));
  EXPECT_THAT(t.find("n_easting")->values, ElementsAre(15, 20));
  EXPECT_THAT(t.find("apparent_resistivity_observed")->values, ElementsAre(100, 80));
  EXPECT_THAT(t.find("apparent_resistivity_uncertainty")->values,
              ElementsAre(testing::DoubleEq(0.5), testing::DoubleEq(0.08)));
  EXPECT_THAT(t.find("chargeability_observed")->values, ElementsAre(1, 1.1));
}

TEST(Syscal, ColumnsHaveTheUnitsOfTheirHeads) {
  const auto data = arrays_from(
      "Spa.1 (ft),Spa.2 (ft),Spa.3 (ft),Spa.4 (ft),M (V/V),Vp (V),In (A)\n0,10,20,30,0.005,1,2\n");
  EXPECT_DOUBLE_EQ(data.electrodes.place[1].e, 3.048);
  EXPECT_THAT(data.find("resistance")->values, ElementsAre(testing::DoubleEq(0.5)));
  EXPECT_THAT(data.find("chargeability")->values, ElementsAre(testing::DoubleEq(5)));
  const auto rho = arrays_from("Spa.1,Spa.2,Spa.3,Spa.4,Rho (ohm.m),Dev. (V/V)\n0,1,2,3,50,0.01\n");
  EXPECT_THAT(rho.find("apparent_resistivity")->uncertainty, ElementsAre(testing::DoubleEq(0.5)));
  EXPECT_THAT(
      arrays_from("Spa.1,Spa.2,Spa.3,Spa.4,Rho (kohm.m)\n0,1,2,3,50\n").find("apparent_resistivity")->values,
      ElementsAre(testing::DoubleEq(5e4)));
  EXPECT_THAT(refusal("Spa.1,Spa.2,Spa.3,Spa.4,Rho (cubits)\n0,1,2,3,50\n"), HasSubstr("column Rho"));
}

TEST(Syscal, ColumnsOfPlacesBesideTheLineAreNotedAndSeveralLinesRefused) {
  const std::string head = "Spa.1,Spa.2,Spa.3,Spa.4,Rho,Y,Elev (m)\n0,1,2,3,50,7,400\n1,2,3,4,60,";
  EXPECT_THAT(arrays_from(head + "7,400\n").note, HasSubstr("Y = 7, Elev = 400 is not read"));
  EXPECT_THAT(refusal(head + "8,400\n"),
              AllOf(HasSubstr("column Y has several values"), HasSubstr("a_easting, a_northing")));
  EXPECT_EQ(arrays_from("Spa.1,Spa.2,Spa.3,Spa.4,Rho,Vp\n0,1,2,3,50,7\n").note, "");
}

TEST(Bert, UnitsAreThoseThatAColumnCanHave) {
  const auto file = [](const std::string& names) {
    return "2\n# x z\n0 0\n1 0\n1\n# a b m n " + names + "\n1 2 1 2 10 3\n0\n";
  };
  EXPECT_THAT(refusal(file("r err/ohm")), HasSubstr("the unit \"ohm\" of column err"));
  EXPECT_THAT(refusal(file("r err/ohm")), HasSubstr("Errors are shares of the value"));
  EXPECT_THAT(refusal(file("u/A i")), HasSubstr("the unit \"A\" of column u"));
  EXPECT_THAT(arrays_from(file("u/mV i/mA")).find("resistance")->values,
              ElementsAre(testing::DoubleEq(10.0 / 3)));
}

TEST(Res2dinv, PlacesAlongTheGroundBecomeHorizontal) {
  const auto file = [](const char* place) {
    return fmt::format("t\n1\n11\n0\nType of measurement\n1\n1\n{}\n0\n4 0 0 5 3 10 3 15 3 50\n0\n0\n0\n0\n",
                       place);
  };
  EXPECT_EQ(arrays_from(file("1")).electrodes.place[1].e, 5);
  const auto along = arrays_from(file("2"));
  EXPECT_DOUBLE_EQ(along.electrodes.place[1].e, 4);
  EXPECT_DOUBLE_EQ(along.electrodes.place[3].e, 14);
}

TEST(Res2dinv, LinesOfWordsAreReadWithTabsAndByEitherProgramsWording) {
  const std::string rest = "0\n1\n0\n0\n4 0 0 3 0 1 0 2 0 10.5\n0\n";
  for (const std::string words :
       {"Type of measurement (0=app. resistivity)", "Type\tof\tmeasurement\t(0=app.)\t",
        "Type of data(0=apparent resistivity,1=resistance)"}) {
    const auto text = "Line 7\n1.0\n11\n15\n" + words + "\n" + rest;
    EXPECT_TRUE(begins_res2dinv(text)) << words;
    EXPECT_THAT(arrays_from(text).find("apparent_resistivity")->values, ElementsAre(10.5)) << words;
  }
}

TEST(Res2dinv, RemoteElectrodesStandWhereTheFileSays) {
  const auto file = [](const std::string& factor) {
    return "Blocks\n1.0\n2\nRemote electrodes included\nC2 remote electrode X, Y and Z location\n-25,10,0\n"
           "P2 remote electrode X, Y and Z location\n60,5,0\n" +
           factor + "\n2\n0\n0\n0 1 10.13\n1 1 10.18\n0\n";
  };
  ASSERT_TRUE(begins_res2dinv(file("Exact Geometric factor used")));
  const auto exact = arrays_from(file("Exact Geometric factor used"));
  EXPECT_THAT(places(exact, 1), ElementsAre(1, -25, 2, 60));
  EXPECT_EQ(exact.electrodes.place.at(static_cast<std::size_t>(exact.electrodes.arrays[0].b)).n, 10);
  const auto far = arrays_from(file("Approximate geometric factor used"));
  EXPECT_EQ(far.electrodes.arrays[0].b, electric::Array::far_away);
  EXPECT_THAT(far.note, HasSubstr("places of remote electrodes are not read"));
}

TEST(SuperSting, RecordsHaveTheirPolesErrorsAndUnit) {
  const std::string head =
      "Advanced Geosciences, Inc. SuperSting R8-IP Resistivity meter. S/N: SS1\n"
      "Firmware version: 01.33 Survey period: 20200110 Records: 2\n";
  const std::string records =
      "1,USER,20200110,10:11:12,5.3052E-01,12,500,1.0E+02,DIPDIP,5,0,0,0,0,0,10,0,0,15,0,0,Cmd line=1\n"
      "2,USER,20200110,10:11:13,1.3263E-01,5,500,1.0E+02,DIPDIP,5,0,0,0,0,0,15,0,0,20,0,0,Cmd line=2\n";
  const TemporaryFolder folder;
  const auto file = folder.put("line.stg", head + "Unit: meter\n" + records);
  EXPECT_EQ(format_of(file).name, "sting");
  const auto data = arrays_from(head + "Unit: meter\n" + records);
  EXPECT_THAT(places(data, 0), ElementsAre(5, 0, 10, 15));
  const std::string turned =
      "1,USER,20200110,10:11:12,-5.3E-01,12,500,1.0E+02,DD,5,0,0,0,0,0,10,0,0,15,0,0\n";
  EXPECT_THAT(places(arrays_from(head + "Unit: meter\n" + turned), 0), ElementsAre(0, 5, 10, 15))
      << "poles are those that give the apparent resistivity its sign";
  EXPECT_THAT(data.find("resistance")->values, ElementsAre(0.53052, 0.13263));
  EXPECT_THAT(data.find("resistance")->uncertainty,
              ElementsAre(testing::DoubleEq(0.53052 * 0.012), testing::DoubleEq(0.13263 * 0.005)));
  EXPECT_TRUE(std::isnan(data.electrodes.place[0].u)) << "without heights they stand on the ground";
  EXPECT_DOUBLE_EQ(arrays_from(head + "Unit: feet\n" + records).electrodes.place[0].e, 5 * 0.3048);
  EXPECT_EQ(data.note.find("counts"), data.note.npos);
  auto without = records;
  without.replace(without.find(",12,"), 4, ",0,");
  const auto one = arrays_from(head + "Unit: meter\n" + without);
  EXPECT_TRUE(std::isnan(one.find("resistance")->uncertainty.at(0))) << "a datum alone has none";
  EXPECT_DOUBLE_EQ(one.find("resistance")->uncertainty.at(1), 0.13263 * 0.005);
  EXPECT_THAT(one.note, HasSubstr("1 of 2 errors of V/I are not above zero"));
  without.replace(without.find(",5,500"), 2, ",0");
  EXPECT_TRUE(arrays_from(head + "Unit: meter\n" + without).find("resistance")->uncertainty.empty());
  EXPECT_THAT(arrays_from(head + "Unit: meter\n" + turned).note, HasSubstr("counts 2 records, and it has 1"));
  EXPECT_THAT(refusal(head + "Unit: yard\n" + records), HasSubstr("Unit: meter"));
  EXPECT_THAT(refusal(head + "Unit: meter\n1,USER,20200110,10:11:12,0.5\n"),
              HasSubstr("5 entries in a record"));
}

TEST(R2, ProtocolsHaveTheirPlacesBesideThem) {
  const TemporaryFolder folder;
  const auto file = folder.put("protocol.dat", "2\n1 1 2 3 4 0.53\n2 1 2 4 5 0.13\n");
  EXPECT_THAT(message([&] { read(file); }), AllOf(HasSubstr("electrodes.dat"), HasSubstr("elec.csv")));
  folder.put("electrodes.dat", "0 1\n5 1\n10 2\n15 1\n20 1\n");
  const auto t = std::get<Table>(read(file));
  EXPECT_THAT(t.find("n_easting")->values, ElementsAre(15, 20));
  EXPECT_THAT(t.find("m_up")->values, ElementsAre(2, 1));
  EXPECT_THAT(t.find("resistance_observed")->values, ElementsAre(0.53, 0.13));
  folder.put("protocol.dat", "2\n1 1 2 3 4 0.53\n2 1 2 4 6 0.13\n");
  EXPECT_THAT(message([&] { read(file); }), HasSubstr("there is no electrode 6"));
  folder.put("protocol.dat", "2\n1 1 2 3 4 0.53\n2 1 2 4 5 0.13 0.01\n");
  EXPECT_THAT(message([&] { read(file); }), HasSubstr("2 numbers behind the electrodes, and 1 in the first"));
}

/// What a protocol of these lines says, with five electrodes 5 m apart on flat ground.
ElectrodeData protocol(const std::string& lines) {
  TextReader in("protocol.dat", lines), places("elec.csv", "x,z\n0,0\n5,0\n10,0\n15,0\n20,0\n");
  EXPECT_TRUE(begins_protocol(lines)) << lines;
  return read_protocol(in, places);
}

TEST(R2, WhatStandsBehindResistancesIsKnownByItsSizeAndSign) {
  const auto errors = protocol("2\n1 1 2 3 4 -0.53 0.02\n2 1 2 4 5 -0.13 0.01\n");
  EXPECT_THAT(errors.find("resistance")->uncertainty, ElementsAre(0.02, 0.01));
  const auto forward = protocol("2\n1 1 2 3 4 -0.53 49.9\n2 1 2 4 5 -0.13 49.9\n");
  EXPECT_TRUE(forward.find("resistance")->uncertainty.empty()) << "R2_forward.dat: apparent resistivities";
  EXPECT_THAT(forward.note, HasSubstr("apparent resistivities there"));
  const auto phases = protocol("2\n1 1 2 3 4 -0.53 -2.5\n2 1 2 4 5 -0.13 -3\n");
  EXPECT_THAT(phases.find("phase")->values, ElementsAre(2.5, 3));
  const auto both = protocol("2\n1 1 2 3 4 -0.53 -2.5 0.02 0.3\n2 1 2 4 5 -0.13 -3 0.01 0.4\n");
  EXPECT_THAT(both.find("resistance")->uncertainty, ElementsAre(0.02, 0.01));
  EXPECT_THAT(both.find("phase")->uncertainty, ElementsAre(0.3, 0.4));
  for (const char* behind : {"0.02", "-2.5 0.02 0.3"}) {
    const bool phase = std::string(behind) != "0.02";
    const auto one = protocol(fmt::format("3\n1 1 2 3 4 -0.5 {0}\n2 1 2 4 5 -0.5 {0}\n3 2 3 4 5 -0.5 {1}\n",
                                          behind, phase ? "-2.5 0 0.3" : "0"));
    EXPECT_THAT(one.find("resistance")->uncertainty, ElementsAre(0.02, 0.02, testing::IsNan())) << behind;
    EXPECT_THAT(one.note, HasSubstr("1 of 3 errors of V/I are not above zero")) << behind;
  }
  EXPECT_THAT(protocol("3 some words\n1 1 2 3 4 -0.53\n").note, HasSubstr("counts 3 records, and it has 1"));
}

TEST(R2, RecordsOfThreeDimensionsNameAStringAndAnElectrodeByTheirLabels) {
  const std::string lines = "1\n1 1 1 2 1 1 2 2 2 -0.53\n";
  ASSERT_TRUE(begins_protocol(lines));
  const auto with = [&](const std::string& places) {
    TextReader in("protocol.dat", lines), beside("elec.csv", places);
    return read_protocol(in, beside);
  };
  const auto data = with("label,X,Y,Z,buried\n1 1,0,0,-1,1\n1 2,5,0,-1,1\n2 1,0,8,-1,1\n2 2,5,8,,0\n");
  EXPECT_EQ(data.electrodes.place.at(static_cast<std::size_t>(data.electrodes.arrays[0].b)).n, 8);
  EXPECT_EQ(data.electrodes.arrays[0].n, 3);
  EXPECT_TRUE(std::isnan(data.electrodes.place[3].u)) << "without a height it is on the ground";
  EXPECT_THAT(message([&] { with("0 0 0\n5 0 0\n0 8 0\n5 8 0\n"); }), HasSubstr("elec.csv has no labels"));
  EXPECT_THAT(message([&] { with("label,x\n1 1,0\n1 2,5\n2 1,0\n"); }),
              HasSubstr("there is no electrode 2 of string 2"));
}

TEST(UbcSections, BlocksAndSingleLinesHavePlacesAlongXAndHeights) {
  const auto common =
      arrays_from("! DC data\nCOMMON_CURRENT\n 0 10 2\n 20 30 0.05 0.001\n 30 40 0.02 0.001\n");
  EXPECT_THAT(places(common, 1), ElementsAre(0, 10, 30, 40))
      << "the first current pair is not a count of old files";
  for (const char* errors : {" 0.001", ""}) {
    const auto titled = arrays_from(fmt::format(
        "Line 1 of 2019\n0 10 2\n20 30 0.05{0}\n30 40 0.02{0}\n10 20 1\n30 40 0.04{0}\n", errors));
    ASSERT_EQ(titled.electrodes.arrays.size(), 3U) << "nor behind a title";
    EXPECT_THAT(places(titled, 0), ElementsAre(0, 10, 20, 30));
    EXPECT_THAT(titled.find("resistance")->values, ElementsAre(0.05, 0.02, 0.04));
    const auto old =
        arrays_from(fmt::format("Line 1\n1 0 2\n0 10 2\n20 30 0.05{0}\n30 40 0.02{0}\n", errors));
    EXPECT_THAT(places(old, 1), ElementsAre(0, 10, 30, 40));
  }
  const auto single = arrays_from("! GENERAL FORMAT\n0 10 20 30 0.05 0.001\n0 10 30 30 0.02 0.001\n");
  EXPECT_THAT(places(single, 0), ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(places(single, 1), ElementsAre(0, 10, 30, -1));
  EXPECT_THAT(single.find("resistance")->values, ElementsAre(0.05, 0.02));
  const auto high = arrays_from("COMMON_CURRENT\n 0 100 10 101 1\n 20 102 30 103 0.05 0.001\n");
  EXPECT_EQ(high.electrodes.place[1], (Point{10, 0, 101}));
  const auto simple = arrays_from("SIMPLE\n0 100 10 101 20 102 30 103 0.05 0.001\n");
  EXPECT_EQ(simple.electrodes.place[3], (Point{30, 0, 103}));
  EXPECT_THAT(refusal("0 100 10 101 20 102 30 103 0.05 0.001\n"),
              HasSubstr("x and z of each electrode, or x and y"));
  EXPECT_THAT(refusal("0 10 20 30 0.05 0.001\n0 10 30 40 0.02\n"), HasSubstr("some pairs have a value"));
}

TEST(UbcSections, AreKnownByTheirFirstCommentWhateverTheirName) {
  const testing_support::TemporaryFolder folder;
  const auto file =
      folder.put("general.obs", "! GENERAL FORMAT\n0 10 20 30 0.05 0.001\n0 10 30 40 0.02 0.001\n");
  EXPECT_THAT(std::get<Table>(read(file)).find("m_easting")->values, ElementsAre(20, 30));
}

TEST(FilesOfOtherInstruments, AreCalledThatAndNotBlamedOnUbc) {
  EXPECT_THAT(refusal("Line7\n   0    5.00\nProtocol 1\n"), HasSubstr("files of ABEM's instruments"));
  TextReader in("line.ohm", "Line7\n   0    5.00\nProtocol 1\n");
  try {
    read_arrays(in, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("line.ohm:1: \"Line7\" stands where the number of electrodes belongs"));
    EXPECT_THAT(error.what(), HasSubstr("ABEM"));
  }
}

TEST(TablesOfArrays, WithColumnsABMNAreElectrodesAlongXAndRhoIsAnApparentResistivity) {
  const auto data = arrays_from("A,B,M,N,Rho,Err\n0,30,10,20,101,2\n5,35,15,25,98,2\n");
  ASSERT_EQ(data.columns.size(), 1U);
  EXPECT_EQ(data.columns[0].name, "apparent_resistivity");
  EXPECT_THAT(data.columns[0].values, ElementsAre(101, 98));
  EXPECT_EQ(data.electrodes.place.size(), 8U);
  EXPECT_THAT(data.note, HasSubstr("places along x, m; not read: Err"));
  EXPECT_EQ(arrays_from("C1,C2,P1,P2,rhoa\n0,30,10,20,101\n").find("apparent_resistivity")->values[0], 101);
  EXPECT_THAT(refusal("E1,E2,E3,E4,Rho\n0,30,10,20,101\n"), HasSubstr("are none of arrays of electrodes"));
  EXPECT_EQ(arrays_from("a\tb\tm\tn\tR\n0\t30\t10\t20\t1.5\n").columns.at(0).unit, "V/A");
  EXPECT_THAT(refusal("A,B,M,N,value\n0,30,10,20,101\n"), HasSubstr("no column tells what was measured"));
}

TEST(TablesOfArrays, MayCallPlacesXaYaZa) {
  const auto data = arrays_from("XA,ZA,XB,ZB,XM,ZM,XN,ZN,V/A\n0,1,5,2,10,3,15,4,0.5\n");
  EXPECT_EQ(data.electrodes.place[1], (Point{5, 0, 2}));
  EXPECT_THAT(data.find("resistance")->values, ElementsAre(0.5));
}

TEST(TablesOfArrays, BesideXaAIsNoPlace) {
  const auto data = arrays_from("A,B,M,N,XA,XB,XM,XN,rhoa\n1,2,3,4,0,15,5,10,100\n");
  EXPECT_EQ(data.electrodes.place[1].e, 15);
}

TEST(TablesOfArrays, KeepTheUnitsOfTheirHeaders) {
  EXPECT_NEAR(arrays_from("A [m],B [m],M [m],N [m],R [mohm]\n0,30,10,20,1.5\n").columns.at(0).values[0],
              1.5e-3, 1e-12);
  EXPECT_NEAR(arrays_from("A,B,M,N,rhoa [kohm m]\n0,30,10,20,0.1\n").columns.at(0).values[0], 100, 1e-9);
}

}  // namespace
}  // namespace terrane::io
