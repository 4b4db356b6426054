#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "support/files.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/netcdf_sink.hpp"

namespace terrane::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_support;

/// Something of every type.
Dataset one_of_each() {
  using C = std::complex<double>;
  using F = std::complex<float>;
  Dataset data;
  data.dimensions = {{"station", 2}, {"frequency", 3}};
  data.coordinates = {{"easting", "m", "easting", {"station"}, std::vector<double>{1, 2}, {{"axis", "X"}}},
                      {"frequency", "Hz", "frequency", {"frequency"}, std::vector<double>{1, 2, 4}, {}}};
  data.variables = {
      {"e_x",
       "V/m",
       "electric field, east",
       {"station", "frequency"},
       std::vector<C>{{1, .1}, {2, .2}, {3, .3}, {4, .4}, {5, .5}, {6, .6}},
       {{"source", "loop"}}},
      {"b_z", "T", "", {"frequency"}, std::vector<F>{{1, 2}, {3, 4}, {5, 6}}, {}},
      {"g_u", "m/s2", "gravity", {"station"}, std::vector<double>{0.1, std::nan("")}, {{"scale", 0.25}}},
      {"trace", "", "", {"station", "frequency"}, std::vector<float>{1, 2, 3, 4, 5, 6.5}, {}},
      {"line", "", "", {"station"}, std::vector<std::int32_t>{-7, 8}, {}},
      {"singular", "1", "", {"station"}, std::vector<unsigned char>{0, 1}, {}},
      {"name", "", "", {"station"}, std::vector<std::string>{"Ø1", ""}, {}},
      {"total", "J", "", {}, std::vector<double>{42}, {}}};
  data.attributes = {{"program", "terrane"}, {"accuracy", 1e-9}};
  return data;
}

/// Files that were built in memory list their variables by name.
void expect_same(std::vector<Variable> a, std::vector<Variable> b) {
  for (auto* list : {&a, &b})
    std::sort(list->begin(), list->end(), [](const auto& x, const auto& y) { return x.name < y.name; });
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t v = 0; v < a.size(); ++v) {
    EXPECT_EQ(a[v].name, b[v].name);
    EXPECT_EQ(a[v].unit, b[v].unit);
    EXPECT_EQ(a[v].long_name, b[v].long_name);
    EXPECT_EQ(a[v].dimensions, b[v].dimensions);
    ASSERT_EQ(a[v].attributes.size(), b[v].attributes.size()) << a[v].name;
    for (std::size_t n = 0; n < a[v].attributes.size(); ++n)
      EXPECT_EQ(a[v].attributes[n].value, b[v].attributes[n].value);
    if (a[v].name == "g_u") {
      EXPECT_EQ(std::get<0>(b[v].values)[0], 0.1);
      EXPECT_TRUE(std::isnan(std::get<0>(b[v].values)[1]));
    } else {
      EXPECT_EQ(a[v].values, b[v].values) << a[v].name;
    }
  }
}

void expect_same(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.dimensions.size(), b.dimensions.size());
  for (std::size_t d = 0; d < a.dimensions.size(); ++d) EXPECT_EQ(a.dimensions[d].size, b.dimensions[d].size);
  expect_same(a.coordinates, b.coordinates);
  expect_same(a.variables, b.variables);
  ASSERT_EQ(b.attributes.size(), a.attributes.size());
  for (std::size_t n = 0; n < a.attributes.size(); ++n)
    EXPECT_EQ(a.attributes[n].value, b.attributes[n].value);
}

TEST(NetcdfSink, EveryTypeComesBackAsItWas) {
  const TemporaryFolder folder;
  write_netcdf(folder / "whole.nc", one_of_each());
  expect_same(one_of_each(), read_dataset(folder / "whole.nc"));
}

