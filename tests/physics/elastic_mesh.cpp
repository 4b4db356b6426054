// Meshes that are made from layers or read from files of other programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/elastic_meshes.hpp"
#include "support/elastic_whole.hpp"
#include "support/files.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/medium/media.hpp"
#include "terrane/physics/elastic/medium/tomography.hpp"
#include "terrane/physics/elastic/mesh/layers.hpp"
#include "terrane/physics/elastic/mesh/mesh_files.hpp"
#include "terrane/physics/elastic/simulation.hpp"

namespace terrane::elastic {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

std::function<double(double, double)> flat(double up) {
  return [up](double, double) { return up; };
}

/// Two doublings under a hill and an interface that is not level.
LayeredBox hill() {
  LayeredBox box;
  box.east = 1600, box.north = 800;
  box.columns_east = 16, box.columns_north = 8;
  box.surface = [](double e, double n) { return 40 * std::sin(e / 300) * std::cos(n / 250); };
  box.layers.push_back({[](double e, double) { return -220 + 0.05 * e; }, 2, false, "soil"});
  box.layers.push_back({flat(-1000), 3, true, "rock"});
  box.layers.push_back({flat(-2600), 3, true, "deep rock"});
  return box;
}

/// How many elements have each face.
std::map<std::array<std::uint32_t, 4>, int> faces_of(const Mesh& mesh) {
  std::map<std::array<std::uint32_t, 4>, int> faces;
  for (const auto& element : mesh.elements)
    for (std::size_t side = 0; side < 6; ++side) {
      std::array<std::uint32_t, 4> four{};
      std::size_t at = 0;
      for (std::size_t a = 0; a < 8; ++a)
        if ((a >> side / 2 & 1) == side % 2) four[at++] = element[a];
      std::sort(four.begin(), four.end());
      ++faces[four];
    }
  return faces;
}

TEST(LayeredMeshes, MeetFaceToFaceAlsoWhereColumnsDouble) {
  std::vector<std::uint32_t> layer;
  auto mesh = layered(hill(), {true, true, true, true, true, true}, layer);
  mesh.media = {Medium::from_speeds(3, 1.7, 1)};
  mesh.check();
  ASSERT_EQ(layer.size(), mesh.size());
  // 16 x 8 x 2; 8 blocks of 36 and a row of 8 x 4; 2 of 36 and a row of 4 x 2
  EXPECT_EQ(mesh.size(), 256u + 8 * 36 + 32 + 2 * 36 + 8);
  std::size_t outer = 0;
  for (const auto& [face, count] : faces_of(mesh)) {
    EXPECT_LE(count, 2);
    outer += count == 1;
  }
  EXPECT_EQ(outer,
            mesh.absorbing.size());  // all faces that belong to one element lie on the sides of the box
  // Between the two flat interfaces: 1600 x 800 x 1600 m.
  double volume = 0, worst = 1;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    worst = std::min(worst, quality(mesh.element(n)));
    if (layer[n] != 2) continue;
    for (const double x : {-1 / std::sqrt(3.), 1 / std::sqrt(3.)})
      for (const double y : {-1 / std::sqrt(3.), 1 / std::sqrt(3.)})
        for (const double z : {-1 / std::sqrt(3.), 1 / std::sqrt(3.)})
          volume += mesh.element(n).map({x, y, z}).det;
  }
  EXPECT_NEAR(volume / (1600. * 800 * 1600), 1, 1e-12);
  EXPECT_GT(worst, 0.4);
}

