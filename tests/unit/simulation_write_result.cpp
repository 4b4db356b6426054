#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
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
