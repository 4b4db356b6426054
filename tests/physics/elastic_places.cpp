// Where sources and receivers lie: under the surface of any mesh, by files of SPECFEM3D, and outside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/elastic_meshes.hpp"
#include "support/fields.hpp"
#include "support/files.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/physics/elastic/simulation.hpp"

namespace terrane::elastic {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

TEST(ElasticPlaces, EveryFieldOfAProblemTravelsAndIsInTheFingerprint) {
  test::expect_every_field_travels_and_is_in_the_fingerprint(
      test::rough_earth(Precision::single_precision, 4, true, true));
}

/// The mesh and the way up to its surface: found() there, and not a little above.
void expect_surface(const Mesh& mesh, double room) {
  const Locator locator(mesh);
  std::size_t looked = 0;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    for (const double a : {-0.9, 0.1, 0.77}) {
      const auto x = mesh.element(n).at({a, -0.4 * a, 0.3});
      const auto top = locator.top(x[0], x[1]);
      ASSERT_TRUE(top.has_value());
      EXPECT_GE(*top, x[2]);
      locator.find({x[0], x[1], *top}, "surface");
      EXPECT_THAT(message([&] { locator.find({x[0], x[1], *top + room}, "above"); }), HasSubstr("outside"));
      ++looked;
    }
  EXPECT_GT(looked, 10u);
  EXPECT_FALSE(locator.top(1e9, 0).has_value());
}

TEST(MeshSurface, IsWhereTheMeshEndsAboveAPlaceAlsoWhereSidesAreBentOrCurved) {
  expect_surface(test::rough_earth(Precision::single_precision).mesh, 0.01);
  std::vector<std::uint32_t> layer;
  const Chunk chunk{earth_radius, 0.3, 0.2, 4, 3, {{-400'000, 2}}};
  expect_surface(chunk_of_sphere(chunk, {}, layer), 500);  // curved sides are found to a thousandth
}

TEST(MeshSurface, IsTheHighestOfSeveral) {
  auto mesh = test::cubes({1, 1, 3}, 100, test::granite());
  mesh.elements.erase(mesh.elements.begin() + 1);  // a cave
  mesh.medium.resize(2);
  const Locator locator(mesh);
  EXPECT_NEAR(locator.top(50, 50).value(), 300, 1e-9);
  EXPECT_THAT(message([&] { locator.find({50, 50, 150}, "cave"); }), HasSubstr("reaches up to 300 m"));
}

/// A mesh of SPECFEM3D in two columns and two rows, whose top rises by a tenth towards the east: 100 m at
/// easting 0, 300 m at 2000. The upper row is water where it is `wet`.
void put_wedge(const TemporaryFolder& folder, bool wet) {
  std::string nodes = "18\n", elements = "4\n", materials;
  int id = 0;
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i)
        nodes += fmt::format("{} {} {} {}\n", ++id, 1000 * i, 1000 * j, -1000 + 0.5 * k * (1100 + 100 * i));
  for (int k = 0, n = 0; k < 2; ++k)
    for (int i = 0; i < 2; ++i) {
      const int a = 6 * k + i + 1;
      elements += fmt::format("{} {} {} {} {} {} {} {} {}\n", ++n, a, a + 1, a + 4, a + 3, a + 6, a + 7,
                              a + 10, a + 9);
      materials += fmt::format("{} {}\n", n, wet && k == 1 ? 2 : 1);
    }
  folder.put("nodes_coords_file", nodes);
  folder.put("mesh_file", elements);
  folder.put("materials_file", materials);
  folder.put("nummaterial_velocity_file", "2 1 2300 2800 1500 9999 9999 0\n1 2 1000 1480 0 9999 9999 0\n");
}

constexpr const char* cmt = R"(PDE 2020 01 01 00 00 00.00 0 0 0 4 4 TEST
event name: TEST
time shift: 0
half duration: 4
latorUTM: 600
longorUTM: 500
depth: 0.03
Mrr: 1e23
Mtt: 1e23
Mpp: 1e23
Mrt: 0
Mrp: 0
Mtp: 0
)";

/// A job on files in a folder; what it makes of sources and receivers.
class PlacesOfFiles : public testing::Test {
 protected:
  void SetUp() override {
    put_wedge(folder_, false);
    folder_.put("CMTSOLUTION", cmt);
    folder_.put("STATIONS", "A TE 300 1500 0 0\nB TE 300 200 0 50\n");
    put_par("");
  }
  void put_par(const std::string& more) {
    folder_.put("Par_file", "NSTEP = 100\nDT = 0.02\nSTACEY_ABSORBING_CONDITIONS = .false.\n" + more);
  }
  std::unique_ptr<terrane::Simulation> made(const std::string& more = "") {
    const auto text = "[elements]\nkind = \"specfem\"\nfile = \".\"\n" + more_elements_ +
                      "[simulation]\nphysics = \"elastic\"\npar_file = \"Par_file\"\n" + more +
                      "[output]\nfiles = [\"a.nc\"]\n";
    return Simulation::from_job(Config::parse(text, "job.toml", folder_ / "."), {});
  }
  const Problem& problem(const std::string& more = "") {
    made_ = made(more);
    return dynamic_cast<const Simulation&>(*made_).problem();
  }
  std::vector<std::string> notes() { return made_->check().notes; }

  TemporaryFolder folder_;
  std::string more_elements_;
  std::unique_ptr<terrane::Simulation> made_;
};

TEST_F(PlacesOfFiles, DepthsCountFromTheSurfaceOfTheMeshAbovePlaces) {
  const auto& p = problem();
  EXPECT_NEAR(p.sources[0].at[2], 150 - 30, 1e-6);  // and not 300 − 30, of the highest node
  ASSERT_EQ(p.receivers.size(), 2u);
  EXPECT_NEAR(p.receivers[0][2], 250, 1e-6);
  EXPECT_NEAR(p.receivers[1][2], 120 - 50, 1e-6);
}

TEST_F(PlacesOfFiles, AreHeightsWhereTheParFileSaysSo) {
  put_par("USE_SOURCES_RECEIVERS_Z = .true.\n");
  folder_.put("CMTSOLUTION", std::string(cmt).replace(std::string(cmt).find("0.03"), 4, "-500."));
  const auto& p = problem();
  EXPECT_EQ(p.sources[0].at, (Vector{500, 600, -500}));
  EXPECT_EQ(p.receivers[1], (Vector{200, 300, 50}));
}

TEST_F(PlacesOfFiles, SaySourcesAreRickersOfTheirHalfDurationWhereTheParFileSaysSo) {
  put_par("USE_RICKER_TIME_FUNCTION = .true.\n");
  folder_.put("CMTSOLUTION",
              std::string(cmt).replace(std::string(cmt).find("duration: 4"), 11, "duration: 0.5"));
  const auto& p = problem();
  EXPECT_EQ(p.sources[0].course, (Course{Pulse::ricker, 0.5, 0, {}}));
  EXPECT_NEAR(p.begin, -3, 1e-12);
}

TEST_F(PlacesOfFiles, ExplosionsInWaterHaveAGaussianAndThoseInRockItsIntegral) {
  EXPECT_EQ(problem().sources[0].course.pulse, Pulse::step);
  put_wedge(folder_, true);
  const auto& p = problem();
  EXPECT_EQ(p.sources[0].course, (Course{Pulse::gaussian, 4 / 1.628, 0, {}}));
  EXPECT_NEAR(p.sources[0].strength[0], 1e16, 10);
  EXPECT_THAT(notes(), Contains(HasSubstr("lie in a fluid: there the time function is a Gaussian")));
}

TEST_F(PlacesOfFiles, DegreesAreProjectedByTheZoneOfTheParFileOrAskForAProjection) {
  const auto shifted = [&](double east, double north) {  // the wedge, where zone 34 south has its middle
    std::string nodes = "18\n";
    for (int k = 0, id = 0; k < 3; ++k)
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 3; ++i)
          nodes += fmt::format("{} {} {} {}\n", ++id, east + 1000 * i, north + 1000 * j, -1000 + 500 * k);
    folder_.put("nodes_coords_file", nodes);
  };
  shifted(499'500, 6'350'000);
  auto in_degrees = std::string(cmt);
  in_degrees.replace(in_degrees.find("latorUTM: 600"), 13, "latorUTM: -32.985");
  in_degrees.replace(in_degrees.find("longorUTM: 500"), 14, "longorUTM: 21");
  folder_.put("CMTSOLUTION", in_degrees);
  folder_.put("STATIONS", "A TE -32.985 21.001 0 0\n");
  put_par("SUPPRESS_UTM_PROJECTION = .false.\nUTM_PROJECTION_ZONE = -34\n");
  const auto& p = problem();
  EXPECT_NEAR(p.sources[0].at[0], 500'000, 1e-3);
  EXPECT_NEAR(p.sources[0].at[1], 6'350'375.955469,
              1e-3);  // 10,000 km less 0.9996 of the meridian from the equator
  EXPECT_THAT(notes(), Contains(HasSubstr("projected to EPSG:32734")));
  put_par("SUPPRESS_UTM_PROJECTION = .true.\nUTM_PROJECTION_ZONE = -34\n");
  EXPECT_THAT(message([&] { made(); }),
              AllOf(HasSubstr("CMTSOLUTION:5: latorutm"), HasSubstr("outside the mesh"),
                    HasSubstr("mesh.projection = \"EPSG:32734\"")));
}

TEST_F(PlacesOfFiles, OutsideAreNamedWithTheirFileAndLine) {
  folder_.put("STATIONS", "A TE 300 1500 0 0\nB TE 300 200 0 5000\n");
  EXPECT_THAT(message([&] { made(); }), AllOf(HasSubstr("STATIONS:2: receiver 2: up -4880, easting 200"),
                                              HasSubstr("reaches up to 120 m; it goes down to -1000 m")));
  folder_.put("STATIONS", "A TE 300 9500 0 0\n");
  EXPECT_THAT(message([&] { made(); }), AllOf(HasSubstr("STATIONS:1: receiver 1"),
                                              HasSubstr("from 0 to 2000 m east, 0 to 1000 m north")));
  folder_.put("STATIONS", "A TE 300 1500 0 0\n");
  folder_.put("CMTSOLUTION", std::string(cmt).replace(std::string(cmt).find("0.03"), 4, "50"));
  EXPECT_THAT(message([&] { made(); }), AllOf(HasSubstr("CMTSOLUTION:5: latorutm: source 1")));
  const std::string own =
      "[[source]]\nat = [500, 500, -100]\nforce = [0, 0, 1]\nfrequency = 0.5\n[[source]]\n";
  EXPECT_THAT(message([&] { made(own + "at = [500, 5000, -100]\nforce = [0, 0, 1]\nfrequency = 0.5\n"); }),
              AllOf(HasSubstr("job.toml:12: source[1].at: source 2: northing 5000, easting 500")));
  folder_.put("fault.csv",
              "easting [m],northing [m],up "
              "[m],force_east,force_north,force_up\n500,500,0,1,0,0\n500,500,900,1,0,0\n");
  EXPECT_THAT(message([&] { made(own + "table = \"fault.csv\"\nfrequency = 0.5\n"); }),
              AllOf(HasSubstr("fault.csv:3: source 3"), HasSubstr("reaches up to 150 m")));
}

TEST_F(PlacesOfFiles, KeysAreBlamedForThemselves) {
  EXPECT_THAT(message([&] { made("step = -1\n"); }),
              HasSubstr("job.toml:7: simulation.step: -1 s is not more than zero"));
  put_par("");
  folder_.put("Par_file", "NSTEP = 40\nDT = 50\nSTACEY_ABSORBING_CONDITIONS = .false.\n");
  EXPECT_THAT(message([&] { made(); }), AllOf(HasSubstr("Par_file:2: DT: 50 s is not stable"),
                                              HasSubstr("simulation.step = \"none\"")));
  EXPECT_GT(problem("step = \"none\"\n").step, 0.01);
  put_par("");
  const auto source = [](const char* what) {
    return fmt::format("[source]\nat = [500, 500, -100]\n{}\nfrequency = 0.5\n", what);
  };
  EXPECT_THAT(message([&] { made(source("force = [0, 0, 0]")); }),
              HasSubstr("job.toml:9: source.force: it is zero"));
  EXPECT_THAT(message([&] { made(source("moment = [0, 0, 0, 0, 0, 0]")); }),
              HasSubstr("source.moment: it is zero"));
  EXPECT_THAT(message([&] { made("end = -90\n"); }), HasSubstr("job.toml:7: simulation.end"));
  EXPECT_THAT(message([&] { made("end = 2\nbegin = 3\n"); }), HasSubstr("job.toml:8: simulation.begin"));
  EXPECT_THAT(message([&] { made("end = 1e12\nstep = \"none\"\n"); }), HasSubstr("simulation.end: "));
  EXPECT_THAT(message([&] {
                Simulation::from_job(
                    Config::parse("[elements]\nkind = \"specfem\"\nfile = \".\"\n[simulation]\n"
                                  "physics = \"elastic\"\npar_file = \"Par_file\"\n"
                                  "[snapshots]\nevery = 0.1\n[output]\nfiles = []\n",
                                  "job.toml", folder_ / "."),
                    {});
              }),
              HasSubstr("job.toml:10: output.files: no file takes the snapshots"));
  folder_.put("Par_file_faults", "1\n");
  EXPECT_THAT(message([&] { made(); }), HasSubstr("Par_file_faults: faults that rupture"));
}

TEST_F(PlacesOfFiles, WaveletsThatTheRunCutsAreWarnedOf) {
  const auto warnings = [&](const std::string& more) {
    return made(more + "[source]\nat = [500, 500, -100]\nforce = [0, 0, 1]\nfrequency = 0.5\n")
        ->check()
        .warnings;
  };
  EXPECT_THAT(warnings(""), testing::Not(Contains(HasSubstr("wavelet"))));
  EXPECT_THAT(warnings("begin = 0\n"),
              Contains(HasSubstr("source 1: the run begins at 0 s, where the wavelet has 100 %")));
  EXPECT_THAT(warnings(""), testing::Not(Contains(HasSubstr("kg/m³"))));
  EXPECT_THAT(warnings("end = -0.5\n"), Contains(HasSubstr("before the wavelet is at its largest")));
}

TEST_F(PlacesOfFiles, RockInOtherUnitsIsWarnedOf) {
  folder_.put("nummaterial_velocity_file", "2 1 2.3 2800 1500 9999 9999 0\n");
  EXPECT_THAT(made()->check().warnings, Contains(HasSubstr("a medium of 2.3 kg/m³ with waves of 2800 m/s")));
}

TEST(SphereChunk, SaysInDegreesWhereASourceLiesOutsideIt) {
  const TemporaryFolder folder;
  folder.put("STATIONS", "A TE 41 31 0 0\n");
  const auto made = [&](const char* latitude, const char* depth) {
    auto source = std::string(cmt);
    source.replace(source.find("latorUTM: 600"), 13, fmt::format("latorUTM: {}", latitude));
    source.replace(source.find("longorUTM: 500"), 14, "longorUTM: 30");
    source.replace(source.find("depth: 0.03"), 11, fmt::format("depth: {}", depth));
    source.replace(source.find("duration: 4"), 11, "duration: 400");
    folder.put("CMTSOLUTION", source);
    return Simulation::from_job(Config::parse(R"([elements]
kind = "chunk"
centre = [30, 40]
width = [20, 10]
columns = [4, 2]
earth = "prem"
[[elements.layer]]
bottom = -600e3
rows = 2
[source]
file = "CMTSOLUTION"
[simulation]
physics = "elastic"
end = 20
stations = "STATIONS"
[output]
files = ["a.nc"]
)",
                                              "job.toml", folder / "."),
                                {});
  };
  made("40", "50");
  EXPECT_THAT(
      message([&] { made("50", "50"); }),
      AllOf(HasSubstr("CMTSOLUTION:5: latorutm: longitude 30, latitude 50 degrees lies outside the chunk"),
            HasSubstr("reaches 10 and 5 degrees")));
  EXPECT_THAT(message([&] { made("40", "700"); }),
              AllOf(HasSubstr("700000 m below"), HasSubstr("600000 m down")));
}

}  // namespace
}  // namespace terrane::elastic
