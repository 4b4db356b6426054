#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <filesystem>

#include "support/files.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/io/magnetotellurics.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

constexpr double ohm = 4e-4 * 3.14159265358979323846;  // of one mV/km/nT

std::string seed(const std::string& name) {
  return std::string(TERRANE_SOURCE_DIR) + "/tests/fuzz/corpus/" + name;
}
double at(const Table& table, const std::string& name, std::size_t row) {
  return table.find(name)->values[row];
}

Table list_from(const std::string& text) {
  TextReader in("list.dat", text);
  return read_modem_data(in);
}

TEST(ModemData, HaveNorthAsXAndTheirTimeDependence) {
  const auto t = std::get<Table>(read(seed("modem_data/list.dat")));  // known by its first block
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_THAT(t.texts[0].values, ElementsAre("A1", "A2"));
  EXPECT_THAT(t.find("northing")->values, ElementsAre(100, 200));
  EXPECT_THAT(t.find("easting")->values, ElementsAre(-50, -50));
  EXPECT_THAT(t.find("up")->values, ElementsAre(3, 0));
  EXPECT_DOUBLE_EQ(at(t, "frequency", 0), 10);
  EXPECT_DOUBLE_EQ(at(t, "frequency", 1), 0.1);
  EXPECT_NEAR(at(t, "z_ne_real", 0), 50 * ohm, 1e-15);
  EXPECT_NEAR(at(t, "z_ne_imag", 0), 40 * ohm, 1e-15) << "e^{-iωt} is conjugate to ours";
  EXPECT_NEAR(at(t, "z_en_real", 0), -50 * ohm, 1e-15);
  EXPECT_NEAR(at(t, "z_nn_real", 0), 0.5 * ohm, 1e-15);
  EXPECT_NEAR(at(t, "z_ne_uncertainty", 0), 2 * ohm, 1e-15);
  EXPECT_TRUE(std::isnan(at(t, "z_ee_uncertainty", 0))) << "2e15 means none";
  EXPECT_TRUE(std::isnan(at(t, "z_en_real", 1))) << "a component that is left out is a gap";
  // T_x, T_y with z down and x north.
  EXPECT_DOUBLE_EQ(at(t, "tipper_n_real", 0), -0.1);
  EXPECT_DOUBLE_EQ(at(t, "tipper_e_real", 0), 0.3);
  EXPECT_DOUBLE_EQ(at(t, "tipper_n_imag", 0), 0.02);
}

TEST(ModemData, AndModelsComeBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  const auto t = std::get<Table>(read(seed("modem_data/list.dat")));
  write(folder / "again.modem", t);
  const auto again = std::get<Table>(read(folder / "again.modem"));
  ASSERT_EQ(again.rows(), t.rows());
  for (const auto& column : t.columns)
    for (std::size_t row = 0; row < t.rows(); ++row) {
      const double before = column.values[row], after = at(again, column.name, row);
      EXPECT_TRUE((std::isnan(before) && std::isnan(after)) ||
                  std::abs(after - before) <= 1e-9 * std::abs(before))
          << column.name << " " << row;
    }
  const auto model = std::get<MeshData>(read(seed("modem_model/model.ws")));
  write(folder / "again.ws", model);
  const auto model_again = std::get<MeshData>(read(folder / "again.ws"));
  EXPECT_EQ(model_again.mesh.up(), model.mesh.up());
  EXPECT_EQ(model_again.mesh.northing(), model.mesh.northing());
  for (std::size_t n = 0; n < model.mesh.size(); ++n)
    EXPECT_NEAR(std::log(model_again.cells[0].values[n]), std::log(model.cells[0].values[n]), 1e-11);
}

TEST(ModemModel, RunsFromTheTopAndFromNorthToSouth) {
  const auto data = std::get<MeshData>(read(seed("modem_model/model.ws")));
  EXPECT_THAT(data.mesh.northing(), ElementsAre(-300, -200, 0, 300));
  EXPECT_THAT(data.mesh.easting(), ElementsAre(-15, -5, 15));
  EXPECT_THAT(data.mesh.up(), ElementsAre(-20, -5, 0));
  const auto value = [&](std::size_t i, std::size_t j, std::size_t k) {
    return std::log(data.cells[0].values[data.mesh.index(i, j, k)]);
  };
  EXPECT_NEAR(value(0, 2, 1), 1, 1e-12);  // north-west at the top
  EXPECT_NEAR(value(0, 0, 1), 3, 1e-12);
  EXPECT_NEAR(value(1, 2, 1), 4, 1e-12);
  EXPECT_NEAR(value(1, 0, 0), 12, 1e-12);
}

