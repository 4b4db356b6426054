// Values of cells that an inversion takes from files.
#include "terrane/inversion/job/cell_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "support/files.hpp"
#include "terrane/inversion/job/tables.hpp"
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
  for (const char* none : {"1e30", "-9999"})
    EXPECT_THAT(message([&] { ubc(none); }), HasSubstr("inversion.reference: density: ")) << none;
  EXPECT_THAT(message([&] { cells("density", -9999); }), HasSubstr("density: -9999 (value 4)"));
  EXPECT_THAT(cells("susceptibility", -9999), ElementsAre(1, 2, 3, 4)) << "it is not read";
}

/// Cells marked -9999 or 1e30 were unknowns, or told to be "fixed, but part of the model norm".
TEST(FilesOfCells, MarkCellsOneOrZeroOrNothing) {
  const testing_support::TemporaryFolder folder;
  const TensorMesh mesh({0, 1, 2, 3, 4}, {0, 1}, {-1, 0});
  const auto active = [&](const std::string& file) {
    const auto job = Config::parse("[inversion]\nactive_file = \"" + file + "\"", "job.toml");
    return read_active(job.table("inversion"), mesh, {}, std::nullopt, {1'000'000});
  };
  const auto npy = [&](double last) {
    io::write(folder / "marks.npy", io::Array{{1, 1, 4}, {1, 1, 0, last}, {}, false});
    return active(folder / "marks.npy");
  };
  EXPECT_THAT(npy(1), ElementsAre(0, 1, 3));
  EXPECT_THAT(npy(std::nan("")), ElementsAre(0, 1)) << "no value: as 0";
  EXPECT_THAT(message([&] { npy(-1); }), HasSubstr("part of the model norm"));
  EXPECT_THAT(
      message([&] { npy(-9999); }),
      HasSubstr("job.toml:2: inversion.active_file: it marks 1 of 4 cells neither 1 nor 0: -9999 (value 4)"));
  EXPECT_THAT(message([&] { active(folder.put("marks.txt", "1\n1e30\n1e30\n0\n")); }),
              HasSubstr("2 of 4 cells neither 1 nor 0: 1e+30 (value 2)"));
  EXPECT_THAT(message([&] {
                active(folder.put("marks.csv",
                                  "easting [m],northing [m],up [m],active\n0.5,0.5,-0.5,1\n"
                                  "1.5,0.5,-0.5,0\n2.5,0.5,-0.5,0.5\n3.5,0.5,-0.5,1\n"));
              }),
              HasSubstr("1 of 4 cells neither 1 nor 0: 0.5 (value 3)"));
}

}  // namespace
}  // namespace terrane::inversion