TEST(NetcdfSink, StreamedIsTheSameAsHeld) {
  const TemporaryFolder folder;
  const auto whole = one_of_each();
  auto header = whole;
  const auto values = std::get<std::vector<std::complex<double>>>(whole.variables[0].values);
  header.variables[0].values = std::vector<std::complex<double>>{};
  for (const std::size_t held : {std::size_t{0}, netcdf_held_bytes}) {
    const auto path = folder / fmt::format("held_{}.nc", held);
    NetcdfSink sink(path, held);
    sink.define(header);
    for (std::size_t f : {1U, 2U, 0U})
      sink.put("e_x", {{0, f}, {2, 1}}, std::vector<std::complex<double>>{values[f], values[3 + f]});
    EXPECT_FALSE(std::filesystem::exists(path));
    sink.finish();
    expect_same(whole, read_dataset(path));
  }
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(NetcdfSink, LeavesNothingWhenItIsNotFinished) {
  const TemporaryFolder folder;
  auto header = one_of_each();
  header.variables[0].values = std::vector<std::complex<double>>{};
  for (const std::size_t held : {std::size_t{0}, netcdf_held_bytes}) {
    NetcdfSink sink(folder / "a.nc", held);
    sink.define(header);
    EXPECT_THAT(message([&] { sink.finish(); }), HasSubstr("6 of its 6 values were not put"));
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(NetcdfSink, RoomTakenAndNotNeededIsGivenBack) {
  const TemporaryFolder folder;
  Dataset data;
  data.dimensions = {{"time", 1000}};
  data.variables = {{"p", "Pa", "", {"time"}, std::vector<float>(1000, 2.F), {}}};
  NetcdfSink sink(folder / "a.nc", 0);
  write(data, sink);
  struct stat file {};
  ASSERT_EQ(stat((folder / "a.nc").c_str(), &file), 0);
  EXPECT_LT(file.st_blocks * 512, 200'000);
  expect_same(data, read_dataset(folder / "a.nc"));
}

TEST(NetcdfSink, RefusesMoreThanTheDiskHoldsBeforeTheFirstValue) {
  const TemporaryFolder folder;
  Dataset data;
  data.dimensions = {{"shot", 1'000'000}, {"receiver", 1'000'000}, {"time", 100'000}};
  data.variables = {{"p", "Pa", "", {"shot", "receiver", "time"}, std::vector<float>{}, {}}};
  {
    NetcdfSink sink(folder / "a.nc");
    EXPECT_THAT(message([&] { sink.define(data); }), HasSubstr("its 4e+08 GB cannot be written"));
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(NetcdfSink, RefusesNamesThatAreItsOwn) {
  const TemporaryFolder folder;
  Dataset data;
  data.dimensions = {{"complex", 2}};
  EXPECT_THAT(message([&] { write_netcdf(folder / "a.nc", data); }),
              HasSubstr("\"complex\" cannot be the name of a dimension"));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(NetcdfSink, WritesNamesAsNetcdfAllowsThem) {
  const TemporaryFolder folder;
  Dataset data;
  data.dimensions = {{"station", 2}};
  for (const char* name : {"height \x1b[31m", "height \x07[31m", " depth"})
    data.variables.push_back({name, "m", "", {"station"}, std::vector<double>{1, 2}, {{"made\nby", "x"}}});
  for (const std::size_t held : {std::size_t{0}, netcdf_held_bytes}) {
    const auto path = folder / fmt::format("{}.nc", held);
    NetcdfSink sink(path, held);
    sink.define(data);
    sink.finish();
    std::vector<std::string> names;
    for (const auto& v : read_dataset(path).variables) {
      names.push_back(v.name);
      ASSERT_EQ(v.attributes.size(), 1U);
      EXPECT_EQ(v.attributes[0].name, "made_by");
    }
    EXPECT_THAT(names, testing::UnorderedElementsAre("height _[31m", "height _[31m_2", "_ depth"));
  }
}

TEST(NetcdfSink, WritesWhatTheReaderOfTablesReads) {
  const TemporaryFolder folder;
  Dataset data;
  data.dimensions = {{"station", 2}};
  data.coordinates = {{"easting", "m", "", {"station"}, std::vector<double>{1, 2}, {}},
                      {"northing", "m", "", {"station"}, std::vector<double>{3, 4}, {}}};
  data.variables = {{"g_u", "mGal", "", {"station"}, std::vector<double>{5, 6}, {}}};
  write_netcdf(folder / "a.nc", data);
  const auto table = std::get<Table>(read_netcdf(folder / "a.nc"));
  EXPECT_THAT(table.find("g_u")->values, ElementsAre(5, 6));
  EXPECT_EQ(table.find("g_u")->unit, "mGal");
}

}  // namespace
}  // namespace terrane::io
