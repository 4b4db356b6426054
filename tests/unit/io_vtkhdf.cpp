#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/dataset.hpp"
#include "terrane/io/vtkhdf.hpp"

namespace terrane::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

/// Two quadrilaterals side by side, at two times.
Dataset two_faces() {
  Dataset data;
  data.dimensions = {{"snapshot", 2}, {"point", 6},  {"component", 3},
                     {"cell", 2},     {"corner", 4}, {"trace", 1}};
  const std::vector<double> x{0, 1, 2, 0, 1, 2}, y{0, 0, 0, 1, 1, 1}, z(6, -5.0), t{0.5, 0.75};
  data.coordinates = {{"snapshot", "s", "", {"snapshot"}, t, {}},
                      {"point_easting", "m", "", {"point"}, x, {}},
                      {"point_northing", "m", "", {"point"}, y, {}},
                      {"point_up", "m", "", {"point"}, z, {}}};
  std::vector<float> moves(2 * 6 * 3);
  for (std::size_t n = 0; n < moves.size(); ++n) moves[n] = static_cast<float>(n) / 4;
  data.variables = {
      {"seismogram", "m", "", {"trace"}, std::vector<double>{1}, {}},
      {"cell_points", "", "", {"cell", "corner"}, std::vector<std::int32_t>{0, 1, 4, 3, 1, 2, 5, 4}, {}},
      {"velocity", "m/s", "", {"snapshot", "point", "component"}, moves, {}},
      {"level", "m", "", {"snapshot", "point"}, std::vector<double>(12, 3.0), {}}};
  return data;
}

/// Numbers of a dataset or, with `attribute`, of an attribute of the group that it names.
std::vector<double> numbers(const std::string& path, const std::string& name,
                            const char* attribute = nullptr) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const auto at = "/VTKHDF/" + name;
  std::vector<double> all(1000);
  hid_t there = attribute == nullptr ? H5Dopen2(file, at.c_str(), H5P_DEFAULT)
                                     : H5Aopen_by_name(file, at.c_str(), attribute, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = attribute == nullptr ? H5Dget_space(there) : H5Aget_space(there);
  all.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  if (attribute == nullptr) {
    H5Dread(there, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
    H5Dclose(there);
  } else {
    H5Aread(there, H5T_NATIVE_DOUBLE, all.data());
    H5Aclose(there);
  }
  H5Sclose(space);
  H5Fclose(file);
  return all;
}

TEST(VtkHdf, HasOneMeshAndItsFieldsStepByStep) {
  const TemporaryFolder folder;
  const auto path = folder / "film.vtkhdf";
  write(path, two_faces());
  EXPECT_THAT(numbers(path, ".", "Version"), ElementsAre(2, 0));
  EXPECT_THAT(numbers(path, "NumberOfPoints"), ElementsAre(6));
  EXPECT_THAT(numbers(path, "NumberOfCells"), ElementsAre(2));
  EXPECT_THAT(numbers(path, "Connectivity"), ElementsAre(0, 1, 4, 3, 1, 2, 5, 4));
  EXPECT_THAT(numbers(path, "Offsets"), ElementsAre(0, 4, 8));
  EXPECT_THAT(numbers(path, "Types"), ElementsAre(9, 9));
  const auto points = numbers(path, "Points");
  ASSERT_EQ(points.size(), 18u);
  EXPECT_THAT(std::vector<double>(points.end() - 3, points.end()), ElementsAre(2, 1, -5));
  EXPECT_THAT(numbers(path, "Steps", "NSteps"), ElementsAre(2));
  EXPECT_THAT(numbers(path, "Steps/Values"), ElementsAre(0.5, 0.75));
  EXPECT_THAT(numbers(path, "Steps/PointOffsets"), ElementsAre(0, 0));
  EXPECT_THAT(numbers(path, "Steps/PointDataOffsets/velocity"), ElementsAre(0, 6));
  const auto velocity = numbers(path, "PointData/velocity");
  ASSERT_EQ(velocity.size(), 36u);
  EXPECT_EQ(velocity[35], 8.75);
  EXPECT_EQ(numbers(path, "PointData/level").size(), 12u);
}

TEST(VtkHdf, TakesFieldsPieceByPiece) {
  const TemporaryFolder folder;
  const auto whole = two_faces();
  write(folder / "whole.vtkhdf", whole);
  auto header = whole;
  for (auto& v : header.variables) std::visit([](auto& values) { values.clear(); }, v.values);
  {
    VtkhdfSink sink(folder / "pieces.vtkhdf");
    sink.define(header);
    sink.put("seismogram", span_of(whole.find("seismogram")->values));
    const auto& cells = std::get<std::vector<std::int32_t>>(whole.find("cell_points")->values);
    for (const std::size_t n : {1u, 0u})
      sink.put("cell_points", {{n, 0}, {1, 4}}, std::span<const std::int32_t>(cells).subspan(4 * n, 4));
    const auto& velocity = std::get<std::vector<float>>(whole.find("velocity")->values);
    const auto& level = std::get<std::vector<double>>(whole.find("level")->values);
    for (const std::size_t step : {1u, 0u}) {
      sink.put("level", {{step, 0}, {1, 6}}, std::span<const double>(level).first(6));
      for (const std::size_t at : {0u, 4u}) {
        const std::size_t points = at == 0 ? 4 : 2;
        sink.put("velocity", {{step, at, 0}, {1, points, 3}},
                 std::span<const float>(velocity).subspan(3 * (6 * step + at), 3 * points));
      }
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "pieces.vtkhdf"));
    sink.finish();
  }
  for (const auto* name : {"Points", "Connectivity", "Offsets", "Types", "Steps/Values", "Steps/PointOffsets",
                           "PointData/velocity", "PointData/level"})
    EXPECT_EQ(numbers(folder / "pieces.vtkhdf", name), numbers(folder / "whole.vtkhdf", name)) << name;
  {
    VtkhdfSink sink(folder / "cut.vtkhdf");
    sink.define(header);
    EXPECT_THAT(message([&] { sink.finish(); }), HasSubstr("were not put"));
  }
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(VtkHdf, SaysWhatItLeavesOutAndRefusesWhatIsNoFilm) {
  auto data = two_faces();
  EXPECT_THAT(left_out("film.vtkhdf", data), ElementsAre("seismogram"));
  data.variables.resize(2);
  EXPECT_THAT(message([&] { left_out("film.vtkhdf", data); }), HasSubstr("no field on its points"));
  data.variables.pop_back();
  EXPECT_THAT(message([&] { left_out("film.vtkhdf", data); }), HasSubstr("no points and cells"));
  EXPECT_THAT(message([&] { left_out("film.vtkhdf", Dataset{}); }), HasSubstr("no points and cells"));
}

}  // namespace
}  // namespace terrane::io