TEST(Edi, HasOneSiteWithItsErrors) {
  const auto t = std::get<Table>(read(seed("edi/site.edi")));
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_EQ(t.texts[0].values[0], "A1");
  EXPECT_NEAR(at(t, "latitude", 0), -(26 + 30.0 / 60 + 15.2 / 3600), 1e-12);
  EXPECT_DOUBLE_EQ(at(t, "longitude", 1), 28.5);
  EXPECT_DOUBLE_EQ(at(t, "up", 0), 1500);
  EXPECT_NEAR(at(t, "z_ne_real", 0), 50 * ohm, 1e-15);
  EXPECT_NEAR(at(t, "z_ne_uncertainty", 0), 2 * ohm, 1e-15);
  EXPECT_TRUE(std::isnan(at(t, "z_ne_imag", 1))) << "EMPTY";
  EXPECT_DOUBLE_EQ(at(t, "tipper_e_real", 0), -0.3);
  const TemporaryFolder folder;
  write(folder / "again.edi", t);
  const auto again = std::get<Table>(read(folder / "again.edi"));
  for (const auto& column : t.columns)
    for (std::size_t row = 0; row < 2; ++row) {
      const double before = column.values[row], after = at(again, column.name, row);
      EXPECT_TRUE((std::isnan(before) && std::isnan(after)) ||
                  std::abs(after - before) <= 1e-8 * std::abs(before))
          << column.name;
    }
}

/// Two sites at two frequencies, site after site at each.
Table two_sites() {
  Table two;
  two.columns.push_back({"receiver_easting", "m", "", {0, 10, 0, 10}});
  two.columns.push_back({"receiver_northing", "m", "", {5, 5, 5, 5}});
  two.columns.push_back({"receiver_up", "m", "", {0, 3, 0, 3}});
  two.columns.push_back({"frequency", "Hz", "", {1, 1, 8, 8}});
  for (const auto* name : {"z_en_real", "z_en_imag", "z_ne_real", "z_ne_imag", "rho_ne"})
    two.columns.push_back({name, "ohm", "", {1, 2, 3, 4}});
  return two;
}

TEST(Edi, GivesEachSiteAFileAndSaysWhatItLeavesOut) {
  const TemporaryFolder folder;
  auto two = two_sites();
  EXPECT_THAT(left_out(folder / "a.edi", two), ElementsAre("rho_ne"));
  EXPECT_THAT(written_files(folder / "a.edi", two),
              ElementsAre(folder / "a_S001.edi", folder / "a_S002.edi"));
  EXPECT_THAT(written_files(folder / "a.modem", two), ElementsAre(folder / "a.modem"));
  write(folder / "a.edi", two);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.edi"));
  const auto second = std::get<Table>(read(folder / "a_S002.edi"));
  EXPECT_THAT(second.texts.at(0).values, ElementsAre("S002", "S002"));
  EXPECT_THAT(second.find("easting")->values, ElementsAre(10, 10));
  EXPECT_THAT(second.find("up")->values, ElementsAre(3, 3));
  EXPECT_THAT(second.find("frequency")->values, ElementsAre(1, 8));
  EXPECT_NEAR(at(second, "z_ne_imag", 1), 4, 1e-12);
  two.texts = {{"site", {"line/1", "line 1", "line/1", "line 1"}}};
  EXPECT_THAT(message([&] { write(folder / "a.edi", two); }), HasSubstr("would both be the file"));
  two.texts[0].values[1] = two.texts[0].values[3] = "line/2";
  write(folder / "b.c", two, {"edi", ""});
  EXPECT_TRUE(std::filesystem::exists(folder / "b_line_2.c"));
}