TEST(LayeredMeshes, AreAtRestUnderEvenStrain) {
  std::vector<std::uint32_t> layer;
  auto mesh = layered(hill(), {false, false, false, false, false, false}, layer);
  for (auto& node : mesh.nodes)
    for (double& x : node) x /= 100;
  mesh.media = {Medium::from_speeds(1.8, 1, 1)};
  std::vector<bool> outside(mesh.nodes.size(), false);
  for (const auto& [face, count] : faces_of(mesh))
    for (const auto node : face)
      if (count == 1) outside[node] = true;
  Whole earth(mesh, 3);
  const auto forces = earth.forces(earth.values([](const Vector& x) {
    return Vector{x[0] + 2 * x[1] - x[2], 0.5 * x[0] - x[2], x[1] + 3 * x[2]};
  }));
  std::size_t inside = 0;
  for (std::size_t p = 0; p < earth.at.size(); ++p) {
    const auto& x = earth.at[p];
    const double ground = 0.4 * std::sin(x[0] / 3) * std::cos(x[1] / 2.5);
    if (x[0] < 1e-6 || x[0] > 16 - 1e-6 || x[1] < 1e-6 || x[1] > 8 - 1e-6 || x[2] < -26 + 1e-6 ||
        x[2] > ground - 0.2)
      continue;
    ++inside;
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(forces[3 * p + d], 0, 1e-11);
  }
  EXPECT_GT(inside, 5000u);
}

TEST(LayeredMeshes, SayWhichLayerVanishesWhereAndWhatCannotBeDoubled) {
  std::vector<std::uint32_t> layer;
  auto box = hill();
  box.layers[0].bottom = [](double e, double) { return e > 1500 ? 100.0 : -100.0; };
  EXPECT_THAT(message([&] { layered(box, {}, layer); }),
              AllOf(HasSubstr("layer 1 (soil)"), HasSubstr("easting 1600")));
  box = hill();
  box.columns_north = 6;
  EXPECT_THAT(message([&] { layered(box, {}, layer); }),
              AllOf(HasSubstr("layer 2"), HasSubstr("multiples of 4")));
  box = hill();
  box.layers[1].rows = 1;
  EXPECT_THAT(message([&] { layered(box, {}, layer); }), HasSubstr("two rows"));
}

/// Two cubes side by side, the right one mirrored and with 27 nodes in Gmsh's order, of which one is moved by
/// 0.1 m; below them a square.
struct Cubes {
  std::vector<Vector> nodes;
  std::vector<std::vector<int>> elements;
};
Cubes cubes() {
  Cubes all;
  std::map<Vector, int> known;
  const auto node = [&](const Vector& x) {
    const auto [at, is_new] = known.emplace(x, static_cast<int>(all.nodes.size()));
    if (is_new) all.nodes.push_back(x);
    return at->second;
  };
  constexpr int gmsh[27] = {0,  2,  8,  6,  18, 20, 26, 24, 1,  3,  9,  5,  11, 7,
                            17, 15, 19, 21, 23, 25, 4,  10, 12, 14, 16, 22, 13};
  std::vector<int> left, right;
  for (int n = 0; n < 8; ++n) {
    const auto x = of_27_points(gmsh[n]);
    left.push_back(node({x[0], x[1], x[2]}));
  }
  for (const int n : gmsh) {
    const auto x = of_27_points(n);
    right.push_back(node({2 + x[0], x[1], -x[2]}));
  }
  all.nodes[static_cast<std::size_t>(right[26])][0] += 0.1;
  all.elements = {left, right};
  return all;
}

