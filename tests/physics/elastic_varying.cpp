// Rock that varies within elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/elastic_meshes.hpp"
#include "support/elastic_whole.hpp"
#include "support/files.hpp"
#include "terrane/job/config.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"
#include "terrane/physics/elastic/medium/media.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/physics/elastic/mesh/variation.hpp"
#include "terrane/physics/elastic/simulation.hpp"

namespace terrane::elastic {
namespace {

using testing::HasSubstr;
using testing_support::message;
using testing_support::TemporaryFolder;

double longitudinal(const Medium& medium) { return medium.speeds({0, 0, 1})[0]; }

/// Bent elements of rock, of rock with a Q and of a fluid, linear ones among them.
Mesh three_media() {
  auto mesh = test::cubes({4, 3, 3}, 100, Medium::from_speeds(3000, 1500, 2200));
  mesh.media.push_back(Medium::from_speeds(2800, 1400, 2000));
  mesh.media.back().quality_kappa = 60, mesh.media.back().quality_mu = 30;
  mesh.media.push_back(Medium::from_speeds(1500, 0, 1000));
  for (std::size_t n = 0; n < mesh.size(); ++n) mesh.medium[n] = n >= 24 ? 2 : n % 2;
  test::shake(mesh, 12, [](const Vector& x) { return x[0] < 150; });
  return mesh;
}

TEST(MediaOfCells, HaveOneQualityOfEachWave) {
  const double none = std::nan("");
  const auto of = [&](double p, double s, double kappa, double mu) {
    return medium_of({4000, 2000, 2500, p, s, kappa, mu, none, none, none, none, none}, "here");
  };
  // 1/Q_P = (1 - 4/3 b)/Q_κ + 4/3 b/Q_μ with b = 1/4
  EXPECT_EQ(of(none, 50, none, 50).quality_mu, 50);
  EXPECT_NEAR(of(75, 50, 100, none).quality_kappa, 100, 1e-12);
  EXPECT_THAT(message([&] { of(none, 50, none, 60); }),
              testing::AllOf(HasSubstr("here: quality_mu is 60, and by quality_s it is 50"),
                             HasSubstr("keep quality_p and quality_s")));
  EXPECT_THAT(message([&] { of(75, 50, 200, none); }),
              HasSubstr("quality_kappa is 200, and by quality_p it is 100"));
}

TEST(VaryingRock, WithOneValueAtAllPointsHasTheForcesOfEvenRock) {
  for (const int degree : {4, 5}) {
    const auto mesh = three_media();
    auto same = mesh;
    for (std::uint32_t n = 0; n < same.size(); ++n) {
      same.variation.push_back(n);
      same.at_points.insert(same.at_points.end(), static_cast<std::size_t>(std::pow(degree + 1, 3)),
                            same.medium_of(n).point());
    }
    Whole even(mesh, degree), varying(same, degree);
    EXPECT_DOUBLE_EQ(even.problem.stable_step, varying.problem.stable_step);
    EXPECT_DOUBLE_EQ(even.problem.resolved_frequency, varying.problem.resolved_frequency);
    const auto step = even.problem.step;
    even.problem.step = varying.problem.step = step;
    for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
      std::vector<double> after[2];
      FieldOptions options;
      options.device.kind = kind;
      const auto start = even.random_values(3);
      for (auto* const earth : {&even, &varying}) {
        earth->reset(options);
        earth->field->load_courses({});
        // Points have other numbers where elements of other kinds come first.
        const auto smooth = earth->values([](const Vector& x) {
          return Vector{std::sin(x[0] / 40 + x[1] / 90), std::cos(x[1] / 50),
                        std::sin(x[2] / 30 - x[0] / 70)};
        });
        earth->field->set_state({smooth, std::vector<double>(smooth.size(), 0.0), {}});
        for (int n = 0; n < 5; ++n) earth->field->step();
        const auto end = earth->field->state().displacement;
        const auto& part = earth->field->part();
        const std::size_t each = earth->problem.points_of_element();
        std::vector<std::size_t> place(part.elements.size());
        for (std::size_t e = 0; e < place.size(); ++e) place[part.elements[e]] = e;
        for (const auto e : place)
          for (std::size_t k = 0; k < each; ++k)
            for (std::size_t d = 0; d < 3; ++d)
              after[earth == &varying].push_back(end[3 * part.point[e * each + k] + d]);
      }
      double apart = 0;
      for (std::size_t n = 0; n < after[0].size(); ++n)
        apart = worse(apart, std::fabs(after[0][n] - after[1][n]));
      EXPECT_LT(apart, 1e-12 * largest(after[0]))
          << "degree " << degree << " on " << to_string(options.device);
    }
  }
}

/// A bar along z of λ = 0, whose modulus is (1 + z)² from 1 to 4: (E u')' = −ρ ω² u has, free at both ends,
///   u = s^(−1/2) [cos(ν ln s) + sin(ν ln s) / 2ν],   s = 1 + z,   ν = m π / ln 2,   ρ ω² = ν² + ¼.
/// Returns the error after one period of the second mode.
double error_of_a_bar(std::size_t elements, bool at_points) {
  const double nu = 2 * std::numbers::pi / std::numbers::ln2, omega = std::sqrt(nu * nu + 0.25);
  const MediumAt rock = [](const Vector& x, const Vector&) {
    const double speed = 1 + x[2];
    return Medium::from_speeds(speed, speed / std::numbers::sqrt2, 1);
  };
  auto mesh = bricks(TensorMesh::regular({0, 0.3, 0, 0.3, 0, 1}, {1, 1, elements}), {},
                     std::vector<std::uint32_t>(elements, 0), {false, false, false, false, false, false});
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto middle = mesh.element(n).monomial[0];
    mesh.media.push_back(rock(middle, middle));
    mesh.medium[n] = n;
  }
  if (at_points) vary_within(mesh, 4, std::vector<const MediumAt*>(mesh.size(), &rock));
  Whole bar(std::move(mesh));
  const double period = 2 * std::numbers::pi / omega;
  const auto steps = static_cast<int>(std::ceil(period / bar.problem.step));
  bar.problem.step = period / steps;
  bar.reset({});
  const double theta = 2 * std::asin(omega * bar.problem.step / 2);  // steps oscillate at this frequency
  const auto mode = [&](double phase) {
    return bar.values([&](const Vector& x) {
      const double s = 1 + x[2], angle = nu * std::log(s);
      return Vector{0, 0, (std::cos(angle) + std::sin(angle) / (2 * nu)) / std::sqrt(s) * std::cos(phase)};
    });
  };
  const auto now = mode(0), before = mode(-theta), expected = mode(steps * theta);
  auto change = now;
  for (std::size_t n = 0; n < now.size(); ++n) change[n] -= before[n];
  bar.field->set_state({now, change, {}});
  bar.field->load_courses({});
  for (int n = 0; n < steps; ++n) bar.field->step();
  auto end = bar.field->state().displacement;
  for (std::size_t n = 0; n < end.size(); ++n) end[n] -= expected[n];
  return std::sqrt(product(end, end) / product(expected, expected));
}

