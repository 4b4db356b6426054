// Files of SPECFEM3D and Gmsh, as `terrane info` sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/io/specfem.hpp"

namespace terrane::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::TemporaryFolder;

constexpr const char* cube = R"($MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
1
3 7 "granite"
$EndPhysicalNames
$Entities
0 0 0 1
1 0 0 0 1 1 1 1 7 0
$EndEntities
$Nodes
1 8 1 8
3 1 0 8
1 2 3 4 5 6 7 8
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
$EndNodes
$Elements
1 1 1 1
3 1 5 1
1 1 2 3 4 5 6 7 8
$EndElements
)";

TEST(ForeignMeshes, OfGmshAreKnownByTheirFirstLineAlsoByTheNameOfAUbcMesh) {
  const TemporaryFolder folder;
  const auto path = folder.put("cube.msh", cube);
  EXPECT_EQ(format_of(path).name, "gmsh");
  const auto data = std::get<Dataset>(read(path));
  EXPECT_EQ(data.dimension("node")->size, 8u);
  EXPECT_EQ(data.dimension("element")->size, 1u);
  EXPECT_THAT(std::get<std::vector<std::int32_t>>(data.find("corners")->values),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(std::get<std::vector<std::string>>(data.find("volume")->values), ElementsAre("granite"));
  EXPECT_THAT(describe(data, path), AllOf(HasSubstr("node 8, element 1"), HasSubstr("granite")));
  folder.put("old.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
  EXPECT_THAT(testing_support::message([&] { read(folder / "old.msh"); }), HasSubstr("MshFileVersion"));
  EXPECT_EQ(format_of(folder.put("ubc.msh", "1 1 1\n0 0 0\n1\n1\n1\n")).name, "ubc-mesh");
}

TEST(ForeignMeshes, OfSpecfemAreFolders) {
  const TemporaryFolder folder;
  folder.put("nodes_coords_file",
             "8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n");
  folder.put("mesh_file", "1\n5 1 2 3 4 5 6 7 8\n");
  folder.put("materials_file", "5 1\n");
  folder.put("nummaterial_velocity_file", "2 1 2300 2800 1500 9999 40 0\n");
  folder.put("free_or_absorbing_surface_file_zmax", "1\n5 5 6 7 8\n");
  const std::string path = folder / ".";
  EXPECT_EQ(format_of(path).name, "specfem-mesh");
  EXPECT_THAT(describe(read(path), path), AllOf(HasSubstr("node 8, element 1"), HasSubstr("top")));
}

TEST(ForeignFiles, WhatStandsBehindNumbersOfSpecfemIsAComment) {
  const auto cmt = [](const std::string& depth) {
    return read_specfem_sources("CMTSOLUTION",
                                "PDE 1999 01 01 00 00 00.00 1 1 1 4 4 test\nevent name: a\ntime shift: 0\n"
                                "half duration: 5\nlatitude: 34\nlongitude: -118\ndepth: " +
                                    depth + "\nMrr: 1e23\nMtt: 0\nMpp: 0\nMrt: 0\nMrp: 4d23\nMtp: 0\n")
        .at(0);
  };
  EXPECT_DOUBLE_EQ(cmt("30 ! km").depth, 30);
  EXPECT_THAT(testing_support::message([&] { cmt("30000 m"); }),
              testing::HasSubstr("depth: \"m\" stands behind the number"));
  EXPECT_THAT(testing_support::message([&] { cmt("30\ndepth: 40"); }),
              testing::HasSubstr("a second \"depth\""));
  EXPECT_THAT(testing_support::message([] { read_specfem_stations("STATIONS", "S1 XX 1 2 3 4 5\n"); }),
              testing::HasSubstr("\"5\" stands behind the six words"));
}

TEST(ForeignFiles, OfSpecfemAreKnownWithoutAnExtension) {
  const TemporaryFolder folder;
  const auto table = [&](const char* name, const char* text, const char* format) {
    const auto path = folder.put(name, text);
    EXPECT_EQ(format_of(path).name, format) << name;
    return std::get<Table>(read(path));
  };
  const auto par =
      table("Par_file", "# parameters\nSIMULATION_TYPE = 1 # forward\nNPROC = 4\nNSTEP = 5\nDT = 1.d-3\n",
            "specfem-par");
  EXPECT_THAT(par.texts.at(0).values, ElementsAre("SIMULATION_TYPE", "NPROC", "NSTEP", "DT"));
  EXPECT_EQ(par.texts.at(1).values[3], "1.d-3");
  const auto stations = table("STATIONS", "# name\nX20 DB 67000.00 22732.14 0.0 -10\n", "specfem-stations");
  EXPECT_THAT(stations.find("burial")->values, ElementsAre(-10));
  const auto cmt = table(
      "CMTSOLUTION",
      "PDE 1999 01 01 00 00 00.00 1 1 1 4 4 test\nevent name: a\ntime shift: 0\nhalf duration: 5\n"
      "latitude: 34\nlongitude: -118\ndepth: 30\nMrr: 1e23\nMtt: 0\nMpp: 0\nMrt: 0\nMrp: 4d23\nMtp: 0\n",
      "specfem-sources");
  EXPECT_THAT(cmt.find("mrp")->values, ElementsAre(4e23));
  const auto force =
      table("FORCESOLUTION",
            "FORCE 001\ntime shift: 0\nhdurorf0: 2\nlatorUTM: 3\nlongorUTM: 5\ndepth: 0.2\n"
            "source time function: 1\nfactor force source: 1e9\ncomponent dir vect source E: 0\n"
            "component dir vect source N: 0\ncomponent dir vect source Z_UP: -1\n",
            "specfem-sources");
  EXPECT_THAT(force.find("component_up")->values, ElementsAre(-1));
  const auto grid = table("tomography_model.xyz",
                          "0 0 -100 0 0 0\n1 1 100\n1 1 2\n1000 9000 100 5000 1000 4000\n"
                          "0 0 -100 3000 1500 2000\n0 0 0 2000 1000 1800\n",
                          "specfem-tomography");
  EXPECT_THAT(grid.find("up")->values, ElementsAre(-100, 0));
  EXPECT_THAT(grid.find("density")->values, ElementsAre(2000, 1800));
  EXPECT_EQ(format_of(folder.put("points.xyz", "0 0 1\n0 1 2\n1 0 3\n")).name, "csv");
}

}  // namespace
}  // namespace terrane::io
