// Values of cells that an inversion takes from files.
#include "terrane/inversion/job/cell_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/files.hpp"
#include "terrane/io/registry.hpp"

namespace terrane::inversion {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

TEST(FilesOfCells, WithNumbersForNoValueAreRefusedInEveryFormat) {
  const testing_support::TemporaryFolder folder;
  const TensorMesh mesh({0, 1, 2, 3, 4}, {0, 1}, {-1, 0});
  const auto values = [&](const std::string& file) {
    const auto job = Config::parse("[inversion]\nreference = \"" + file + "\"", "job.toml");
    return values_of_file(job.table("inversion"), "reference", "density", mesh, {});
  };
  const auto npy = [&](double last) {
    io::write(folder / "cells.npy", io::Array{{1, 1, 4}, {1, 2, 3, last}, {}, false});
    return values(folder / "cells.npy");
  };
  const auto ubc = [&](const std::string& first) {
    return values(folder.put("cells.den", first + "\n0.002\n0.003\n0.004\n"));
  };
  const auto cells = [&](const char* name, double last) {
    io::write(
        folder / "cells.nc",
        io::MeshData{
            mesh, {{"density", "kg/m3", "", {1, 2, 3, 4}}, {"susceptibility", "1", "", {1, 2, 3, 4}}}, {}});
    auto data = std::get<io::MeshData>(io::read(folder / "cells.nc"));
    for (auto& column : data.cells)
      if (column.name == name) column.values.back() = last;
    io::write(folder / "cells.nc", data);
    return values(folder / "cells.nc");
  };
  EXPECT_THAT(npy(4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(message([&] { npy(-9999); }),
              HasSubstr("job.toml:2: inversion.reference: the array: -9999 (value 4)"));
  EXPECT_EQ(ubc("0.001").size(), 4U);
  EXPECT_THAT(message([&] { ubc("1e30"); }), HasSubstr("inversion.reference: density: 1e+"));
  EXPECT_THAT(message([&] { cells("density", -9999); }), HasSubstr("density: -9999 (value 4)"));
  EXPECT_THAT(cells("susceptibility", -9999), ElementsAre(1, 2, 3, 4)) << "it is not read";
}

}  // namespace
}  // namespace terrane::inversion