TEST(Edi, LeavesNoSiteBehindWhereOneCannotBeWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a_S002.edi");
  EXPECT_THAT(message([&] { write(folder / "a.edi", two_sites()); }), HasSubstr("a_S002.edi: is a folder"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a_S001.edi"));
}

TEST(ModemData, SayWhatTheyLeaveOut) {
  const TemporaryFolder folder;
  auto two = two_sites();
  EXPECT_THAT(left_out(folder / "a.modem", two), ElementsAre("rho_ne"));
  write(folder / "a.modem", two);
  EXPECT_THAT(bytes_of(folder / "a.modem"), HasSubstr(" S002 "));
  two.columns.erase(two.columns.begin() + 3);
  EXPECT_THAT(message([&] { write(folder / "a.modem", two); }), HasSubstr("no column frequency"));
}

/// As a run computes them: complex, by frequency and receiver.
TEST(MagnetotelluricFiles, TakeDataSetsWhoseValuesAreStillToCome) {
  Dataset data;
  data.dimensions = {{"source", 2}, {"frequency", 2}, {"receiver", 2}};
  data.coordinates = {{"frequency", "Hz", "", {"frequency"}, std::vector<double>{1, 8}, {}}};
  for (const auto* name : {"receiver_easting", "receiver_northing", "receiver_up"})
    data.coordinates.push_back({name, "m", "", {"receiver"}, std::vector<double>{0, 10}, {}});
  for (const auto* name : {"z_en", "z_ne", "rho"})
    data.variables.push_back(
        {name, "ohm", "", {"frequency", "receiver"}, std::vector<std::complex<double>>{}, {}});
  data.variables.push_back({"residual", "1", "", {"source", "frequency"}, std::vector<double>{}, {}});
  const TemporaryFolder folder;
  for (const auto* name : {"a.edi", "a.modem"})
    EXPECT_THAT(left_out(folder / name, data), ElementsAre("residual", "rho_real", "rho_imag")) << name;
  EXPECT_THAT(written_files(folder / "a.edi", data),
              ElementsAre(folder / "a_S001.edi", folder / "a_S002.edi"));
  EXPECT_THAT(message([&] { left_out(folder / "a.grv", data); }), HasSubstr("a.grv"));
  data.variables.erase(data.variables.begin());
  EXPECT_THAT(message([&] { left_out(folder / "a.edi", data); }), HasSubstr("simulation.responses"));
  data.variables.insert(
      data.variables.begin(),
      {"z_en", "ohm", "", {"frequency", "receiver"}, std::vector<std::complex<double>>{}, {}});
  for (auto& v : data.variables)
    if (v.name != "residual") v.values = std::vector<std::complex<double>>{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    else v.values = std::vector<double>(4);
  write(folder / "a.edi", data);
  const auto first = std::get<Table>(read(folder / "a_S001.edi"));
  EXPECT_NEAR(at(first, "z_ne_imag", 1), 6, 1e-12);
}

TEST(MagnetotelluricFiles, SayWhereTheyAreWrong) {
  const std::string head = "> Full_Impedance\n> exp(+i\\omega t)\n> Ohm\n> 0\n> 0 0\n> 1 1\n";
  EXPECT_THAT(message([&] { list_from(head); }), HasSubstr("no data"));
  EXPECT_THAT(message([&] { list_from("1 A 0 0 1 2 3 ZXY 1 2 3\n"); }), HasSubstr("list.dat:1"));
  EXPECT_THAT(message([&] { list_from(head + "1 A 0 0 1 2 3 TX 1 2 3\n"); }),
              HasSubstr("no component of this block"));
  EXPECT_THAT(message([&] { list_from(head + "1 A 0 0 1 2 3 ZXY 1 2\n"); }),
              HasSubstr("list.dat:7: 10 words"));
  EXPECT_THAT(message([&] { list_from(head + "-1 A 0 0 1 2 3 ZXY 1 2 3\n"); }), HasSubstr("above zero"));
  EXPECT_THAT(message([&] { list_from("> Phase_Tensor\n"); }), HasSubstr("Full_Impedance"));
  EXPECT_THAT(message([&] { list_from("> Full_Impedance\n> +\n> Ohm\n> 30\n"); }), HasSubstr("azimuths"));
  EXPECT_THAT(message([&] { list_from(head + "1 A 0 0 1 2 3 ZXY 1 2 3 0\n"); }),
              HasSubstr("\"0\" stands behind"));
  EXPECT_THAT(message([&] { list_from(head + "1 A 0 0 1 2 3 ZXY 1 2 3\n1 A 0 0 1 7 3 ZYX 1 2 3\n"); }),
              HasSubstr("list.dat:8: site A was at X 1, Y 2"));
  EXPECT_THAT(message([&] { list_from(head + "1 A 0 0 0 0 3 ZXY 1 2 3\n1 B 0 0 0 0 3 ZXY 1 2 3\n"); }),
              HasSubstr("2 sites, and none has a place"));
  EXPECT_THAT(message([&] { list_from("> Ex_Field\n"); }), HasSubstr("CSEM data of ModEM is not read"));
  const auto edi = [](const std::string& text) {
    TextReader in("a.edi", text);
    return message([&] { read_edi(in); });
  };
  EXPECT_THAT(edi(">HEAD\n>FREQ //2\n1 2\n>ZXYR //2\n1 2\n>ZXYI //2\n1\n"),
              HasSubstr("1 values of ZXYI at 2"));
  EXPECT_THAT(edi(">HEAD\n>FREQ //1\n1\n>ZROT //1\n30\n>ZXYR //1\n1\n>ZXYI //1\n1\n"),
              HasSubstr("turned by 30"));
  EXPECT_THAT(edi(">HEAD\n>FREQ //1\n1\n>ZXYR //1\n1\n"), HasSubstr("ZXYR without ZXYI"));
  EXPECT_THAT(edi(">HEAD\n>FREQ //1\n1\n>FREQ //1\n1\n"),
              HasSubstr("a second block freq (the first: line 2)"));
  EXPECT_THAT(edi(">HEAD\n>=MTSECT\n>=MTSECT\n"), HasSubstr("a.edi:3: a second section"));
  EXPECT_THAT(edi(">HEAD\n>=EMAPSECT\n"), HasSubstr("EMAP"));
  EXPECT_THAT(edi(">HEAD\n>FREQ //1\n1\n>RHOXY //1\n1\n"), HasSubstr("apparent resistivities"));
  EXPECT_THAT(edi(">HEAD\n LAT=x\n"), HasSubstr("a.edi:2"));
  EXPECT_THAT(edi(""), HasSubstr(">HEAD"));
}

/// An EDI file of one frequency with a full tensor: >HEAD and what follows it, then blocks.
Table edi_with(const std::string& head, const std::string& rotation, const std::string& others = "") {
  std::string text = ">HEAD\n" + head + "\n>=MTSECT\n>FREQ //1\n 10\n" + rotation;
  const char* names[] = {"ZXXR", "ZXXI", "ZXYR", "ZXYI", "ZYXR", "ZYXI",
                         "ZYYR", "ZYYI", "TXR",  "TXI",  "TYR",  "TYI"};
  const double values[] = {3, 1, 50, 40, -45, -30, 2, -4, 0.1, 0.02, 0.3, -0.04};
  for (std::size_t n = 0; n < 12; ++n) text += fmt::format(">{} //1\n {}\n", names[n], values[n]);
  text += ">ZXX.VAR //1\n 1\n>ZXY.VAR //1\n 4\n>ZYX.VAR //1\n 9\n>ZYY.VAR //1\n 16\n";
  TextReader in("site.edi", text + others + ">END\n");
  return read_edi(in);
}
const std::string somewhere = " LAT=-23.5\n LONG=134.25\n ELEV=410\n";

/// Z of axes at an azimuth, Z' = R Z Rᵀ, and T' = T Rᵀ: xx, xy, yx, yy, x, y.
std::array<std::complex<double>, 6> turned_by(double degrees, const std::array<std::complex<double>, 6>& z) {
  const double c = std::cos(degrees * 3.14159265358979323846 / 180),
               s = std::sin(degrees * 3.14159265358979323846 / 180);
  const double r[2][2] = {{c, s}, {-s, c}};
  std::array<std::complex<double>, 6> made{};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t l = 0; l < 2; ++l) made[2 * i + j] += r[i][k] * z[2 * k + l] * r[j][l];
      made[4 + i] += z[4 + j] * r[i][j];
    }
  return made;
}

TEST(Edi, AxesThatAreTurnedAreTurnedToNorth) {
  const std::array<std::complex<double>, 6> north{
      {{3, 1}, {50, 40}, {-45, -30}, {2, -4}, {0.1, 0.02}, {0.3, -0.04}}};
  const char* names[] = {"z_nn", "z_ne", "z_en", "z_ee", "tipper_n", "tipper_e"};
  const auto expect = [&](const Table& t, double angle) {
    const auto wanted = turned_by(-angle, north);  // the file's numbers are those of the turned axes
    for (std::size_t n = 0; n < 6; ++n) {
      const double scale = n < 4 ? ohm : -1;
      EXPECT_NEAR(at(t, std::string(names[n]) + "_real", 0), scale * wanted[n].real(), 1e-12)
          << names[n] << angle;
      EXPECT_NEAR(at(t, std::string(names[n]) + "_imag", 0), scale * wanted[n].imag(), 1e-12)
          << names[n] << angle;
    }
  };
  for (const double angle : {0.0, 5.0, -37.5, 90.0, 180.0, 270.0})
    expect(edi_with(somewhere, fmt::format(">ZROT //1\n {}\n", angle)), angle);
  expect(edi_with(somewhere + ">HMEAS ID=1 CHTYPE=HX AZM=12\n>HMEAS ID=2 CHTYPE=HY AZM=102\n", ""), 12);
  EXPECT_THAT(edi_with(somewhere, ">ZROT //1\n 5\n").attributes.at("note"), HasSubstr("an x at 5 degrees"));
  const auto quarter = edi_with(somewhere, ">ZROT //1\n 90\n");
  EXPECT_NEAR(at(quarter, "z_nn_uncertainty", 0), 4 * ohm, 1e-15)
      << "xx and yy change places, and so do errors";
  EXPECT_NEAR(at(edi_with(somewhere, ">ZROT //1\n 45\n"), "z_ne_uncertainty", 0), std::sqrt(30.0) / 2 * ohm,
              1e-12)
      << "variances 1, 4, 9, 16, a quarter of each number";
}

TEST(Edi, APlaceIsThatOfTheHeadOrOfTheReferenceAndIsNeverInvented) {
  const auto reference = edi_with("", "", "");
  for (const auto* name : {"easting", "northing", "longitude", "up"})
    EXPECT_EQ(reference.find(name), nullptr) << name;
  EXPECT_THAT(reference.attributes.at("note"), HasSubstr("there is no place"));
  EXPECT_EQ(reference.texts[0].values[0], "site") << "the name of the file, where none is said";
  const auto t = edi_with(
      " DATAID=\"T 01\"\n>=DEFINEMEAS\n REFLAT=-23:30:00.0\n REFLONG=134:15:00.0\n REFELEV=410\n"
      ">HMEAS ID=1.001 CHTYPE=HX X=    0. Y=    0. AZM=0\n",
      "");
  EXPECT_DOUBLE_EQ(at(t, "latitude", 0), -23.5);
  EXPECT_DOUBLE_EQ(at(t, "longitude", 0), 134.25);
  EXPECT_DOUBLE_EQ(at(t, "up", 0), 410);
  EXPECT_EQ(t.texts[0].values[0], "T 01");
  const auto moved = edi_with(
      ">=DEFINEMEAS\n UNITS=FT\n REFLAT=60\n REFLONG=10\n REFELEV=1000\n"
      ">HMEAS ID=1 CHTYPE=HX X=1000 Y=-2000 AZM=0\n>HMEAS ID=6 CHTYPE=HX X=9999 Y=0 AZM=0\n",
      "");
  EXPECT_NEAR(at(moved, "latitude", 0), 60 + 304.8 / 111412, 1e-6)
      << "a degree of latitude is 111412 m at 60 N";
  EXPECT_NEAR(at(moved, "longitude", 0), 10 - 609.6 / 55800, 1e-5);
  EXPECT_NEAR(at(moved, "up", 0), 304.8, 1e-9);
  const auto other = edi_with(" LAT=00:00: 0.00\n LON=12:30:00 W\n ELEV=  1.0E2\n EMPTY=  1.0e+032\n", "");
  EXPECT_DOUBLE_EQ(at(other, "latitude", 0), 0);
  EXPECT_DOUBLE_EQ(at(other, "longitude", 0), -12.5);
  EXPECT_DOUBLE_EQ(at(other, "up", 0), 100);
  EXPECT_DOUBLE_EQ(at(edi_with(" LAT=-12:30 S\n LONG=5 E\n", ""), "latitude", 0), -12.5);
  const auto unknown = edi_with(" LAT=0\n LONG=0\n>=DEFINEMEAS\n REFLAT=-23.5\n REFLONG=134.25\n", "");
  EXPECT_DOUBLE_EQ(at(unknown, "latitude", 0), -23.5) << "0, 0 of programs that know no place";
  EXPECT_THAT(edi_with(" LAT=0\n LONG=0\n", "").attributes.at("note"), HasSubstr("LAT and LONG are 0"));
  EXPECT_THAT(edi_with(" LAT=1\n LONG=2\n COORDSYS=\"GEOMAGNETIC NORTH\"\n", "").attributes.at("note"),
              HasSubstr("axes and angles are from magnetic north"));
  EXPECT_FALSE(edi_with(" LAT=1\n LONG=2\n COORDSYS=GEOGRAPHIC\n", "").attributes.contains("note"));
  const auto twice = edi_with(" LAT=1\n LONG=2\n ELEV=5\n ELEV=7\n LAT=1\n", "");
  EXPECT_DOUBLE_EQ(at(twice, "up", 0), 5);
  EXPECT_THAT(twice.attributes.at("note"), testing::EndsWith("the first one counts: ELEV = 5 (line 4)"));
}

TEST(Edi, WhatStandsBehindANumberOfAPlaceIsReadOrRefused) {
  const auto latitude = [](const std::string& text) {
    return at(edi_with(" LAT=" + text + "\n LONG=134:15:00\n", ""), "latitude", 0);
  };
  for (const auto* text : {"-23 30 00", "23 30 00 S", "S23:30:00", "S 23 30", "-23.5 degrees", "-23.5 ! GPS"})
    EXPECT_DOUBLE_EQ(latitude(text), -23.5) << text;
  for (const auto* text : {"-23:75:00", "23 30 00 00", "23.5 E", "23.5 about"})
    EXPECT_THAT(message([&] { latitude(text); }), HasSubstr("is no angle")) << text;
  const auto up = [](const std::string& text) {
    return at(edi_with(" LAT=1\n LONG=2\n ELEV=" + text + "\n", ""), "up", 0);
  };
  EXPECT_DOUBLE_EQ(up("410 m"), 410);
  EXPECT_DOUBLE_EQ(up("410 (metres) above the sea"), 410);
  EXPECT_DOUBLE_EQ(up("410 FT"), 410 * 0.3048);
  EXPECT_THAT(message([&] { up("410 cubits"); }), HasSubstr("ELEV=410 cubits is no length"));
  EXPECT_THAT(edi_with(" LAT=1\n LONG=2\n DATUM=AGD66\n", "").attributes.at("note"),
              HasSubstr("DATUM=AGD66"));
  EXPECT_FALSE(edi_with(" LAT=1\n LONG=2\n DATUM=\"WGS 84\"\n", "").attributes.contains("note"));
}

TEST(Edi, TimeDependenceUnitsAndDirectionsOfLinesAreTakenOrRefused) {
  const double imag = at(edi_with(somewhere, ""), "z_ne_imag", 0);
  for (const auto* text :
       {"exp(-i omega t)", "exp( - i omega t)", "e^{-i omega t}", "e^-iwt",
        "transfer_function.sign_convention = -", "Sign Convention: exp(\xE2\x88\x92iwt)"}) {
    const auto t = edi_with(somewhere + fmt::format(">INFO\n {}\n", text), "");
    EXPECT_DOUBLE_EQ(at(t, "z_ne_imag", 0), -imag) << text;
    EXPECT_THAT(t.attributes.at("note"), HasSubstr("exp(-i omega t)"));
  }
  EXPECT_DOUBLE_EQ(at(edi_with(somewhere + " SIGNCONVENTION=exp(- i\\omega t)\n", ""), "z_ne_imag", 0),
                   -imag);
  EXPECT_DOUBLE_EQ(at(edi_with(somewhere + ">INFO\n sign_convention = +\n", ""), "z_ne_imag", 0), imag);
  EXPECT_THAT(message([&] { edi_with(somewhere + ">INFO\n exp(+iwt), formerly exp(-iwt)\n", ""); }),
              HasSubstr("both exp(+i omega t) and exp(-i omega t)"));
  const std::string coils = ">HMEAS ID=1 CHTYPE=HX AZM=0\n>HMEAS ID=2 CHTYPE=HY AZM=90\n";
  EXPECT_THAT(
      message([&] { edi_with(somewhere + coils + ">EMEAS ID=3 CHTYPE=EX X=-50 Y=-50 X2=50 Y2=50\n", ""); }),
      HasSubstr("EX lies at 45.0 degrees and HX at 0"));
  EXPECT_DOUBLE_EQ(
      at(edi_with(somewhere + coils + ">EMEAS ID=3 CHTYPE=EX X=50 Y=0 X2=-50 Y2=0\n", ""), "z_ne_imag", 0),
      imag);
  TextReader units("s.edi", ">HEAD\n>FREQ //1\n 1\n>ZXYR UNITS=[mV/km]/[nT] //1\n 1\n>ZXYI //1\n 1\n>END\n");
  EXPECT_DOUBLE_EQ(at(read_edi(units), "z_ne_real", 0), ohm);
  TextReader gap("s.edi", ">HEAD\n>FREQ //1\n 1e32\n>ZXYR //1\n 1\n>ZXYI //1\n 1\n>END\n");
  EXPECT_THAT(message([&] { read_edi(gap); }), HasSubstr("a frequency of 1e+32 Hz"));
}

TEST(Edi, CommentsAndStarsAreSkippedAndWhatIsNotReadIsSaid) {
  const auto t = edi_with(somewhere, "!****IMPEDANCES****!\n>!****! //\n", ">FILTER //2\n 1 ***\n");
  EXPECT_NEAR(at(t, "z_ne_real", 0), 50 * ohm, 1e-15);
  EXPECT_NEAR(at(t, "tipper_n_real", 0), -0.1, 1e-15) << "blocks TXR without .EXP";
  EXPECT_THAT(t.attributes.at("note"), HasSubstr("blocks that are not read: FILTER"));
}

TEST(Edi, ZerosWithAVarianceOfZeroAreGapsAndCoherencesComeAgain) {
  TextReader in("a.edi",
                ">HEAD\n LAT=-23\n LONG=134\n ELEV=0\n>FREQ //2\n 10 1\n>ZXYR //2\n 0 3\n>ZXYI //2\n 0 3\n"
                ">ZXY.VAR //2\n 0 1\n>TXR //2\n 0 0\n>TXI //2\n 0 0\n>TX.VAR //2\n 0 0\n"
                ">COH MEAS1=1 //1\n 1\n>COH MEAS1=2 //1\n 1\n>END\n");
  const auto t = read_edi(in);
  EXPECT_TRUE(std::isnan(at(t, "z_ne_real", 0)) && std::isnan(at(t, "z_ne_uncertainty", 0)));
  EXPECT_NEAR(std::abs(at(t, "z_ne_real", 1)), 3 * ohm, 1e-15);
  EXPECT_EQ(t.find("tipper_n_real"), nullptr);
  EXPECT_EQ(t.find("tipper_e_real"), nullptr);
  EXPECT_THAT(t.attributes.at("note"), HasSubstr("ZXY, TX: 0 with a variance of 0"));
}

/// A file of one site, of Z_xy alone.
std::string site_file(const std::string& name, const std::string& place, double value) {
  return fmt::format(">HEAD\n DATAID={}\n{}>FREQ //1\n 10\n>ZXYR //1\n {}\n>ZXYI //1\n 1\n>END\n", name,
                     place, value);
}

TEST(Edi, SeveralFilesAreOneSurvey) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sites");
  folder.put("sites/b.EDI", site_file("T02", " LAT=-0:09:00\n LONG=134.25\n ELEV=10\n", 2));
  folder.put("sites/a.edi", site_file("T01", " LAT=-0:07:30\n LONG=134.25\n", 1));
  folder.put("sites/notes.txt", "none");
  for (const auto* name : {"sites", "sites/?.*"}) {
    const auto t = std::get<Table>(read(folder / name));
    EXPECT_THAT(t.texts.at(0).values, ElementsAre("T01", "T02")) << name;
    EXPECT_NEAR(at(t, "z_ne_real", 1), 2 * ohm, 1e-15);
    EXPECT_NEAR(at(t, "latitude", 0), -0.125, 1e-12);
    EXPECT_TRUE(std::isnan(at(t, "up", 0)));
    EXPECT_EQ(at(t, "up", 1), 10);
  }
  EXPECT_THAT(message([&] { read(folder / "sites/*.xyz"); }), HasSubstr("no file has such a name"));
  folder.put("sites/c.edi", site_file("T01", " LAT=5\n LONG=134.25\n", 1));
  EXPECT_THAT(message([&] { read(folder / "sites"); }), HasSubstr("its site \"T01\" is at another place in"));
  folder.put("sites/c.edi", site_file("T03", "", 1));
  EXPECT_THAT(message([&] { read(folder / "sites"); }), HasSubstr("gives no place of its site"));
  folder.put("sites/c.edi", site_file("T03", "\n>HMEAS CHTYPE=HX X=5 Y=7\n", 1));
  EXPECT_THAT(message([&] { read(folder / "sites"); }), HasSubstr("gives local coordinates"));
}