/// Tags are three times the number, plus five.
std::string gmsh_file(bool binary) {
  const auto mesh = cubes();
  std::string out = binary ? "$MeshFormat\n4.1 1 8\n" : "$MeshFormat\n4.1 0 8\n";
  const auto raw = [&](auto value) {
    if (binary) {
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      out += std::to_string(value) + " ";
    }
  };
  const auto size = [&](std::size_t n) { raw(static_cast<std::uint64_t>(n)); };
  const auto entity = [&](int n) { raw(static_cast<std::int32_t>(n)); };
  if (binary) entity(1), out += "\n";
  out +=
      "$EndMeshFormat\n$PhysicalNames\n3\n3 7 \"granite\"\n3 8 \"fresh water\"\n2 9 "
      "\"below\"\n$EndPhysicalNames\n";
  out += "$Entities\n";
  size(0), size(0), size(1), size(2);
  for (const auto& [tag, group] : {std::pair{4, 9}, std::pair{1, 7}, std::pair{2, 8}}) {
    entity(tag);
    for (int n = 0; n < 6; ++n) raw(0.0);
    size(1), entity(group);
    size(0);
  }
  out += "\n$EndEntities\n$Nodes\n";
  size(1), size(mesh.nodes.size()), size(5), size(999);
  entity(3), entity(1), entity(0), size(mesh.nodes.size());
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) size(3 * n + 5);
  for (const auto& x : mesh.nodes)
    for (const double value : x) raw(value);
  out += "\n$EndNodes\n$Elements\n";
  size(3), size(3), size(1), size(3);
  const auto element = [&](std::size_t number, const std::vector<int>& nodes) {
    size(number);
    for (const int n : nodes) size(static_cast<std::size_t>(3 * n + 5));
  };
  entity(2), entity(4), entity(3), size(1),
      element(1, {mesh.elements[0][0], mesh.elements[0][3], mesh.elements[0][2], mesh.elements[0][1]});
  entity(3), entity(1), entity(5), size(1), element(2, mesh.elements[0]);
  entity(3), entity(2), entity(12), size(1), element(3, mesh.elements[1]);
  return out + "\n$EndElements\n";
}

TEST(GmshMeshes, OfTextAndBinaryFilesAreTheSameAndMirroredElementsAreTurned) {
  for (const bool binary : {false, true}) {
    const auto file = read_gmsh("a.msh", gmsh_file(binary));
    ASSERT_EQ(file.elements.size(), 2u) << binary;
    EXPECT_EQ(file.groups, (std::vector<std::string>{"granite", "fresh water"}));
    EXPECT_EQ(file.sides, (std::vector<std::string>{"below"}));
    EXPECT_EQ(file.turned, 1u);
    EXPECT_NEAR(file.bent, 0.1, 1e-12);
    auto mesh = mesh_of(file, {"below"});
    mesh.media = {Medium::from_speeds(3, 1.7, 1), Medium::from_speeds(1.5, 0, 1)};
    mesh.check();
    EXPECT_EQ(mesh.absorbing, (std::vector<AbsorbingFace>{{0, 4}}));
    EXPECT_EQ(mesh.medium, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(mesh.curve, (std::vector<std::uint32_t>{Mesh::straight, 0}));  // its centre is moved
    EXPECT_NEAR(mesh.element(1).at({0, 0, 0})[0], 2.1, 1e-12);
    EXPECT_NEAR(mesh.element(1).at({1, 0, 0})[0], 3, 1e-12);
    EXPECT_NEAR(mesh_of(file, {"below"}, false).element(1).at({0, 0, 0})[0], 2, 1e-12);
    int shared = 0;
    for (const auto& [face, count] : faces_of(mesh)) shared += count == 2;
    EXPECT_EQ(shared, 1);
  }
}

TEST(GmshMeshes, ThatAreBrokenAreRefusedWithTheirPlace) {
  const auto text = gmsh_file(false);
  const auto with = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    return at == std::string::npos ? std::string() : text.substr(0, at) + to + text.substr(at + from.size());
  };
  const auto read = [&](const std::string& bytes) { return message([&] { read_gmsh("a.msh", bytes); }); };
  EXPECT_THAT(read(with("4.1 0 8", "2.2 0 8")), AllOf(HasSubstr("a.msh:2"), HasSubstr("MshFileVersion")));
  EXPECT_THAT(read(with("3 1 5 1", "3 1 4 1")), AllOf(HasSubstr("type 4"), HasSubstr("hexahedra")));
  EXPECT_THAT(read(text.substr(0, text.size() / 2)), HasSubstr("a.msh:"));
  EXPECT_THAT(read(gmsh_file(true).substr(0, 700)), HasSubstr("byte"));
  EXPECT_THAT(read("hello"), HasSubstr("hello"));
  EXPECT_THAT(message([&] { mesh_of(read_gmsh("a.msh", text), {"west"}); }),
              AllOf(HasSubstr("no side \"west\""), HasSubstr("below")));
  auto apart = read_gmsh("a.msh", text);
  apart.nodes.push_back(apart.nodes[apart.elements[0][1]]);
  apart.elements[1][0] = static_cast<std::uint32_t>(apart.nodes.size() - 1);
  EXPECT_THAT(message([&] { mesh_of(apart, {}); }), HasSubstr("do not meet"));
}