TEST(VaryingRock, OfABarThatStiffensUpwardsSwingsAsOnPaperAndConvergesFaster) {
  const double coarse = error_of_a_bar(4, true), fine = error_of_a_bar(8, true),
               even = error_of_a_bar(8, false), finer = error_of_a_bar(16, false);
  EXPECT_LT(coarse, 2e-4);
  EXPECT_LT(fine, coarse / 30);
  EXPECT_GT(even, 30 * fine);
  EXPECT_GT(finer, even / 6);  // of the second order at most
}

TEST(VaryingRock, KeepsItsEnergyAndIsStableAtItsLimit) {
  auto mesh = test::cubes({3, 3, 3}, 1, Medium::from_speeds(1.7320508, 1, 1));
  test::shake(mesh, 0.12);
  const MediumAt rock = [](const Vector& x, const Vector&) {
    const double more = 1 + 0.4 * std::sin(2 * x[0] + x[1] - 1.5 * x[2]);
    return Medium::from_speeds(1.7320508 * more, more, 2 - more);
  };
  EXPECT_EQ(vary_within(mesh, 4, std::vector<const MediumAt*>(mesh.size(), &rock)).varying, 27u);
  Whole earth(std::move(mesh));
  EXPECT_NEAR(energy_kept(earth, 400), 1, 2e-13);
}

/// A job ends with this, keys of [simulation] and those of its source.
const std::string wave = R"(at = [50, 50, -110]
moment = [1e9, 1e9, 1e9, 0, 0, 0]
[survey]
kind = "list"
stations = [[50, 50, -20]]
[simulation]
physics = "elastic"
end = 0.2
step = 0.001
)";

std::unique_ptr<terrane::Simulation> made_of(const std::string& text, const std::string& more,
                                             double frequency = 1) {
  return Simulation::from_job(
      Config::parse(text + "[[source]]\nfrequency = " + std::to_string(frequency) + "\n" + wave + more), {});
}
const Mesh& mesh_of(const terrane::Simulation& simulation) {
  return dynamic_cast<const Simulation&>(simulation).problem().mesh;
}