/// Spectra of magnetic fields, remote ones and what they cause, as a file has them.
std::string spectra_of(const std::complex<double> (&of)[5][2], double noise) {
  // Channels hx, hy, hz, ex, ey, rx, ry; the remote field is that of the site, which has a polarisation.
  const std::complex<double> h[2][2] = {{{4, 0}, {1, 0.5}}, {{1, -0.5}, {3, 0}}};
  std::complex<double> rows[7][2] = {{1, 0}, {0, 1}, {}, {}, {}, {1, 0}, {0, 1}};
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t l = 0; l < 2; ++l) rows[2 + n][l] = of[n][l];
  std::string text = ">SPECTRA FREQ=10 ROTSPEC=0 AVGT=102 // 49\n";
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j) {
      const std::size_t row = std::max(i, j), column = std::min(i, j);
      std::complex<double> power = 0;
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t l = 0; l < 2; ++l) power += rows[row][k] * h[k][l] * std::conj(rows[column][l]);
      if (i == j && i == 3) power += noise;
      text += fmt::format(" {:.15g}", i >= j ? power.real() : power.imag());
    }
  return text + "\n";
}

TEST(Edi, SpectraGiveImpedanceTipperAndErrors) {
  const std::complex<double> of[5][2] = {
      {{0.1, 0.02}, {0.3, -0.04}}, {{3, 1}, {50, 40}}, {{-45, -30}, {2, -4}}};
  std::string text = ">HEAD\n DATAID=S\n" + somewhere;
  const char* types[] = {"HX", "HY", "HZ", "EX", "EY", "HX", "HY"};
  for (int n = 0; n < 7; ++n)
    text += fmt::format(">{}MEAS ID={}.001 CHTYPE={} X=0 Y=0 AZM=0\n", types[n][0], 11 + n, types[n]);
  text += ">=SPECTRASECT\n NCHAN=7\n //7\n 11.001 12.001 13.001 14.001\n 15.001 16.001 17.001\n";
  TextReader in("s.edi", text + spectra_of(of, 7) + ">END\n");
  const auto t = read_edi(in);
  EXPECT_DOUBLE_EQ(at(t, "frequency", 0), 10);
  EXPECT_NEAR(at(t, "z_nn_real", 0), 3 * ohm, 1e-12);
  EXPECT_NEAR(at(t, "z_ne_real", 0), 50 * ohm, 1e-12);
  EXPECT_NEAR(at(t, "z_ne_imag", 0), 40 * ohm, 1e-12);
  EXPECT_NEAR(at(t, "z_en_imag", 0), -30 * ohm, 1e-12);
  EXPECT_NEAR(at(t, "z_ee_imag", 0), -4 * ohm, 1e-12);
  EXPECT_NEAR(at(t, "tipper_n_real", 0), -0.1, 1e-12);
  EXPECT_NEAR(at(t, "tipper_e_imag", 0), 0.04, 1e-12);
  // Noise of power 7 in E_x: variance 7 [⟨H H*⟩⁻¹]_ll / 100, half of it in each part; det ⟨H H*⟩ = 12 − 1.25.
  EXPECT_NEAR(at(t, "z_ne_uncertainty", 0), std::sqrt(7 * 4 / 10.75 / 100 / 2) * ohm, 1e-9);
  EXPECT_NEAR(at(t, "z_nn_uncertainty", 0), std::sqrt(7 * 3 / 10.75 / 100 / 2) * ohm, 1e-9);
  EXPECT_NEAR(at(t, "z_en_uncertainty", 0), 0, 1e-6 * ohm);
  TextReader few("s.edi", text + ">SPECTRA FREQ=10 // 49\n 1 2\n>END\n");
  EXPECT_THAT(message([&] { read_edi(few); }), HasSubstr("2 numbers in spectra of 7 channels"));
}

