#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/files.hpp"
#include "terrane/io/netcdf_sink.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/simulation/station_fields.hpp"
#include "terrane/simulation/write_result.hpp"

namespace terrane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

StationFields stations(bool gridded) {
  StationFields made;
  made.survey.easting = {0, 1, 0, 1};
  made.survey.northing = {0, 0, 2, 2};
  made.survey.up = {5, 6, 7, 8};
  if (gridded) made.survey.grid = SurveyGrid{{0, 1}, {0, 2}};
  made.survey.columns = {{"observed", "mGal", "", {1, 1, 2, 2}}, {"line", "1", "", {1, 1, 2, 2}}};
  made.fields = {{"g_u", "mGal", "gravity, up", {-1, -2, -3, -4}}};
  made.singular = {0, 0, 1, 0};
  return made;
}

const io::Attributes attributes{
    {"frame", "enu"}, {"gravitational_constant", "6.6743e-11"}, {"job", "[survey]\nheight = 100"}};

Result result_of(StationFields made) {
  Result r;
  r.data = to_dataset(std::move(made));
  for (const auto& [name, text] : attributes) r.data.attributes.push_back({name, text});
  return r;
}

Result result(bool gridded) { return result_of(stations(gridded)); }

TEST(WriteResult, KeepsFieldsUnitsFrameAndJob) {
  const TemporaryFolder folder;
  write_result(folder / "a.nc", result(true));
  const auto grid = std::get<io::GridData>(io::read(folder / "a.nc"));
  EXPECT_THAT(grid.find("g_u")->values, ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(grid.find("up")->values, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(grid.attributes, attributes);
  for (const auto* name : {"b.nc", "b.csv"}) {
    write_result(folder / name, result(false));
    const auto table = std::get<io::Table>(io::read(folder / name));
    EXPECT_THAT(table.si("g_u", Quantity::acceleration), ElementsAre(-1e-5, -2e-5, -3 * 1e-5, -4e-5)) << name;
    EXPECT_THAT(table.find("singular")->values, ElementsAre(0, 0, 1, 0)) << name;
    EXPECT_THAT(table.find("line")->values, ElementsAre(1, 1, 2, 2)) << name;
    for (const auto& [key, text] : attributes) EXPECT_EQ(table.attributes.at(key), text) << name;
  }
}

TEST(WriteResult, FieldsAtStationsHaveTheTypesPlacesAndRolesOfTheirColumns) {
  auto made = stations(false);
  made.fields[0].single = true;
  made.survey.columns.push_back({"longitude", "degree", "", {25, 26, 25, 26}});
  const auto data = to_dataset(std::move(made));
  check(data);
  EXPECT_EQ(data.find("g_u")->values, Values(std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(data.find("longitude")->unit, "degrees_east");
  EXPECT_THAT(data.coordinates, testing::SizeIs(5)) << "easting, northing, up, line, longitude";
  const std::map<std::string, VariableRole> roles{
      {"observed", VariableRole::given}, {"g_u", VariableRole::computed}, {"singular", VariableRole::mark}};
  for (const auto& v : data.variables) EXPECT_EQ(v.role, roles.at(v.name)) << v.name;
}

TEST(WriteResult, ColumnsThatNetcdfDoesNotNameAreNoOtherColumn) {
  auto made = stations(false);
  made.survey.columns.push_back({"g/u", "", "", {5, 6, 7, 8}});
  made.survey.columns.push_back({"a/b", "", "", {1, 2, 3, 4}});
  made.survey.columns.push_back({"a_b", "", "", {4, 3, 2, 1}});
  const auto data = to_dataset(std::move(made));
  check(data);
  EXPECT_EQ(data.real("g_u").front(), -1) << "what was computed";
  EXPECT_EQ(data.real("g_u_").front(), 5);
  EXPECT_EQ(data.find("g_u_")->long_name, "g/u");
  EXPECT_EQ(data.real("a_b_").front(), 1);
  EXPECT_EQ(data.real("a_b").front(), 4);
}

TEST(WriteResult, FormatsOfFewColumnsTakeWhatWasComputedAndNeverWhatWasObserved) {
  const TemporaryFolder folder;
  write_result(folder / "a.grd", result(true));
  EXPECT_THAT(std::get<io::GridData>(io::read(folder / "a.grd")).fields.front().values,
              ElementsAre(-1, -2, -3, -4));
  write_result(folder / "a.npy", result(false));
  EXPECT_THAT(std::get<io::Array>(io::read(folder / "a.npy")).values, ElementsAre(-1, -2, -3, -4));
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
  auto scattered = stations(false);
  scattered.survey.easting[0] = 0.5;
  EXPECT_THAT(message([&] { write_result(folder / "b.vts", result_of(scattered)); }),
              HasSubstr("do not form one"));
}

}  // namespace
}  // namespace terrane
