#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <map>

#include "support/files.hpp"
#include "terrane/io/geotiff.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using namespace testing_support;

/// A little-endian TIFF of one image, written tag by tag (TIFF 6.0).
class TiffFile {
 public:
  template <class T>
  void put(std::uint16_t tag, std::uint16_t type, const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    entries_[tag] = {type, static_cast<std::uint32_t>(values.size()), bytes};
  }
  void shorts(std::uint16_t tag, std::vector<std::uint16_t> values) { put(tag, 3, values); }
  void doubles(std::uint16_t tag, std::vector<double> values) { put(tag, 12, values); }
  void text(std::uint16_t tag, const std::string& words) {
    put(tag, 2, std::vector<char>(words.c_str(), words.c_str() + words.size() + 1));
  }
  void drop(std::uint16_t tag) { entries_.erase(tag); }
  /// The file, with these bytes as its only strip or tile.
  std::string with(const std::string& block, bool tiled = false) {
    put<std::uint32_t>(tiled ? 324 : 273, 4, {8});
    put<std::uint32_t>(tiled ? 325 : 279, 4, {static_cast<std::uint32_t>(block.size())});
    std::string file("II*\0", 4), behind;
    const auto number = [](auto value) {
      std::string bytes(sizeof value, '\0');
      std::memcpy(bytes.data(), &value, sizeof value);
      return bytes;
    };
    const auto directory = static_cast<std::uint32_t>(8 + block.size() + block.size() % 2);
    const auto after = directory + 2 + 12 * static_cast<std::uint32_t>(entries_.size()) + 4;
    file += number(directory) + block + std::string(block.size() % 2, '\0');
    file += number(static_cast<std::uint16_t>(entries_.size()));
    for (const auto& [tag, entry] : entries_) {
      auto bytes = entry.bytes;
      file += number(tag) + number(entry.type) + number(entry.count);
      bytes.resize(std::max<std::size_t>(4, bytes.size() + bytes.size() % 2), '\0');
      if (bytes.size() > 4) {
        file += number(after + static_cast<std::uint32_t>(behind.size()));
        behind += bytes;
      } else {
        file += bytes;
      }
    }
    return file + number(std::uint32_t{0}) + behind;
  }