std::vector<std::pair<std::string, std::string>> specfem_files() {
  return {{"nodes_coords_file",
           "12\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n"
           "12 0 1 2\n11 1 1 2\n10 1 0 2\n9 0 0 2\n"},
          {"mesh_file", "2\n5 1 2 3 4 5 6 7 8\n6 5 6 7 8 9 10 11 12\n"},
          {"materials_file", "6 2\n5 1\n"},
          {"nummaterial_velocity_file",
           "# domain number rho vp vs Qk Qmu\n2 1 2300 2800 1500 9999 40 0\n"
           "1 2 1000 1480 0 9999 9999 0 ! water\n"},
          {"absorbing_surface_file_bottom", "1\n5 4 3 2 1\n"},
          {"free_or_absorbing_surface_file_zmax", "1\n6 9 10 11 12\n"}};
}

TEST(SpecfemMeshes, HaveTheirMaterialsAndSides) {
  const auto file = read_specfem_mesh("MESH", specfem_files());
  EXPECT_EQ(file.sides, (std::vector<std::string>{"bottom", "top"}));
  auto mesh = mesh_of(file, {"bottom"});
  mesh.check();
  EXPECT_EQ(mesh.absorbing, (std::vector<AbsorbingFace>{{0, 4}}));
  EXPECT_FALSE(mesh.medium_of(0).is_fluid());
  EXPECT_TRUE(mesh.medium_of(1).is_fluid());
  EXPECT_EQ(mesh.medium_of(0).quality_mu, 40);
  EXPECT_EQ(mesh.medium_of(1).density, 1000);
}

TEST(SpecfemMeshes, ThatAreBrokenAreRefusedWithTheirFileAndLine) {
  const auto with = [&](std::size_t which, const std::string& text) {
    auto files = specfem_files();
    files[which].second = text;
    return message([&] { read_specfem_mesh("MESH", files); });
  };
  EXPECT_THAT(with(0, "2\n1 0 0 0\n1 1 1 1\n"),
              AllOf(HasSubstr("MESH/nodes_coords_file:3"), HasSubstr("twice")));
  EXPECT_THAT(with(1, "1\n5 1 2 3 4 5 6 7\n"), HasSubstr("8 or 27"));
  EXPECT_THAT(with(1, "1\n5 1 2 3 4 5 6 7 99\n"), HasSubstr("nodes_coords_file does not have"));
  EXPECT_THAT(with(2, "6 2\n5 3\n"), HasSubstr("material"));
  EXPECT_THAT(with(3, "2 1 2300 2800 0\n1 2 1000 1480 0\n"), HasSubstr("v_S"));
  EXPECT_THAT(with(3, "2 -1 interface x.xyz 1\n"), HasSubstr("materials of interface"));
  EXPECT_THAT(with(3, "2 1 tomography elastic file.xyz 1\n"), HasSubstr("\"tomography\" is no number"));
  auto files = specfem_files();
  files.erase(files.begin());
  EXPECT_THAT(message([&] { read_specfem_mesh("MESH", files); }), HasSubstr("nodes_coords_file"));
}