TEST(ModemData, TakeUnitsAndAzimuthsAsTheyAreSaid) {
  const auto in_unit = [](const std::string& unit) {
    return at(list_from("> Full_Impedance\n> exp(+i\\omega t)\n> " + unit +
                        "\n> 0.00\n> 0 0\n> 1 1\n"
                        "1 A 0 0 100 200 0 ZXY 1 1 0.1\n"),
              "z_ne_real", 0);
  };
  EXPECT_DOUBLE_EQ(in_unit("[V/m]/[A/m]"), 1);
  EXPECT_DOUBLE_EQ(in_unit("Ohm"), 1);
  EXPECT_DOUBLE_EQ(in_unit("[mV/km]/[nT]"), ohm);
  EXPECT_DOUBLE_EQ(in_unit("[V/m]/[T]"), 4e-7 * 3.14159265358979323846);
  EXPECT_THAT(message([&] { in_unit("[V/m]"); }),
              HasSubstr("Allowed: [mV/km]/[nT], [V/m]/[T], [V/m]/[A/m], Ohm"));
  const std::array<std::complex<double>, 6> north{
      {{3, 1}, {50, 40}, {-45, -30}, {2, -4}, {0.1, 0.02}, {0.3, -0.04}}};
  const auto file = turned_by(30, north);
  std::string text = "> Full_Impedance\n> +\n> Ohm\n> 0\n> 0 0\n> 1 1\n";
  const char* names[] = {"ZXX", "ZXY", "ZYX", "ZYY", "TX", "TY"};
  for (std::size_t n = 0; n < 6; ++n) {
    if (n == 4) text += "> Full_Vertical_Components\n> +\n> []\n> 0\n> 0 0\n> 1 1\n";
    text += fmt::format("1 A 0 0 1 2 3 {} {:.17g} {:.17g} 1 30 120{}\n", names[n], file[n].real(),
                        file[n].imag(), n < 4 ? " 30 120" : "");
  }
  const auto t = list_from(text);
  const char* ours[] = {"z_nn", "z_ne", "z_en", "z_ee", "tipper_n", "tipper_e"};
  for (std::size_t n = 0; n < 6; ++n)
    EXPECT_NEAR(at(t, std::string(ours[n]) + "_imag", 0), (n < 4 ? 1 : -1) * north[n].imag(), 1e-12)
        << ours[n];
  EXPECT_NEAR(at(t, "z_ne_uncertainty", 0), 1, 1e-12) << "equal variances stay";
  // E of other axes than H: E_x at 0, E_y at 90, H turned by 90.
  const auto mixed =
      list_from("> Full_Impedance\n> +\n> Ohm\n> 0\n> 0 0\n> 1 1\n1 A 0 0 1 2 3 ZXX 5 6 1 90 180 0 90\n");
  EXPECT_DOUBLE_EQ(at(mixed, "z_ne_real", 0), 5) << "E_x of H_x, which lies east";
  EXPECT_THAT(
      message([&] {
        list_from("> Full_Impedance\n> +\n> Ohm\n> 0\n> 0 0\n> 1 1\n1 A 0 0 1 2 3 ZXX 5 6 1 9 99 9 99\n");
      }),
      HasSubstr("not all components are there"));
}