TEST(VaryingRock, OfAJobIsThatOfCellsAndTomographiesAtEachPoint) {
  const TemporaryFolder folder;
  std::string grid = "0 0 -200 200 100 0\n100 100 100\n3 2 3\n1000 9000 100 5000 1000 4000\n";
  for (int n = 0; n < 18; ++n) {
    const int x = n % 3 * 100, y = n / 3 % 2 * 100, z = n / 6 * 100 - 200;
    grid += std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(z) + " " +
            std::to_string(3000 + x + 2 * y - z) + " " + std::to_string(1500 + x - z) + " " +
            std::to_string(2000 + y) + "\n";
  }
  folder.put("t.xyz", grid);
  const std::string layers = test::imaged_layers(folder / "t.xyz");
  const Basis basis(4);
  double memory[2];
  for (const bool varies : {true, false}) {
    const auto job = made_of(layers, varies ? "properties = \"points\"\n" : "");
    const auto& mesh = mesh_of(*job);
    Runtime on_cpu;
    on_cpu.device.kind = Device::Kind::cpu;
    memory[varies] = static_cast<double>(job->check(on_cpu).memory_bytes);
    EXPECT_EQ(mesh.varying(), varies ? 4u : 0u);
    for (std::size_t n = 0; n < mesh.size() && varies; ++n)
      for (std::size_t k = 0; k < 125; ++k) {
        const auto x = mesh.element(n).at({basis.x[k % 5], basis.x[k / 5 % 5], basis.x[k / 25]});
        const auto here = mesh.medium_of(n).with(mesh.rock_of(n, 125)[k]);
        EXPECT_NEAR(longitudinal(here), 3000 + x[0] + 2 * x[1] - x[2], 1e-6);
        EXPECT_NEAR(here.density, 2000 + x[1], 1e-6);
      }
  }
  EXPECT_EQ(memory[true] - memory[false], 4 * 125 * (3 * 8 + 2 * 4));
  // Between the middles of cells; a lake stays a lake, and rock of one kind stays even.
  const std::string cells = R"([mesh]
box = [0, 100, 0, 100, -400, 0]
shape = [1, 1, 4]
[model.background]
density = 2000
velocity_p = 3000
velocity_s = 1500
[[model.body]]
kind = "box"
box = [0, 100, 0, 100, -100, 0]
density = 1000
velocity_p = 1500
velocity_s = 0
[[model.body]]
kind = "box"
box = [0, 100, 0, 100, -400, -300]
density = 2400
velocity_p = 4000
velocity_s = 2000
)";
  const auto job = made_of(cells, "properties = \"points\"\nabsorbing = []\n");
  const auto& mesh = mesh_of(*job);
  EXPECT_EQ(mesh.varying(), 2u);
  EXPECT_FALSE(mesh.varies(2) || mesh.varies(3));
  ASSERT_TRUE(mesh.varies(0) && mesh.varies(1));
  EXPECT_NEAR(longitudinal(mesh.medium_of(0).with(mesh.rock_of(0, 125)[124])), 3500,
              1e-6);  // the common face
  EXPECT_EQ(mesh.rock_of(0, 125)[124], mesh.rock_of(1, 125)[24]);
  EXPECT_THAT(message([&] { made_of(cells, "properties = \"cells\"\n"); }), HasSubstr("properties"));
}

TEST(VaryingRock, OfAChunkIsThatOfItsOwnSideWhereTheEarthChangesAtOnce) {
  const auto job = made_of(R"([elements]
kind = "chunk"
width = [8, 8]
columns = [2, 2]
earth = "prem"
[[elements.layer]]
bottom = "-24.4 km"
[[elements.layer]]
bottom = "-400 km"
rows = 2
)",
                           "properties = \"points\"\n", 0.001);
  const auto& mesh = mesh_of(*job);
  // The crust of PREM changes at once inside the upper row; 24.4 km down it ends.
  const auto earth = RadialEarth::prem();
  EXPECT_EQ(mesh.varying(), 12u);
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto* const rock = mesh.rock_of(n, 125);
    const bool crust = mesh.element(n).monomial[0][2] > -24'400;
    for (std::size_t k = 0; k < 125; ++k) EXPECT_EQ(rock[k][0] > 3000, !crust);
  }
  EXPECT_EQ(earth.at(earth_radius - 24'400, earth_radius - 24'000).density, 2900);
  EXPECT_GT(earth.at(earth_radius - 24'400, earth_radius - 25'000).density, 3000);
}

TEST(VaryingRock, ThatCannotBeIsRefused) {
  Problem p;
  p.mesh = test::cubes({2, 1, 1}, 100, test::granite());
  p.end = 1;
  p.mesh.variation = {0};
  p.mesh.at_points.assign(100, test::granite().point());
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("125 points an element"));
  p.mesh.at_points.assign(125, test::granite().point());
  p.mesh.at_points[7][2] = 0;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("all are fluid"));
  p.mesh.at_points[7] = test::granite().point();
  p.settle();
  EXPECT_EQ(p.mesh.varying(), 1u);
}

}  // namespace
}  // namespace terrane::elastic