/// Speeds and density linear in x, y and z, on 3 × 2 × 2 points 100 m apart.
std::string tomography(bool losing) {
  std::string text = "0 0 -100 200 100 0\n100 100 100\n3 2 2\n1000 9000 100 5000 1000 4000\n";
  for (int n = 0; n < 12; ++n) {
    const int x = n % 3 * 100, y = n / 3 % 2 * 100, z = n / 6 * 100 - 100;
    text += fmt::format("{} {} {} {} {} {}{}\n", x, y, z, 3000 + x + 2 * y - z, 1500 + x - z, 2000 + y,
                        losing ? " 200 80" : "");
  }
  return text;
}

TEST(MediaOfCells, WhoseQualitiesContradictEachOtherAreRefused) {
  const double b = 4. / 3 * 2000 * 2000 / (4000. * 4000), kappa = (1 - b) / (1. / 60 - b / 50);
  const auto media = [&](double of_kappa, double of_mu) {
    const TensorMesh mesh({0, 1, 2}, {0, 1}, {-1, 0});
    const std::vector<Property> properties{
        {"velocity_p", {4000, 4000}}, {"velocity_s", {2000, 2000}}, {"density", {2600, 2600}},
        {"quality_p", {60, 60}},      {"quality_s", {50, 50}},      {"quality_kappa", {NAN, of_kappa}},
        {"quality_mu", {NAN, of_mu}},
    };
    return media_of(from_dense(mesh, properties), "model");
  };
  const auto both = media(1.005 * kappa, 49.8).media;  // files round
  EXPECT_NEAR(both.at(0).quality_kappa, kappa, 1e-9);
  EXPECT_EQ(both.at(1).quality_mu, 49.8);
  EXPECT_THAT(
      message([&] { media(1.05 * kappa, 50); }),
      AllOf(HasSubstr("model: cell 1"), HasSubstr("quality_kappa is"), HasSubstr("by quality_p it is"),
            HasSubstr("keep quality_p and quality_s, or quality_kappa and quality_mu")));
  EXPECT_THAT(message([&] { media(kappa, 45); }),
              AllOf(HasSubstr("model: cell 1: quality_mu is 45, and by quality_s it is 50")));
}

TEST(TomographyFiles, AreTrilinearBetweenPointsAndGoOnBeyondThem) {
  const auto grid = Tomography::read("grid.xyz", tomography(true));
  const auto rock = grid.at({130, 40, -70});
  EXPECT_NEAR(rock.speeds({0, 0, 1})[0], 3000 + 130 + 80 + 70, 1e-6);
  EXPECT_NEAR(rock.speeds({0, 0, 1})[2], 1500 + 130 + 70, 1e-6);
  EXPECT_NEAR(rock.density, 2040, 1e-9);
  EXPECT_EQ(rock.quality_mu, 80);
  EXPECT_LT(rock.quality_kappa, INFINITY);
  EXPECT_EQ(Tomography::read("grid.xyz", tomography(false)).at({0, 0, 0}).quality_mu, INFINITY);
  EXPECT_EQ(grid.at({-500, 500, 900}), grid.at({0, 100, 0}));
  EXPECT_NEAR(grid.at({200, 100, -100}).density, 2100, 1e-9);
}

TEST(TomographyFiles, ThatAreBrokenAreRefusedWithTheirLine) {
  const auto broken = [](const std::string& from, const std::string& to) {
    auto text = tomography(false);
    text.replace(text.find(from), from.size(), to);
    return message([&] { Tomography::read("grid.xyz", text); });
  };
  EXPECT_THAT(broken("0 0 -100 200", "0 0 -100 250"), AllOf(HasSubstr("grid.xyz:4"), HasSubstr("along x")));
  EXPECT_THAT(broken("3 2 2", "3 2 0.5"), HasSubstr("0.5 points along z"));
  EXPECT_THAT(broken("100 0 -100", "0 100 -100"), AllOf(HasSubstr("grid.xyz:6"), HasSubstr("x fastest")));
  EXPECT_THAT(broken("2100\n", "2100 7\n"), HasSubstr("7 numbers"));
  EXPECT_THAT(broken("1600 2000", "3600 2000"), HasSubstr("no rock has v_P"));
  EXPECT_THAT(broken("200 100 0 ", "200 100 nan "), HasSubstr("grid.xyz:16"));
  EXPECT_THAT(message([] { Tomography::read("a.xyz", tomography(false).substr(0, 200)); }),
              HasSubstr("a.xyz"));
  EXPECT_THAT(message([] { Tomography::read("a.xyz", tomography(false) + "1\n"); }), HasSubstr("a.xyz:17"));
}