TEST(ModemData, ThatContradictThemselvesAreRefusedOrNoted) {
  const auto block = [](const std::string& counts, const std::string& rows) {
    return list_from("> Full_Impedance\n> exp(\xE2\x88\x92iwt)\n> Ohm\n> 0\n> 0 0\n> " + counts + "\n" +
                     rows);
  };
  const auto t = block("3 2", "1 A 0 0 100 200 0 ZXY 1 1 0.1\n");
  EXPECT_DOUBLE_EQ(at(t, "z_ne_imag", 0), -1);
  EXPECT_EQ(t.attributes.at("note"),
            "a block counts 3 periods, and it has 1\na block counts 2 sites, and it has 1");
  const std::string first = "1 A 0 0 100 200 0 ZXY 1 1 0.1\n";
  EXPECT_THAT(message([&] { block("1 1", first + first); }), HasSubstr("a second ZXY of site A"));
  EXPECT_THAT(message([&] { block("2 1", first + "2 A 0 0 100 200 9 ZXY 1 1 0.1\n"); }),
              HasSubstr("site A was at X 100, Y 200, Z 0 before"));
  EXPECT_THAT(message([&] { block("1 1", "1 A 0 0 100 200 0 ZXY 1 1 -0.1\n"); }),
              HasSubstr("an error of -0.1"));
}

