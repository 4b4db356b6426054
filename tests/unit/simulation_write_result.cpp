#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

Result result(bool gridded) {
  Result r;
  r.survey.easting = {0, 1, 0, 1};
  r.survey.northing = {0, 0, 2, 2};
  r.survey.up = {5, 6, 7, 8};
  if (gridded) r.survey.grid = SurveyGrid{{0, 1}, {0, 2}};
  r.survey.columns = {{"line", "1", "", {1, 1, 2, 2}}};
  r.fields = {{"g_u", "mGal", "gravity, up", {-1, -2, -3, -4}}};
  r.singular = {0, 0, 1, 0};
  r.attributes = {
      {"frame", "enu"}, {"gravitational_constant", "6.6743e-11"}, {"job", "[survey]\nheight = 100"}};
  return r;
}

TEST(WriteResult, KeepsFieldsUnitsFrameAndJob) {
  const TemporaryFolder folder;
  write_result(folder / "a.nc", result(true));
  const auto grid = std::get<io::GridData>(io::read(folder / "a.nc"));
  EXPECT_THAT(grid.find("g_u")->values, ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(grid.find("up")->values, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(grid.attributes, result(true).attributes);
  for (const auto* name : {"b.nc", "b.csv"}) {
    write_result(folder / name, result(false));
    const auto table = std::get<io::Table>(io::read(folder / name));
    EXPECT_THAT(table.si("g_u", Quantity::acceleration), ElementsAre(-1e-5, -2e-5, -3 * 1e-5, -4e-5)) << name;
    EXPECT_THAT(table.find("singular")->values, ElementsAre(0, 0, 1, 0)) << name;
    EXPECT_THAT(table.find("line")->values, ElementsAre(1, 1, 2, 2)) << name;
    EXPECT_EQ(table.attributes, result(false).attributes) << name;
  }
}

TEST(WriteResult, FieldsAtStationsAreTheSameDataSetInMemoryAndInTheFile) {
  const TemporaryFolder folder;
  for (const bool gridded : {true, false}) {
    auto made = result(gridded);
    made.fields[0].single = true;
    if (!gridded) made.survey.columns.push_back({"longitude", "degree", "", {25, 26, 25, 26}});
    write_result(folder / "a.nc", made);
    io::write_netcdf(folder / "b.nc", to_dataset(made));
    const auto a = io::read_dataset(folder / "a.nc"), b = io::read_dataset(folder / "b.nc");
    ASSERT_EQ(a.coordinates.size(), b.coordinates.size()) << gridded;
    ASSERT_EQ(a.variables.size(), b.variables.size()) << gridded;
    ASSERT_EQ(a.attributes.size(), b.attributes.size()) << gridded;
    for (const auto* list : {&a.coordinates, &a.variables})
      for (const auto& v : *list) {
        const auto* there = b.find(v.name);
        ASSERT_NE(there, nullptr) << v.name;
        EXPECT_EQ(there->values, v.values) << v.name;
        EXPECT_EQ(there->unit, v.unit) << v.name;
        EXPECT_EQ(there->long_name, v.long_name) << v.name;
        EXPECT_EQ(there->dimensions, v.dimensions) << v.name;
        ASSERT_EQ(there->attributes.size(), v.attributes.size()) << v.name;
        for (std::size_t n = 0; n < v.attributes.size(); ++n)
          EXPECT_EQ(there->attributes[n].value, v.attributes[n].value) << v.name;
      }
  }
}

TEST(WriteResult, AResultOfAnyShapeIsWrittenAsItsDataSet) {
  const TemporaryFolder folder;
  Result made;
  made.data.dimensions = {{"frequency", 2}};
  made.data.coordinates = {{"frequency", "Hz", "", {"frequency"}, std::vector<double>{1, 2}, {}}};
  made.data.variables = {
      {"e_x", "V/m", "", {"frequency"}, std::vector<std::complex<double>>{{1, 2}, {3, 4}}, {}},
      {"power", "W", "", {}, std::vector<double>{5}, {}}};
  write_result(folder / "a.nc", made);
  EXPECT_EQ(io::read_dataset(folder / "a.nc").variables[0].values, made.data.variables[0].values);
  EXPECT_THAT(left_out(folder / "a.nc", made), testing::IsEmpty());
  write_result(folder / "a.csv", made);
  EXPECT_THAT(std::get<io::Table>(io::read(folder / "a.csv")).find("e_x_imag")->values, ElementsAre(2, 4));
  EXPECT_THAT(left_out(folder / "a.csv", made), ElementsAre("power"));
}

TEST(WriteResult, WritesVtkForGridsAndArraysForNumPy) {
  const TemporaryFolder folder;
  write_result(folder / "a.vts", result(true));
  EXPECT_THAT(bytes_of(folder / "a.vts"), HasSubstr("Name=\"g_u\""));
  write_result(folder / "a.npy", result(true));
  EXPECT_THAT(std::get<io::Array>(io::read(folder / "a.npy")).shape, ElementsAre(1, 4));
  auto scattered = result(false);
  scattered.survey.easting[0] = 0.5;
  EXPECT_THAT(message([&] { write_result(folder / "b.vts", scattered); }), HasSubstr("do not form one"));
}

}  // namespace
}  // namespace terrane
