#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/data/sink.hpp"

namespace terrane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

/// Two stations, three frequencies, one complex field.
Dataset small() {
  Dataset data;
  data.dimensions = {{"station", 2}, {"frequency", 3}};
  data.coordinates = {{"up", "m", "height", {"station"}, std::vector<double>{10, 20}, {}},
                      {"frequency", "Hz", "frequency", {"frequency"}, std::vector<double>{1, 2, 4}, {}}};
  data.variables = {{"e_x",
                     "V/m",
                     "electric field, east",
                     {"station", "frequency"},
                     std::vector<std::complex<double>>{{1, 1}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, -6}},
                     {}}};
  data.attributes = {{"program", "terrane"}, {"accuracy", 1e-9}};
  return data;
}

TEST(Dataset, FindsWhatItHoldsAndNamesItWhenAskedForMore) {
  const auto data = small();
  EXPECT_NO_THROW(check(data));
  EXPECT_THAT(data.shape(data.variables[0]), ElementsAre(2, 3));
  EXPECT_THAT(data.real("up"), ElementsAre(10, 20));
  EXPECT_EQ(*data.text("program"), "terrane");
  EXPECT_EQ(data.text("accuracy"), nullptr);
  EXPECT_THAT(message([&] { data.real("ub"); }), HasSubstr("Did you mean \"up\"?"));
  EXPECT_THAT(message([&] { data.real("e_x"); }), HasSubstr("not float64"));
}

TEST(Dataset, ObservedAndComputedNeverShareAName) {
  auto data = small();
  data.variables.push_back({"up", "m", "", {"station"}, std::vector<double>{1, 2}, {}});
  EXPECT_THAT(message([&] { check(data); }), HasSubstr("\"up\" is there twice"));
}

TEST(Dataset, SizesAgreeWithDimensions) {
  auto data = small();
  std::get<std::vector<std::complex<double>>>(data.variables[0].values).pop_back();
  EXPECT_THAT(message([&] { check(data); }), HasSubstr("5 values for 6 (station 2 × frequency 3)"));
  data.variables[0].dimensions[1] = "frequencies";
  EXPECT_THAT(message([&] { check(data); }), HasSubstr("Did you mean \"frequency\"?"));
  data.variables[0].dimensions[1] = "station";
  EXPECT_THAT(message([&] { check(data); }), HasSubstr("a dimension is there twice"));
}

TEST(MemorySink, PiecesInAnyOrderAreTheWhole) {
  const auto data = small();
  const auto& whole = std::get<std::vector<std::complex<double>>>(data.variables[0].values);
  auto header = data;
  header.variables[0].values = std::vector<std::complex<double>>{};
  MemorySink sink;
  sink.define(header);
  for (std::size_t f : {2U, 0U, 1U}) {
    const std::vector<std::complex<double>> column{whole[f], whole[3 + f]};
    sink.put("e_x", {{0, f}, {2, 1}}, column);
  }
  sink.finish();
  const auto again = sink.take();
  EXPECT_EQ(std::get<std::vector<std::complex<double>>>(again.variables[0].values), whole);
  EXPECT_THAT(again.real("frequency"), ElementsAre(1, 2, 4));
}

TEST(MemorySink, RefusesBoxesThatDoNotFit) {
  auto header = small();
  header.variables[0].values = std::vector<std::complex<double>>{};
  MemorySink sink;
  sink.define(header);
  const std::vector<std::complex<double>> two(2);
  const std::vector<double> real(2);
  EXPECT_THAT(message([&] {
                sink.put("e_x", {{1, 2}, {1, 2}}, two);
              }),
              HasSubstr("entries 2 to 4 of frequency, which has 3"));
  EXPECT_THAT(message([&] { sink.put("e_x", {{0, 0}, {1, 2}}, real); }), HasSubstr("another type"));
  EXPECT_THAT(message([&] { sink.put("e_x", {{0, 0}, {2, 2}}, two); }), HasSubstr("2 values for a box of 4"));
  EXPECT_THAT(message([&] { sink.put("e_y", {{0, 0}, {1, 2}}, two); }), HasSubstr("it was not defined"));
  EXPECT_THAT(message([&] { sink.put("e_x", {{0}, {2}}, two); }), HasSubstr("1 dimensions for 2"));
}

TEST(MemorySink, IsNotFinishedWhileValuesAreMissing) {
  auto header = small();
  header.variables[0].values = std::vector<std::complex<double>>{};
  MemorySink sink;
  sink.define(header);
  sink.put("e_x", {{0, 0}, {1, 3}}, std::vector<std::complex<double>>(3));
  EXPECT_THAT(message([&] { sink.finish(); }), HasSubstr("3 of its 6 values were not put"));
}

TEST(MemorySink, HoldsSingleValuesAndEmptyDimensions) {
  Dataset data;
  data.dimensions = {{"station", 0}};
  data.variables = {{"origin", "m", "", {}, std::vector<float>{3}, {}},
                    {"name", "", "", {"station"}, std::vector<std::string>{}, {}}};
  MemorySink sink;
  write(data, sink);
  EXPECT_THAT(std::get<std::vector<float>>(sink.take().variables[0].values), ElementsAre(3));
}

}  // namespace
}  // namespace terrane