TEST(ModemModel, WithoutACornerSaysWhereItIsTaken) {
  const auto model = [](const std::string& head, const std::string& tail) {
    TextReader in("m.rho", head + "\n 1\n 1\n 1\n 2\n" + tail);
    return read_modem_model(in);
  };
  EXPECT_THAT(model("1 1 1 0 LOGE", "").attributes.at("note"), HasSubstr("there is no corner"));
  EXPECT_FALSE(model("1 1 1 0 LOGE", "0 0 0\n0\n").attributes.contains("note"));
  EXPECT_THAT(message([&] { model("1 1 1 0 LOGE COND", ""); }),
              HasSubstr("\"COND\" stands behind the scale"));
}

TEST(ModemData, OfLongitudesAndLatitudesHaveMetresFromTheirMiddle) {
  const TemporaryFolder folder;
  auto two = two_sites();
  two.columns[0] = {"longitude", "degree", "", {134.25, 134.35, 134.25, 134.35}};
  two.columns[1] = {"latitude", "degree", "", {-23.5, -23.4, -23.5, -23.4}};
  two.texts = {{"site", {"A 1", "B", "A 1", "B"}}};
  write(folder / "a.modem", two);
  const auto t = std::get<Table>(read(folder / "a.modem"));
  EXPECT_NEAR(at(t, "northing", 1) - at(t, "northing", 0), 0.1 * 110760, 20) << "a degree is 110760 m there";
  EXPECT_NEAR(at(t, "easting", 1) - at(t, "easting", 0), 0.1 * 102160, 20);
  EXPECT_THAT(t.attributes.at("origin"), HasSubstr("latitude -23.45, longitude 134.3"));
  EXPECT_EQ(t.texts[0].values[0], "A_1");
  two.columns.erase(two.columns.begin() + 2);
  EXPECT_THAT(message([&] { write(folder / "a.modem", two); }), HasSubstr("no column up"));
}

TEST(ModemModel, SaysWhatItIsWhereItIsNoModelOfThreeDimensions) {
  const auto model = [](const std::string& text) {
    TextReader in("m.rho", text);
    return message([&] { read_modem_model(in); });
  };
  EXPECT_THAT(model("4 2 LOGE\n"), HasSubstr("a two-dimensional model"));
  EXPECT_THAT(model("1 1 1 7\n"), HasSubstr("7 numbered rocks"));
  EXPECT_THAT(model("1 1 1 0 LINEAR\n1\n1\n1\n5\n0 0 0\n0\n 9\n"),
              HasSubstr("\"9\" stands after the rotation"));
}

}  // namespace
}  // namespace terrane::io
