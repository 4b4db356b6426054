// What a run keeps for itself comes back bit for bit.
#include <gtest/gtest.h>

#include <cmath>

#include "support/files.hpp"
#include "terrane/io/hdf5.hpp"

namespace terrane::io {
namespace {

using namespace testing_support;

TEST(Hdf5Arrays, ComeBackWithEveryBit) {
  const TemporaryFolder folder;
  const std::vector<double> odd{0.1, -0.0, 1e-320, INFINITY, 1 / 3.0};
  const Arrays arrays{{{"empty", "", "", {}}, {"odd", "kg/m3", "odd numbers", odd}, {"one", "", "", {7}}},
                      {{"accuracy", "1e-12"}, {"long", std::string(100000, 'x')}}};
  write_hdf5_arrays(folder / "a.h5", arrays);
  const auto back = read_hdf5_arrays(folder / "a.h5");
  EXPECT_EQ(back.attributes, arrays.attributes);
  ASSERT_EQ(back.columns.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(back.columns[c].name, arrays.columns[c].name);
    EXPECT_EQ(back.columns[c].unit, arrays.columns[c].unit);
    EXPECT_EQ(back.columns[c].values, arrays.columns[c].values);
  }
  EXPECT_TRUE(std::signbit(back.columns[1].values[1]));
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Hdf5Arrays, AreNotTakenFromAMesh) {
  const TemporaryFolder folder;
  MeshData mesh;
  mesh.mesh = TensorMesh({0, 1}, {0, 1}, {0, 1});
  write_hdf5(folder / "mesh.h5", mesh);
  EXPECT_NE(message([&] { read_hdf5_arrays(folder / "mesh.h5"); }).find("HDF5 of another kind"),
            std::string::npos);
}

TEST(Hdf5Arrays, ThatEndEarlyAreAnError) {
  const TemporaryFolder folder;
  write_hdf5_arrays(folder / "a.h5", {{{"many", "", "", std::vector<double>(10000, 1.5)}}, {}});
  std::filesystem::resize_file(folder / "a.h5", std::filesystem::file_size(folder / "a.h5") / 2);
  EXPECT_THROW(read_hdf5_arrays(folder / "a.h5"), FileError);
}

}  // namespace
}  // namespace terrane::io