const char* const rest = R"([survey]
kind = "list"
stations = [[150, 150, -10]]
[source]
at = [150, 150, -150]
force = [0, 0, 1]
frequency = 1
[simulation]
physics = "elastic"
end = 0.5
[output]
files = ["a.nc"]
)";

TEST(ElasticJobs, AreBuiltWhereTheyFitIntoMemoryAsForetold) {
  const auto job = Config::parse(
      std::string("[mesh]\nbox = [0, 1600, 0, 1600, -1600, 0]\nshape = [16, 16, 16]\n[model.background]\n"
                  "velocity_p = 3000\nvelocity_s = 1700\ndensity = 2300\n") +
      rest);
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    Runtime runtime;
    runtime.device.kind = kind;
    const auto plan = Simulation::from_job(job, runtime)->check(runtime);
    runtime.memory = static_cast<std::size_t>(plan.memory_bytes);
    EXPECT_NO_THROW(Simulation::from_job(job, runtime)) << to_string(runtime.device);
    runtime.memory /= 2;
    EXPECT_THROW(Simulation::from_job(job, runtime), MemoryError) << to_string(runtime.device);
  }
}

TEST(ElasticJobs, MakeLayersWithRocksByNameOrFromTheModel) {
  const std::string layers = R"([elements]
kind = "layers"
columns = [4, 4]
[[elements.layer]]
bottom = -100
rock = "soil"
[[elements.layer]]
bottom = -800
rows = 3
doubling = true
)",
                    soil = R"([[elements.rock]]
name = "soil"
density = 1800
velocity_p = 1500
velocity_s = 600
)",
                    model = R"([mesh]
kind = "regular"
box = [0, 400, 0, 400, -800, 0]
shape = [1, 1, 2]
[[model.body]]
kind = "layer"
bottom = -800
top = 0
density = 2400
velocity_p = 3000
velocity_s = 1500
)";
  const auto made = [](const std::string& text) {
    return Simulation::from_job(Config::parse(text + rest), {});
  };
  const auto simulation = made(layers + soil + model);
  const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
  EXPECT_EQ(p.mesh.size(), 16u + 36 + 4);
  EXPECT_EQ(p.mesh.medium_of(0).density, 1800);
  EXPECT_EQ(p.mesh.medium_of(16).density, 2400);
  const auto faces = faces_of(p.mesh);
  EXPECT_EQ(p.mesh.absorbing.size() + 16,  // all but the surface
            static_cast<std::size_t>(
                std::count_if(faces.begin(), faces.end(), [](const auto& f) { return f.second == 1; })));
  EXPECT_THAT(message([&] { made(layers + model); }), HasSubstr("no rock \"soil\""));
  EXPECT_THAT(message([&] { made(layers + soil); }), HasSubstr("elements.box"));
  EXPECT_THAT(message([&] { simulation->check_model("model.nc"); }), HasSubstr("no cells"));
}

