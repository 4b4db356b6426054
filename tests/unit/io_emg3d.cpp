// Files of emg3d: three that emg3d 1.9.1 wrote with one content (model, grid, field, survey), and broken
// ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/emg3d.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::io {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

std::string stored(const std::string& end) {
  return std::string(TERRANE_SOURCE_DIR) + "/tests/support/data/emg3d_1.9.1." + end;
}

class Emg3d : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, Emg3d, testing::Values("npz", "h5", "json"));

TEST_P(Emg3d, AModelHasItsConductivityAlongEachAxisInItsCells) {
  const auto content = read(stored(GetParam()));
  const auto& model = std::get<MeshData>(content);
  EXPECT_THAT(model.mesh.easting(), ElementsAre(-10, 0, 20));
  EXPECT_THAT(model.mesh.northing(), ElementsAre(3, 8, 13, 20));
  EXPECT_THAT(model.mesh.up(), ElementsAre(-12, -8, 0));
  const auto* east = model.find("conductivity_east");
  const auto* up = model.find("conductivity_up");
  ASSERT_TRUE(east != nullptr && up != nullptr && model.find("conductivity_north") != nullptr);
  for (std::size_t n = 0; n < 12; ++n) {  // emg3d's [x, y, z] in Fortran order is [up, north, east]
    EXPECT_DOUBLE_EQ(east->values[n], 1 / (1. + static_cast<double>(n)));
    EXPECT_DOUBLE_EQ(up->values[n], 0.5 / (1. + static_cast<double>(n)));
  }
}

TEST_P(Emg3d, ASurveyHasWiresDipolesAndLoopsWithTheirPlacesAndCurrents) {
  const auto survey = read_emg3d_survey(stored(GetParam()));
  ASSERT_EQ(survey.sources.size(), 4U);
  EXPECT_THAT(survey.frequencies, ElementsAre(0.5, 2));
  for (const auto& source : survey.sources) {
    if (source.name == "point") {
      EXPECT_FALSE(source.wire);
      EXPECT_THAT(source.points[0], ElementsAre(1, 2, -3));
      const double flat = 2 * std::cos(M_PI / 18);
      EXPECT_NEAR(source.moment[0], flat * std::cos(M_PI / 6), 1e-14);
      EXPECT_NEAR(source.moment[1], flat * std::sin(M_PI / 6), 1e-14);
      EXPECT_NEAR(source.moment[2], 2 * std::sin(M_PI / 18), 1e-14);
    } else if (source.name == "wire") {
      EXPECT_EQ(source.current, 3);
      ASSERT_EQ(source.points.size(), 3U);
      EXPECT_THAT(source.points[2], ElementsAre(5, 5, -2));
    } else if (source.name == "dipole") {
      EXPECT_THAT(source.points[0], ElementsAre(0, 0, -5));
      EXPECT_THAT(source.points[1], ElementsAre(10, 0, -6));
    } else {  // a magnetic dipole upwards is a square of 1 m2
      ASSERT_EQ(source.points.size(), 5U);
      EXPECT_NEAR(source.points[0][1], std::sqrt(0.5), 1e-14);
      EXPECT_NEAR(source.points[1][0], -std::sqrt(0.5), 1e-14);
      EXPECT_NEAR(source.points[3][0], std::sqrt(0.5), 1e-14);
    }
  }
  ReadOptions options;
  options.format = "emg3d-survey";
  const auto content = read(stored(GetParam()), options);
  const auto& table = std::get<Table>(content);
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_THAT(table.find("azimuth")->values, ElementsAre(90, 0));
  EXPECT_THAT(table.find("dip")->values, ElementsAre(0, 5));
}

const std::string grid =
    R"({"hx__array-float64": [1, 2], "hy__array-float64": [3], "hz__array-float64": [4],
"origin__array-float64": [0, 0, 0], "__class__": "TensorMesh"})";

std::string model(const std::string& with) {
  return R"({"model": {"__class__": "Model", "mapping": "Resistivity", "grid": )" + grid + ", " + with + "}}";
}

TEST(Emg3dFiles, TakeLogarithmsAndOneNumberForAllCells) {
  auto content = parse_emg3d("m.json", model(R"("property_x": 4.0, "property_y": "NoneType")"));
  EXPECT_THAT(std::get<MeshData>(content).find("conductivity")->values, ElementsAre(0.25, 0.25));
  auto logarithms = model(R"("property_x__array-float64": [[[1]], [[3]]], "property_z": null)");
  logarithms.replace(logarithms.find("Resistivity"), 11, "LgResistivity");
  content = parse_emg3d("m.json", logarithms);
  const auto& values = std::get<MeshData>(content).find("conductivity")->values;
  EXPECT_NEAR(values[0], 0.1, 1e-15);
  EXPECT_NEAR(values[1], 0.001, 1e-17);
}

TEST(Emg3dFiles, WithManyKeysAreReadInTimeThatGrowsAsTheyDo) {
  const auto with_keys = [](int count) {
    std::string text = "{";
    for (int n = 0; n < count; ++n) text += "\"k" + std::to_string(n) + "\":1,";
    return text + R"("model": {"__class__": "Model", "mapping": "Resistivity", "property_x": 4.0, "grid": )" +
           grid + "}}";
  };
  const auto seconds = [](const std::string& text) {
    const auto begin = std::clock();
    EXPECT_NO_THROW((void)parse_emg3d("m.json", text));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const auto many = with_keys(100'000);
  // A search among all keys for each of them takes 16 times as long for 4 times as many keys.
  EXPECT_LT(seconds(many), 9 * std::max(seconds(with_keys(25'000)), 0.02));
  EXPECT_THROW((void)parse_emg3d("m.json", many, 20'000'000), MemoryError);
}

TEST(Emg3dFiles, ThatAreWrongAreRefusedWithThePlace) {
  const auto said = [](const std::string& text) -> std::string {
    try {
      (void)parse_emg3d("m.json", text);
    } catch (const Error& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_THAT(said(model(R"("property_x": 4.0, "mu_r": 2.0)")),
              HasSubstr("has mu_r, which Terrane leaves out"));
  EXPECT_THAT(said(model(R"("property_y": 4.0)")), HasSubstr("property_x"));
  EXPECT_THAT(said(model(R"("property_x__array-float64": [[[1], [2]]])")), HasSubstr("[2, 1, 1]"));
  EXPECT_THAT(said("{\"a\": 1,\n \"b\": [1, 2}"), HasSubstr("m.json:2"));
  EXPECT_THAT(said("{\"a\": [[1, 2], [3]]}"), HasSubstr("lists of different lengths"));
  EXPECT_THAT(said("{\"a\": 1}"), HasSubstr("no Model, TensorMesh or Survey"));
  auto bytes = bytes_of(stored("npz"));
  bytes[bytes.find("model>property_x.npy") + 70] ^= 1;  // in what is packed
  EXPECT_THAT(said(bytes), testing::AnyOf(HasSubstr("checksum"), HasSubstr("cannot be unpacked")));
  bytes.resize(bytes.size() / 2);
  EXPECT_THAT(said(bytes), HasSubstr("may be truncated"));
  const auto relative =
      R"({"s": {"__class__": "Survey", "frequencies": {"f": 1}, "sources": {"t": {"__class__":
    "TxMagneticPoint", "coordinates": [0, 0, 0, 0, 0]}}, "receivers": {"r": {"coordinates": [0, 0, 0, 0, 0],
    "relative": true}}}})";
  EXPECT_THAT(said(relative), HasSubstr("a source is a TxMagneticPoint"));
}

}  // namespace
}  // namespace terrane::io
