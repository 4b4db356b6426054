#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

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
