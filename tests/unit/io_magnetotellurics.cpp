#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(message([&] { list_from("> Full_Impedance\n> +\n> Ohm\n> 30\n"); }), HasSubstr("turned"));
  const auto edi = [](const std::string& text) {
    TextReader in("a.edi", text);
    return message([&] { read_edi(in); });
  };
  EXPECT_THAT(edi(">HEAD\n>FREQ //2\n1 2\n>ZXYR //2\n1 2\n>ZXYI //2\n1\n"),
              HasSubstr("1 values of ZXYI at 2"));
  EXPECT_THAT(edi(">HEAD\n>FREQ //1\n1\n>ZROT //1\n30\n"), HasSubstr("turned by 30"));
  EXPECT_THAT(edi(">HEAD\n LAT=x\n"), HasSubstr("a.edi:2"));
  EXPECT_THAT(edi(""), HasSubstr(">HEAD"));
}

}  // namespace
}  // namespace terrane::io