 private:
  struct Entry {
    std::uint16_t type = 0;
    std::uint32_t count = 0;
    std::string bytes;
  };
  std::map<std::uint16_t, Entry> entries_;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

constexpr std::uint16_t unsigned_numbers = 1, signed_numbers = 2, floats = 3;

/// 3 x 2 cells of 30 by 20 m whose corner in the north-west is (100, 500).
TiffFile three_by_two(std::uint16_t bits, std::uint16_t format) {
  TiffFile f;
  f.shorts(256, {3});
  f.shorts(257, {2});
  f.shorts(258, {bits});
  f.shorts(259, {1});
  f.shorts(262, {1});
  f.shorts(277, {1});
  f.shorts(278, {2});
  f.shorts(339, {format});
  f.doubles(33550, {30, 20, 0});
  f.doubles(33922, {0, 0, 0, 100, 500, 0});
  return f;
}

/// model: 1 projected, 2 geographic.
void keys(TiffFile& file, std::vector<std::array<std::uint16_t, 2>> pairs) {
  std::vector<std::uint16_t> directory{1, 1, 0, static_cast<std::uint16_t>(pairs.size())};
  for (const auto& [key, value] : pairs) directory.insert(directory.end(), {key, 0, 1, value});
  file.shorts(34735, directory);
}

const std::vector<float> heights{1, 2, 3, 4, 5, 6};

class Geotiff : public testing::Test {
 protected:
  void SetUp() override {
    if (!reads_geotiff()) GTEST_SKIP() << "built without libtiff";
  }
  static GridData read(TiffFile& file, const std::string& block = raw(heights), bool tiled = false) {
    return read_geotiff("dem.tif", file.with(block, tiled));
  }
};

TEST_F(Geotiff, NodesAreTheMiddleOfCellsOrPointsAsItsKeySays) {
  auto file = three_by_two(32, floats);
  const auto cells = read(file);
  EXPECT_THAT(cells.easting, ElementsAre(115, 145, 175));
  EXPECT_THAT(cells.northing, ElementsAre(470, 490));
  EXPECT_THAT(cells.fields.at(0).values, ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_EQ(cells.fields[0].name, "dem");
  EXPECT_TRUE(cells.unit_is_assumed);
  keys(file, {{1024, 1}, {1025, 2}, {3072, 32734}});
  const auto points = read(file);
  EXPECT_THAT(points.easting, ElementsAre(100, 130, 160));
  EXPECT_THAT(points.northing, ElementsAre(480, 500));
  EXPECT_EQ(points.projection, "EPSG:32734");
  EXPECT_FALSE(points.unit_is_assumed);
  file.doubles(33922, {1, 1, 0, 130, 480, 0});  // the same place by another node
  EXPECT_EQ(read(file).easting, points.easting);
  EXPECT_EQ(read(file).northing, points.northing);
  file.drop(33550);
  file.drop(33922);
  file.doubles(34264, {30, 0, 0, 100, 0, 20, 0, 460, 0, 0, 0, 0, 0, 0, 0, 1});  // rows that go north
  EXPECT_THAT(read(file).northing, ElementsAre(460, 480));
  EXPECT_THAT(read(file).fields[0].values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(Geotiff, KeysSayDegreesMetresOrFeet) {
  auto file = three_by_two(32, floats);
  file.doubles(33550, {0.5, 0.25, 0});
  file.doubles(33922, {0, 0, 0, 27, -23, 0});
  keys(file, {{1024, 2}, {1025, 1}, {2048, 4326}, {2054, 9102}});
  const auto degrees = read(file);
  EXPECT_TRUE(degrees.geographic);
  EXPECT_THAT(degrees.northing, ElementsAre(-23.375, -23.125));
  EXPECT_FALSE(degrees.attributes.contains("note"));
  keys(file, {{1024, 2}, {2048, 4267}});
  EXPECT_THAT(read(file).attributes.at("note"), HasSubstr("(EPSG:4267) are taken for those of WGS84"));
  keys(file,
       {{1024, 2}, {2048, 4807}});  // degrees of a hundredth of a right angle, from the meridian of Paris
  EXPECT_THAT(message([&] { read(file); }), HasSubstr("longitudes do not count from Greenwich"));
  keys(file, {{1024, 2}, {2048, 32767}, {2051, 8903}});
  EXPECT_THAT(message([&] { read(file); }), HasSubstr("longitudes do not count from Greenwich"));
  auto feet = three_by_two(32, floats);
  keys(feet, {{1024, 1}, {3072, 2227}});  // California, in feet of the US survey
  const auto map = read(feet);
  EXPECT_THAT(map.easting, ElementsAre(DoubleNear(115 * 1200.0 / 3937, 1e-9), testing::_, testing::_));
  EXPECT_THAT(map.attributes.at("note"), HasSubstr("are taken for metres"));
  EXPECT_EQ(crs_axes(map.projection)->unit, 1) << "the map of the places, which are in metres";
  keys(feet, {{1024, 1}, {3072, 2227}, {4096, 6360}});  // NAVD88, feet
  EXPECT_EQ(read(feet).fields.at(0).unit, "m");
  EXPECT_NEAR(read(feet).fields.at(0).values[5], 3 * 1200.0 / 3937, 1e-12);
}

TEST_F(Geotiff, HeightsHaveTheirScaleOffsetUnitAndGaps) {
  auto file = three_by_two(16, signed_numbers);
  const std::vector<std::int16_t> values{10, 20, -32768, 40, 50, 60};
  const auto silent = read(file, raw(values));
  EXPECT_THAT(silent.fields[0].values, ElementsAre(40, 50, 60, 10, 20, IsNan()));
  EXPECT_THAT(silent.attributes.at("note"), HasSubstr("1 values of -32768 are gaps, though no tag says so"));
  file.text(42113, "20");
  file.text(42112,
            "<GDALMetadata>\n  <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.1</Item>\n"
            "  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-100</Item>\n"
            "  <Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">ft</Item>\n</GDALMetadata>\n");
  const auto scaled = read(file, raw(values));
  EXPECT_EQ(scaled.fields[0].unit, "ft");
  EXPECT_THAT(scaled.fields[0].values,
              ElementsAre(DoubleNear(-96, 1e-9), -95, -94, -99, IsNan(), DoubleNear(-3376.8, 1e-9)));
}

TEST_F(Geotiff, TilesAreUnpackedAndCutAtTheEdge) {
  auto file = three_by_two(32, floats);
  file.shorts(259, {8});  // Deflate
  file.shorts(322, {16});
  file.shorts(323, {16});
  file.drop(278);
  std::vector<float> tile(256, -1);
  for (std::size_t j = 0; j < 2; ++j)
    for (std::size_t i = 0; i < 3; ++i) tile[16 * j + i] = heights[3 * j + i];
  const auto plain = raw(tile);
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
            plain.size(), 6);
  packed.resize(size);
  EXPECT_THAT(read(file, packed, true).fields[0].values, ElementsAre(4, 5, 6, 1, 2, 3));
  packed[packed.size() / 2] ^= 0x55;
  EXPECT_THAT(message([&] { read(file, packed, true); }), HasSubstr("dem.tif: cannot be unpacked"));
}

TEST_F(Geotiff, BandsAreFieldsAndTransparencyMakesGaps) {
  auto file = three_by_two(8, unsigned_numbers);
  file.shorts(258, {8, 8});
  file.shorts(277, {2});
  file.shorts(339, {1, 1});
  const std::vector<std::uint8_t> values{1, 255, 2, 0, 3, 255, 4, 255, 5, 255, 6, 255};
  EXPECT_EQ(read(file, raw(values)).fields.size(), 2U);
  EXPECT_EQ(read(file, raw(values)).fields[1].name, "band_2");
  file.shorts(338, {2});
  const auto grid = read(file, raw(values));
  ASSERT_EQ(grid.fields.size(), 1U);
  EXPECT_THAT(grid.fields[0].values, ElementsAre(4, 5, 6, 1, IsNan(), 3));
}

TEST_F(Geotiff, RefusesWhatHasNoPlaceOrIsNoHeight) {
  const auto said = [](auto&& change, std::uint16_t format = floats) {
    auto file = three_by_two(32, format);
    change(file);
    return message([&] { read(file); });
  };
  EXPECT_THAT(said([](TiffFile& f) { f.drop(33922); }), HasSubstr("nothing in it says where its nodes are"));
  EXPECT_THAT(said([](TiffFile& f) { f.drop(33550); }),
              AllOf(HasSubstr("control points alone"), HasSubstr("gdalwarp")));
  EXPECT_THAT(said([](TiffFile& f) {
                f.drop(33550);
                f.doubles(34264, {30, 5, 0, 100, 5, -20, 0, 500, 0, 0, 0, 0, 0, 0, 0, 1});
              }),
              HasSubstr("do not run along east and north"));
  EXPECT_THAT(said([](TiffFile& f) { f.doubles(33550, {30, -20, 0}); }), HasSubstr("sizes above zero"));
  EXPECT_THAT(said([](TiffFile& f) { f.shorts(262, {2}); }), HasSubstr("is a picture"));
  EXPECT_THAT(said([](TiffFile& f) { f.shorts(274, {3}); }), HasSubstr("orientation 3"));
  EXPECT_THAT(said([](TiffFile&) {}, 6), HasSubstr("gdal_translate -ot Float32"));
  EXPECT_THAT(said([](TiffFile& f) { keys(f, {{1024, 3}}); }), HasSubstr("GTModelType is 3"));
  EXPECT_THAT(said([](TiffFile& f) {
                keys(f, {{1024, 1}, {3072, 2048}});
              }),
              HasSubstr("the axes of EPSG:2048 run to the west or south"));
  EXPECT_THAT(said([](TiffFile& f) {
                keys(f, {{1024, 2}, {2048, 4326}});
              }),
              HasSubstr("are not of this Earth"));
  EXPECT_THAT(said([](TiffFile& f) { f.shorts(34735, {1, 1, 0, 9}); }), HasSubstr("cut short"));
  EXPECT_THAT(said([](TiffFile& f) {
                f.put<std::uint32_t>(256, 4, {40'000}), f.put<std::uint32_t>(257, 4, {40'000});
              }),
              HasSubstr("says that it holds 40000 x 40000 nodes"));
  EXPECT_THAT(message([] { read_geotiff("dem.tif", std::string_view("II*\0\x08\0\0\0", 8)); }),
              HasSubstr("dem.tif: cannot be read as a TIFF"));
}

}  // namespace
}  // namespace terrane::io
