#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace terrane::io
