#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "support/files.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

/// Two receivers at three times.
Dataset traces() {
  Dataset data;
  data.dimensions = {{"receiver", 2}, {"time", 3}};
  data.coordinates = {{"easting", "m", "", {"receiver"}, std::vector<double>{10, 20}, {}},
                      {"time", "s", "", {"time"}, std::vector<double>{0, .5, 1}, {}}};
  data.variables = {{"pressure", "Pa", "", {"receiver", "time"}, std::vector<float>{1, 2, 3, 4, 5, 6}, {}},
                    {"field",
                     "V/m",
                     "",
                     {"time", "receiver"},
                     std::vector<std::complex<double>>{{1, -1}, {4, -4}, {2, -2}, {5, -5}, {3, -3}, {6, -6}},
                     {}},
                    {"total", "J", "", {}, std::vector<double>{7}, {}}};
  data.attributes = {{"program", "terrane"}, {"accuracy", 0.5}};
  return data;
}

TEST(DatasetTable, HasARowForEveryEntryOfEveryDimension) {
  const auto table = to_table(traces());
  ASSERT_EQ(table.rows(), 6U);
  EXPECT_THAT(table.find("receiver")->values, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(table.find("easting")->values, ElementsAre(10, 10, 10, 20, 20, 20));
  EXPECT_THAT(table.find("time")->values, ElementsAre(0, .5, 1, 0, .5, 1));
  EXPECT_THAT(table.find("pressure")->values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(table.find("field_real")->values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(table.find("field_imag")->values, ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_EQ(table.find("total"), nullptr);
  EXPECT_EQ(table.attributes.at("accuracy"), "0.5");
  EXPECT_THAT(left_out(traces()), ElementsAre("total"));
}

TEST(DatasetFile, TakesTheFormatOfItsExtension) {
  const TemporaryFolder folder;
  write(folder / "a.nc", traces());
  EXPECT_EQ(read_dataset(folder / "a.nc").variables.size(), 3U);
  write(folder / "a.csv", traces());
  EXPECT_THAT(std::get<Table>(read(folder / "a.csv")).find("field_imag")->values,
              ElementsAre(-1, -2, -3, -4, -5, -6));
  write(folder / "a.npy", traces());
  EXPECT_THAT(std::get<Array>(read(folder / "a.npy")).shape, ElementsAre(2, 3));
  EXPECT_THAT(message([&] { write(folder / "a.asc", traces()); }), HasSubstr("do not form one"));
  auto words = traces();
  words.variables.erase(words.variables.begin());
  EXPECT_THAT(message([&] { write(folder / "b.npy", words); }),
              AllOf(HasSubstr("cannot hold \"field\""), HasSubstr("Write NetCDF")));
}

/// A complex field of 2 × 1 × 2 cells at two frequencies, beside a receiver.
Dataset cells() {
  Dataset data;
  data.dimensions = {{"receiver", 1},     {"frequency", 2}, {"cell_up", 2},       {"cell_northing", 1},
                     {"cell_easting", 2}, {"face_up", 3},   {"face_northing", 2}, {"face_easting", 3}};
  data.coordinates = {{"frequency", "Hz", "", {"frequency"}, std::vector<double>{0.5, 2}, {}},
                      {"face_up", "m", "", {"face_up"}, std::vector<double>{-30, -10, 0}, {}},
                      {"face_northing", "m", "", {"face_northing"}, std::vector<double>{0, 5}, {}},
                      {"face_easting", "m", "", {"face_easting"}, std::vector<double>{1, 2, 4}, {}}};
  const std::vector<std::string> on{"frequency", "cell_up", "cell_northing", "cell_easting"};
  std::vector<std::complex<double>> field;
  for (int n = 0; n < 8; ++n) field.emplace_back(n, -n);
  data.variables = {{"e_u", "V/m", "field at the receiver", {"receiver"}, std::vector<double>{7}, {}},
                    {"e_u_cells", "V/m", "field of the cells", on, std::move(field), {}},
                    {"sigma", "S/m", "", {on[1], on[2], on[3]}, std::vector<double>{1, 2, 3, 4}, {}}};
  data.attributes = {{"program", "terrane"}};
  return data;
}

TEST(DatasetFile, KeepsFieldsOfCellsWithTheirMeshAsHdf5AndVtk) {
  const TemporaryFolder folder;
  write(folder / "a.h5", cells());
  const auto mesh = std::get<MeshData>(read(folder / "a.h5"));
  EXPECT_THAT(mesh.mesh.up(), ElementsAre(-30, -10, 0));
  EXPECT_THAT(mesh.mesh.easting(), ElementsAre(1, 2, 4));
  EXPECT_EQ(mesh.cells.size(), 5U);
  EXPECT_THAT(mesh.find("e_u_cells_frequency_0.5_real")->values, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(mesh.find("e_u_cells_frequency_2_imag")->values, ElementsAre(-4, -5, -6, -7));
  EXPECT_EQ(mesh.find("e_u_cells_frequency_2_imag")->description,
            "field of the cells, frequency 2, imaginary part");
  EXPECT_THAT(mesh.find("sigma")->values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(mesh.attributes.at("program"), "terrane");

  // Of VTK the numbers stand behind the header, an array after the other, each after its length in bytes.
  write(folder / "a.vtr", cells());
  const auto bytes = bytes_of(folder / "a.vtr");
  const auto name = bytes.find("Name=\"e_u_cells_frequency_2_real\"");
  ASSERT_NE(name, bytes.npos);
  const auto offset = std::stoul(bytes.substr(bytes.find("offset=\"", name) + 8));
  const auto first = bytes.find("encoding=\"raw\">\n_") + 17 + offset;
  std::uint64_t length = 0;
  std::array<double, 4> values{};
  std::memcpy(&length, bytes.data() + first, sizeof length);
  ASSERT_EQ(length, sizeof values);
  std::memcpy(values.data(), bytes.data() + first + sizeof length, sizeof values);
  EXPECT_THAT(values, ElementsAre(4, 5, 6, 7));

  EXPECT_THAT(left_out("a.vtr", cells()), ElementsAre("e_u"));
  EXPECT_THAT(message([&] { left_out("a.h5", traces()); }), HasSubstr("of which there are none"));
  auto without = cells();
  without.coordinates.pop_back();
  EXPECT_THAT(message([&] { write(folder / "b.h5", without); }), HasSubstr("face_easting"));
  EXPECT_EQ(folder.entries(), 2U);
}

}  // namespace
}  // namespace terrane::io