TEST(ElasticJobs, TakeAllTwentyOneConstantsOfARock) {
  const std::string layers = R"([elements]
kind = "layers"
columns = [1, 1]
box = [0, 200, 0, 200]
top = 0
[[elements.layer]]
bottom = -200
rock = "slate"
[[elements.rock]]
name = "slate"
density = 2500
)";
  const auto made = [&](const std::string& more) {
    return Simulation::from_job(Config::parse(layers + more + rest), {});
  };
  const auto rock = [&](const Simulation& s) { return s.problem().mesh.medium_of(0); };
  const auto whole =
      made(R"(stiffness = [80, 31, 32, 1, 2, 3, 70, 33, 4, 5, 6, 60, 7, 8, 9, 20, 1, 2, 21, 3, 22, "GPa"]
quality_s = 50
)");
  const auto slate = rock(dynamic_cast<const Simulation&>(*whole));
  const Stiffness expected{{{80e9, 31e9, 32e9, 1e9, 2e9, 3e9},
                            {31e9, 70e9, 33e9, 4e9, 5e9, 6e9},
                            {32e9, 33e9, 60e9, 7e9, 8e9, 9e9},
                            {1e9, 4e9, 7e9, 20e9, 1e9, 2e9},
                            {2e9, 5e9, 8e9, 1e9, 21e9, 3e9},
                            {3e9, 6e9, 9e9, 2e9, 3e9, 22e9}}};
  EXPECT_FALSE(slate.isotropic);
  EXPECT_EQ(slate.density, 2500);
  EXPECT_EQ(slate.quality_mu, 50);
  for (std::size_t p = 0; p < 6; ++p) EXPECT_GT(slate.stiffness[p][p], expected[p][p]);  // unrelaxed
  const auto lossless =
      made("stiffness = [80, 31, 32, 1, 2, 3, 70, 33, 4, 5, 6, 60, 7, 8, 9, 20, 1, 2, 21, 3, 22, \"GPa\"]\n");
  EXPECT_EQ(rock(dynamic_cast<const Simulation&>(*lossless)).stiffness, expected);
  EXPECT_THAT(message([&] { made("stiffness = [80, 31]\n"); }), HasSubstr("stiffness"));
  EXPECT_THAT(message([&] { made("stiffness = [\"21*5 GPa\"]\n"); }),
              AllOf(HasSubstr("stiffness"), HasSubstr("positive definite")));
  EXPECT_THAT(message([&] { made("velocity_p = 5000\nstiffness = [\"21*5 GPa\"]\n"); }),
              AllOf(HasSubstr("velocity_p"), HasSubstr("constants")));
}

TEST(ElasticJobs, TakeTheRockOfEachElementFromATomography) {
  const TemporaryFolder folder;
  folder.put("t.xyz", tomography(false));
  const auto layers = test::imaged_layers(folder / "t.xyz");
  auto text = layers + rest;
  text.replace(text.find("150, 150, -10"), 13, "50, 50, -10  ");
  text.replace(text.find("150, 150, -150"), 14, "50, 50, -150  ");
  const auto simulation = Simulation::from_job(Config::parse(text), {});
  const auto& mesh = dynamic_cast<const Simulation&>(*simulation).problem().mesh;
  ASSERT_EQ(mesh.size(), 4u);
  const double expected[4] = {3000 + 50 + 100 + 50, 3200 + 100, 3000 + 50 + 100 + 100, 3200 + 150};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(mesh.medium_of(n).speeds({0, 0, 1})[0], expected[n], 1e-6);
  auto wrong = layers;
  wrong.replace(wrong.find("tomography"), 10, "velocity_p = 3000 #");
  EXPECT_THAT(message([&] { Simulation::from_job(Config::parse(wrong + rest), {}); }),
              AllOf(HasSubstr("velocity_s"), HasSubstr("or a tomography")));
}

TEST(TomographyFiles, OfTwentyOneConstantsAreCalledWhatTheyAre) {
  std::string text = "0 0 -100 200 100 0\n100 100 100\n3 2 2\n1000 9000 100 5000 1000 4000\n0 0 -100";
  for (int n = 0; n < 22; ++n) text += " 1e9";
  EXPECT_THAT(
      message([&] { Tomography::read("grid.xyz", text); }),
      AllOf(HasSubstr("grid.xyz:5"), HasSubstr("anisotropic tomography files"), HasSubstr("stiffness")));
}

