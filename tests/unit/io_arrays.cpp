#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "support/files.hpp"
#include "terrane/io/npy.hpp"
#include "terrane/io/tomofast.hpp"
#include "terrane/io/vtk.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;

std::string npy(const std::string& header, const std::string& data) {
  std::string s("\x93NUMPY\x01\x00", 8);
  s += static_cast<char>(header.size());
  s += '\0';
  return s + header + data;
}

template <class T>
std::string raw(std::initializer_list<T> values, bool swap = false) {
  std::string s;
  for (const T v : values) {
    std::string one(reinterpret_cast<const char*>(&v), sizeof v);
    s += swap ? std::string(one.rbegin(), one.rend()) : one;
  }
  return s;
}

TEST(Npy, ReadsEitherByteOrderAndEitherAxisOrder) {
  const auto c = read_npy("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                       raw<float>({1, 2, 3, 4, 5, 6})));
  EXPECT_THAT(c.shape, ElementsAre(2, 3));
  EXPECT_THAT(c.values, ElementsAre(1, 2, 3, 4, 5, 6));
  const auto f = read_npy("a.npy", npy("{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }\n",
                                       raw<double>({1, 4, 2, 5, 3, 6}, true)));
  EXPECT_THAT(f.values, ElementsAre(1, 2, 3, 4, 5, 6));
  const auto i = read_npy("a.npy", npy("{\"descr\": \">i2\", \"fortran_order\": False, \"shape\": (2,)}",
                                       raw<std::int16_t>({-1, 300}, true)));
  EXPECT_THAT(i.values, ElementsAre(-1, 300));
  EXPECT_THAT(read_npy("a.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "\x07")).values,
              ElementsAre(7));
}

TEST(Npy, ComesBackAsItWasWritten) {
  const TemporaryFolder folder;
  const Array a{{1, 2, 2}, {0.1, -0.0, 1e300, 5}, {}};
  write_npy(folder / "a.npy", a);
  const auto bytes = bytes_of(folder / "a.npy");
  EXPECT_EQ((bytes.size() - a.values.size() * sizeof(double)) % 64, 0U);
  const auto again = read_npy(folder / "a.npy");
  EXPECT_EQ(again.shape, a.shape);
  EXPECT_EQ(again.values, a.values);
}

TEST(Npy, TakesHalfTheBytesInSinglePrecision) {
  const TemporaryFolder folder;
  Array array{{2}, {0.1, 0.2}, {}, true};
  write_npy(folder / "a.npy", array);
  EXPECT_THAT(read_npy(folder / "a.npy").values, ElementsAre(double{0.1F}, double{0.2F}));
  EXPECT_EQ(std::filesystem::file_size(folder / "a.npy") % 64, 2 * sizeof(float));
}

TEST(Npy, SaysWhatItCannotRead) {
  const auto with = [](const std::string& header, const std::string& data = {}) {
    return message([&] { read_npy("a.npy", npy(header, data)); });
  };
  EXPECT_THAT(message([] { read_npy("a.npy", "hello world"); }), HasSubstr("not a .npy file"));
  EXPECT_THAT(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", raw<double>({1})),
              HasSubstr("ends after 1 of 2"));
  EXPECT_THAT(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", raw<double>({1, 2, 3})),
              HasSubstr("8 bytes stand behind its 2 values"));
  EXPECT_THAT(with("{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}"),
              AllOf(HasSubstr("<c16"), HasSubstr("float64")));
  EXPECT_THAT(with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("not read"));
  EXPECT_THAT(with("{'descr': '<f8', 'shape': (2,)}"), HasSubstr("no fortran_order"));
  EXPECT_THAT(with("{'descr': '<f8', 'fortran_order': False, 'shape': (-2,)}"), HasSubstr("\"-2\""));
  EXPECT_THAT(with("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000)}"),
              HasSubstr("beyond what memory can hold"));
  EXPECT_THAT(with("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
              HasSubstr("ends after 0 of"));
}

/// The float64 array that a VTK header announces under a name.
std::vector<double> vtk_array(const std::string& file, const std::string& name) {
  const auto at = file.find("Name=\"" + name + "\"");
  const auto offset = std::stoul(file.substr(file.find("offset=\"", at) + 8));
  const auto data = file.find("<AppendedData encoding=\"raw\">\n_") + 31 + offset;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, file.data() + data, sizeof bytes);
  std::vector<double> values(bytes / sizeof(double));
  std::memcpy(values.data(), file.data() + data + sizeof bytes, bytes);
  return values;
}

TEST(Vtk, HoldsAMeshWithItsCells) {
  const TemporaryFolder folder;
  const MeshData data{
      TensorMesh({0, 1, 3}, {0, 5}, {-2, 0}), {{"density", "kg/m3", "", {10, 20}}}, {{"title", "a < b & c"}}};
  write_vtr(folder / "a.vtr", data);
  const auto file = bytes_of(folder / "a.vtr");
  EXPECT_THAT(file, AllOf(HasSubstr("type=\"RectilinearGrid\""), HasSubstr("header_type=\"UInt64\""),
                          HasSubstr("WholeExtent=\"0 2 0 1 0 1\"")));
  EXPECT_THAT(vtk_array(file, "density"), ElementsAre(10, 20));
  EXPECT_THAT(vtk_array(file, "easting"), ElementsAre(0, 1, 3));
  EXPECT_THAT(vtk_array(file, "up"), ElementsAre(-2, 0));
}

TEST(Vtk, HoldsStationsAtTheirHeights) {
  const TemporaryFolder folder;
  GridData g;
  g.easting = {0, 1};
  g.northing = {5, 6};
  g.fields = {{"up", "m", "", {7, 8, 9, 10}}, {"g_u", "mGal", "", {1, 2, 3, 4}}};
  write_vts(folder / "a.vts", g);
  const auto file = bytes_of(folder / "a.vts");
  EXPECT_THAT(file, AllOf(HasSubstr("type=\"StructuredGrid\""), HasSubstr("WholeExtent=\"0 1 0 1 0 0\"")));
  EXPECT_THAT(vtk_array(file, "points"), ElementsAre(0, 5, 7, 1, 5, 8, 0, 6, 9, 1, 6, 10));
  EXPECT_THAT(vtk_array(file, "g_u"), ElementsAre(1, 2, 3, 4));
}

TEST(Tomofast, TurnsDepthIntoUp) {
  TextReader grid("grid.txt", "2\n0 1 0 2 0 3 1 1 1\n1 2 0 2 0 3 2 1 1\n");
  const auto p = read_tomofast_grid(grid);
  EXPECT_EQ(p.prisms[1], (Prism{1, 2, 0, 2, -3, 0}));
  EXPECT_THAT(p.properties.at(0).values, ElementsAre(0, 0));
  TextReader dense("grid.txt", "1\n0 1 0 2 0 3 250 1 1 1\n");
  EXPECT_THAT(read_tomofast_grid(dense).properties.at(0).values, ElementsAre(250));
  TextReader data("data.txt", "  1\n 10.0 20.0 -1.0 9.5E-004\n");
  const auto t = read_tomofast_data(data);
  EXPECT_THAT(t.find("up")->values, ElementsAre(1));
  EXPECT_THAT(t.si("g_u", Quantity::acceleration), ElementsAre(-9.5e-4));
}

TEST(Tomofast, SaysWhichLineIsWrong) {
  const auto grid = [](const std::string& text) {
    return message([&] {
      TextReader in("grid.txt", text);
      read_tomofast_grid(in);
    });
  };
  EXPECT_THAT(grid("2\n0 1 0 2 0 3 1 1 1\n"), HasSubstr("ends"));
  EXPECT_THAT(grid("1\n0 1 0 2 0 3\n"), AllOf(HasSubstr("grid.txt:2"), HasSubstr("6 numbers")));
  EXPECT_THAT(grid("2\n0 1 0 2 0 3 1 1 1\n0 1 0 2 0 3 5 1 1 1\n"),
              AllOf(HasSubstr("grid.txt:3"), HasSubstr("10 numbers")));
  EXPECT_THAT(grid("1\n0 1 0 2 3 0 1 1 1\n"), AllOf(HasSubstr("grid.txt:2"), HasSubstr("without extent")));
  EXPECT_THAT(grid("1\n0 1 0 2 0 3 1 1 1\n7\n"), HasSubstr("stands after"));
  EXPECT_THAT(grid("9000000000\n"), HasSubstr("too short"));
}

}  // namespace
}  // namespace terrane::io