TEST(ElasticJobs, WhoseRocksAllHaveNamesNeedNoModelBesideTheirMesh) {
  const auto made = [](const std::string& rock) {
    return Simulation::from_job(Config::parse("[mesh]\nbox = [0, 300, 0, 300, -300, 0]\nshape = [3, 3, 3]\n"
                                              "[elements]\nkind = \"layers\"\ncolumns = [2, 2]\n"
                                              "[[elements.layer]]\nbottom = -300\nrows = 2\n" +
                                              rock + rest),
                                {});
  };
  const auto simulation = made(
      "rock = \"granite\"\n[[elements.rock]]\nname = \"granite\"\ndensity = 2700\n"
      "velocity_p = 6000\nvelocity_s = 3464\n");
  const auto& mesh = dynamic_cast<const Simulation&>(*simulation).problem().mesh;
  EXPECT_EQ(mesh.size(), 8u);
  EXPECT_EQ(mesh.medium_of(0).density, 2700);
  EXPECT_THAT(message([&] { made(""); }), HasSubstr("tables [mesh] and [model]"));
}

TEST(ElasticJobs, TakeTheTomographyThatAMeshOfSpecfemNames) {
  const TemporaryFolder folder;
  for (auto [name, text] : specfem_files()) {
    if (name == "nummaterial_velocity_file")
      text = "2 1 2300 2800 1500 9999 40 0\n2 -2 tomography elastic t.xyz 1\n";
    if (name == "materials_file") text = "6 -2\n5 1\n";
    folder.put(name, text);
  }
  folder.put("t.xyz", tomography(false));
  auto text = fmt::format("[elements]\nkind = \"specfem\"\nfile = \"{}\"\n", folder / ".") + rest;
  text.replace(text.find("150, 150, -10"), 13, "0.5, 0.5, 1.5");
  text.replace(text.find("150, 150, -150"), 14, "0.5, 0.5, 0.5 ");
  const auto simulation = Simulation::from_job(Config::parse(text), {});
  const auto& mesh = dynamic_cast<const Simulation&>(*simulation).problem().mesh;
  EXPECT_EQ(mesh.medium_of(0).density, 2300);
  EXPECT_NEAR(mesh.medium_of(1).density, 2000.5, 1e-6);
}

TEST(ElasticJobs, TakeAMeshOfGmshWithItsVolumesAsRocks) {
  const TemporaryFolder folder;
  auto text = gmsh_file(false);
  folder.put("a.msh", text);
  const auto made = [&](const std::string& more) {
    return Simulation::from_job(Config::parse(R"([elements]
kind = "gmsh"
file = "a.msh"
[[elements.rock]]
name = "granite"
density = 2700
velocity_p = 6000
velocity_s = 3464
)" + more + R"([survey]
kind = "list"
stations = [[0.5, 0, 0]]
[source]
at = [0, 0, 0]
force = [0, 0, 1]
frequency = 100
[simulation]
physics = "elastic"
end = 0.01
absorbing = ["below"]
[output]
files = ["a.nc"]
)",
                                              "job.toml", folder / "."),
                                {});
  };
  const std::string water =
      "[[elements.rock]]\nname = \"fresh water\"\ndensity = 1000\nvelocity_p = 1500\nvelocity_s = 0\n";
  const auto simulation = made(water);
  const auto& p = dynamic_cast<const Simulation&>(*simulation).problem();
  EXPECT_EQ(p.mesh.medium_of(0).density, 2700);
  EXPECT_TRUE(p.mesh.medium_of(1).is_fluid());
  EXPECT_EQ(p.mesh.absorbing.size(), 1u);
  EXPECT_THAT(message([&] { made(""); }), HasSubstr("no rock \"fresh water\""));
}

}  // namespace
}  // namespace terrane::elastic
