// Perfectly matched layers: what a point does in stretched coordinates, what comes back, and what stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>
#include <random>
#include <string>

#include "support/elastic_meshes.hpp"
#include "support/elastic_whole.hpp"
#include "support/files.hpp"
#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/element/plain.hpp"
#include "terrane/physics/elastic/march/march.hpp"
#include "terrane/physics/elastic/mesh/mesh_plan.hpp"

namespace terrane::elastic {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing_support::message;
using Complex = std::complex<double>;

const Medium rock = Medium::from_speeds(std::sqrt(3.0), 1, 1);

/// Fading along all three axes, unlike each other; one of the poles meets another's.
constexpr std::array<Fading, 3> three{{{3, 2, 0}, {1.5, 2, 0}, {0.7, 0.5, 0}}};

TEST(MarginPoint, StrainAndInertiaAreThoseOfStretchedCoordinates) {
  // A motion ζⁿ that grows, so that how it began is forgotten; p = ln ζ / Δt.
  constexpr double dt = 1e-3;
  const Complex p(0.8, 3.1), grows = std::exp(p * dt);
  const auto c = constants_of(test::triclinic());
  for (unsigned axes = 1; axes < 8; ++axes) {
    std::array<std::array<double, fading_numbers>, 3> numbers;
    std::array<Complex, 3> s;
    for (std::size_t d = 0; d < 3; ++d) {
      numbers[d] = filters_of(axes >> d & 1 ? three[d] : Fading{}, dt);
      s[d] = axes >> d & 1 ? 1.0 + three[d].d / (three[d].alpha + p) : 1.0;
    }
    const auto axis = [&](int d) { return numbers[static_cast<std::size_t>(d)].data(); };
    std::vector<double> kept(static_cast<std::size_t>(matched_memory(axes)), 0.0);
    const auto memory = [&](int n) -> double& { return kept[static_cast<std::size_t>(n)]; };
    double beta = 0;
    for (std::size_t d = 0; d < 3; ++d) beta += axes >> d & 1 ? three[d].d : 0;
    Complex now = 1e-12;
    double apart = 0, most = 0;
    for (; std::abs(now) < 1; now *= grows) {
      const bool late = std::abs(now) > 0.1;
      double g[3][3], of[3][3][3], t[3][3], u[3], push[3];
      for (int a = 0; a < 3; ++a)
        for (int l = 0; l < 3; ++l) g[a][l] = ((1.0 + a + 0.3 * l * l) * now).real();
      for (int a = 0; a < 3; ++a) u[a] = ((1.0 + a) * now).real();
      const int used = stretch(axes, g, axis, memory, of);
      stretched_stress(
          of, [&](int n) { return c[static_cast<std::size_t>(n)]; }, t);
      stretched_inertia(axes, u, axis, memory, used, push);
      if (!late) continue;
      const Complex all = s[0] * s[1] * s[2];
      for (std::size_t j = 0; j < 3; ++j) {  // the textbook's form: strain of u with ∂_l / s_l, times S / s_j
        double strain[3][3], stress[6];
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t l = 0; l < 3; ++l)
            strain[a][l] = (all / (s[j] * s[l]) * (1.0 + double(a) + 0.3 * double(l * l)) * now).real();
        anisotropic_stress(
            strain, 1.0, [&](int n) { return c[static_cast<std::size_t>(n)]; }, stress);
        constexpr std::size_t voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
        for (std::size_t i = 0; i < 3; ++i) {
          most = worse(most, std::fabs(stress[voigt[i][j]]));
          apart = worse(apart, std::fabs(t[i][j] - stress[voigt[i][j]]));
        }
      }
      for (int a = 0; a < 3; ++a) {
        const double expected = ((all * p * p - p * p - beta * p) * (1.0 + a) * now).real();
        most = worse(most, std::fabs(expected));
        apart = worse(apart, std::fabs(push[a] - expected));
      }
    }
    EXPECT_GT(most, 0.1);
    EXPECT_LT(apart, 1e-5 * most) << "axes " << axes;  // of order Δt²
  }
}

TEST(MarginPoint, FiltersAreSmoothWhereAPoleVanishes) {
  for (const double alpha : {0.9e-5, 1.1e-5}) {
    const auto f = filters_of({2, alpha, 0}, 1);
    EXPECT_NEAR(f[3], 2 * (0.5 - alpha / 3), 1e-9);
    EXPECT_NEAR(f[4], 2 * (0.5 - alpha / 6), 1e-9);
    EXPECT_NEAR(f[2], 1 - alpha, 1e-9);
  }
}

/// −K u of a mesh with margins, as loops over points write it.
std::vector<double> plain_forces(const Problem& p, const Part& part, const std::vector<double>& u,
                                 std::vector<std::vector<double>>& kept) {
  const Basis basis(p.degree);
  const auto points = static_cast<std::size_t>(basis.points()), each = p.points_of_element();
  std::vector<double> out(u.size(), 0.0);
  kept.resize(part.elements.size());
  for (std::size_t e = 0; e < part.elements.size(); ++e) {
    const auto number = part.elements[e];
    const auto shape = p.mesh.element(number);
    const auto constants = constants_of(p.mesh.medium_of(number));
    const unsigned axes = p.mesh.fading_axes(number);
    const auto count = static_cast<std::size_t>(matched_memory(axes));
    kept[e].resize(each * count, 0.0);
    const auto* const at = &part.point[e * each];
    for (std::size_t n = 0; n < each; ++n) {
      const std::array<std::size_t, 3> index{n % points, n / points % points, n / points / points};
      const std::array<std::size_t, 3> stride{1, points, points * points};
      const Vector xi{basis.x[index[0]], basis.x[index[1]], basis.x[index[2]]};
      const auto map = shape.map(xi);
      std::array<std::array<double, fading_numbers>, 3> numbers;
      for (std::size_t d = 0; d < 3; ++d)
        numbers[d] = filters_of(
            axes >> d & 1 ? fading_at(p.mesh, d, shape.at(xi)[d], p.fading_frequency) : Fading{}, p.step);
      double g[3][3] = {}, of[3][3][3], t[3][3], push[3];
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t l = 0; l < points; ++l)
          for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t d = 0; d < 3; ++d)
              g[c][d] += basis.derivative[index[r]][l] *
                         u[3 * at[n + l * stride[r] - index[r] * stride[r]] + c] * map.cofactor[r][d] /
                         map.det;
      const auto axis = [&](int d) { return numbers[static_cast<std::size_t>(d)].data(); };
      const auto memory = [&](int k) -> double& { return kept[e][n * count + static_cast<std::size_t>(k)]; };
      const int used = stretch(axes, g, axis, memory, of);
      stretched_stress(
          of, [&](int k) { return constants[static_cast<std::size_t>(k)]; }, t);
      const double here[3] = {u[3 * at[n]], u[3 * at[n] + 1], u[3 * at[n] + 2]};
      stretched_inertia(axes, here, axis, memory, used, push);
      const double weight = basis.weight[index[0]] * basis.weight[index[1]] * basis.weight[index[2]];
      for (std::size_t c = 0; c < 3; ++c) {
        out[3 * at[n] + c] -= weight * map.det * p.mesh.medium_of(number).density * push[c];
        for (std::size_t r = 0; r < 3; ++r)  // − ∫ ∂w/∂x_d T_cd, point by point of the element
          for (std::size_t l = 0; l < points; ++l)
            for (std::size_t d = 0; d < 3; ++d)
              out[3 * at[n + l * stride[r] - index[r] * stride[r]] + c] -=
                  weight * basis.derivative[index[r]][l] * map.cofactor[r][d] * t[c][d];
      }
    }
  }
  return out;
}

/// A bent box with margins on five sides.
Mesh bent_box(std::size_t elements) {
  auto mesh = test::cubes({2, 2, 2}, 1, rock);
  auto other = test::triclinic();
  mesh.media.push_back(other);
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    mesh.medium[n] = n % 3 == 1;
    for (std::uint32_t side = 0; side < 5; ++side)
      if ((n >> side / 2 & 1) == side % 2) mesh.absorbing.push_back({n, side});
  }
  test::shake(mesh, 0.1, [](const Vector& x) { return x[0] != 1 && x[1] != 1 && x[2] < 2; });
  for (auto& x : mesh.nodes)
    for (std::size_t d = 0; d < 3; ++d)
      if (std::fabs(x[d]) < 0.2) x[d] = 0;
      else if (d < 2 && std::fabs(x[d] - 2) < 0.2) x[d] = 2;
  add_margins(mesh, elements);
  return mesh;
}

TEST(MarginForces, OfKernelsAreThoseOfPlainLoopsOnAllDevicesAndInAllDegrees) {
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const int degree : {2, 4, 5}) {
      FieldOptions lanes, debug;
      debug.device.kind = Device::Kind::debug;
      Whole earth(bent_box(2), degree, lanes, precision);
      for (const auto& options : {lanes, debug}) {
        earth.reset(options);
        std::vector<std::vector<double>> kept;
        Field::State state;
        for (unsigned step = 0; step < 3; ++step) {
          const auto u = earth.random_values(step);
          const auto expected = plain_forces(earth.problem, earth.field->part(), u, kept);
          earth.field->set_state({u, std::vector<double>(u.size(), 0.0), state.memory});
          const auto computed = earth.field->forces();
          state = earth.field->state();
          double error = 0;
          for (std::size_t n = 0; n < computed.size(); ++n)
            error = worse(error, std::fabs(computed[n] - expected[n]));
          EXPECT_LT(error, (precision == Precision::double_precision ? 1e-13 : 2e-6) * largest(expected))
              << "degree " << degree << ", step " << step << ", device " << to_string(options.device);
        }
        std::vector<double> all;
        for (const auto& some : kept) all.insert(all.end(), some.begin(), some.end());
        ASSERT_EQ(state.memory.size(), all.size());
        double error = 0;
        for (std::size_t n = 0; n < all.size(); ++n)
          error = worse(error, std::fabs(all[n] - state.memory[n]));
        EXPECT_LT(error, (precision == Precision::double_precision ? 1e-13 : 2e-6) * largest(all));
      }
    }
}

TEST(MarginMesh, GoesOnBeyondSidesEdgesAndCornersWithTheRockThatIsThere) {
  const auto mesh = bent_box(3);
  mesh.check();
  ASSERT_EQ(mesh.size(), 8u * 8 * 5);  // 2 + 3 + 3 by 2 + 3 + 3 by 2 + 3
  EXPECT_TRUE(mesh.absorbing.empty());
  std::array<std::size_t, 8> by_axes{};
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto x = mesh.element(n).monomial[0];
    unsigned axes = 0;
    for (unsigned d = 0; d < 3; ++d)
      if (x[d] < 0 || (d < 2 && x[d] > 2)) axes |= 1u << d;
    EXPECT_EQ(mesh.fading_axes(n), axes);
    ++by_axes[axes];
    const auto near = [](double at) { return at < 1 ? 0u : 1u; };
    EXPECT_EQ(mesh.medium[n], (near(x[0]) + 2 * near(x[1]) + 4 * near(x[2])) % 3 == 1);
    // Along an axis of fading a coordinate depends on one of the element's own alone.
    const auto map = mesh.element(n).map({0.3, -0.7, 0.2});
    for (unsigned d = 0; d < 3; ++d)
      for (unsigned r = 0; r < 3 && axes >> d & 1; ++r) {
        if (r == d) EXPECT_GT(map.tangent[r][d], 0);
        else EXPECT_NEAR(map.tangent[r][d], 0, 1e-12);
      }
  }
  EXPECT_THAT(by_axes, testing::ElementsAre(8, 24, 24, 72, 12, 36, 36, 108));
  EXPECT_DOUBLE_EQ(mesh.margins[0].from, 0);
  EXPECT_DOUBLE_EQ(mesh.margins[1].from, 2);
  EXPECT_EQ(mesh.margins[5], Margin{});
  EXPECT_GT(mesh.margins[4].from, mesh.margins[4].to);
}

/// Cubes around a force, 0.32 wide, with receivers next to a side, an edge and a corner. `around`: how many
/// elements more than 6 x 6 x 5 there are on each side but the top.
Problem pushed_box(std::size_t around, bool absorbing, std::size_t fading, const Medium& of = rock) {
  Problem p;
  constexpr double h = 0.32;
  const double low = -h * static_cast<double>(around), high = h * static_cast<double>(6 + around);
  const std::size_t n = 6 + 2 * around, depth = 5 + around;
  const OpenSides open{absorbing, absorbing, absorbing, absorbing, absorbing, false};
  p.mesh = bricks(TensorMesh::regular({low, high, low, high, low, 5 * h}, {n, n, depth}), {of},
                  std::vector<std::uint32_t>(n * n * depth, 0), open);
  if (fading) add_margins(p.mesh, fading);
  p.sources = {{{3.2 * h, 2.9 * h, 3.4 * h}, false, {1, 0.7, 0.4, 0, 0, 0}, {Pulse::ricker, 1, 0, {}}}};
  p.receivers = {{0.2 * h, 3.3 * h, 2.8 * h},
                 {3 * h, 5.9 * h, 5 * h},
                 {0.1 * h, 0.2 * h, 3 * h},
                 {5.8 * h, 5.7 * h, 0.3 * h}};
  p.end = 1.9;
  p.remove_dispersion = false;
  p.settle();
  return p;
}

/// Largest difference at each receiver over the largest motion there, all components together, by the steps
/// of the first.
std::vector<double> differences(const Problem& a, const Problem& b) {
  EXPECT_EQ(a.steps(), b.steps());
  const auto x = march(a, {}).changes, y = march(b, {}).changes;
  const std::size_t row = 3 * a.receivers.size();
  std::vector<double> u(row), v(row), apart(a.receivers.size()), most(a.receivers.size());
  for (std::size_t n = 0; n < std::min(x.size(), y.size()); ++n) {
    u[n % row] += x[n], v[n % row] += y[n];
    apart[n % row / 3] = worse(apart[n % row / 3], std::fabs(u[n % row] - v[n % row]));
    most[n % row / 3] = worse(most[n % row / 3], std::fabs(v[n % row]));
  }
  for (std::size_t r = 0; r < apart.size(); ++r) apart[r] /= most[r];
  return apart;
}

TEST(Margins, HoldTheirOuterEdgesAndNothingElse) {
  for (const double shift : {0.0, 1.0}) {  // a margin that is not there begins and ends at 0
    auto mesh = test::cubes({2, 1, 1}, 1, rock);
    for (auto& x : mesh.nodes) x[0] += shift;
    mesh.absorbing = {{0, 0}};
    add_margins(mesh, 2);
    const Whole earth(mesh);
    const auto& factor = earth.field->part().factor;
    for (std::size_t n = 0; n < factor.size(); ++n)
      EXPECT_EQ(factor[n] == 0, earth.at[n][0] < shift - 1.999) << earth.at[n][0];
  }
}

TEST(Margins, SendBackHalfAPercentWhereStaceySendsATenthAndMore) {
  const auto whole = pushed_box(6, false, 0);  // its own sides answer later
  for (const double error : differences(pushed_box(0, true, 3), whole)) EXPECT_LT(error, 4e-3);
  for (const double error : differences(pushed_box(0, true, 0), whole)) EXPECT_GT(error, 0.08);
}

TEST(Margins, OfRockWithAQOfFortySendBackAFewPercent) {
  auto soft = rock;
  soft.quality_kappa = 100, soft.quality_mu = 40;
  const auto whole = pushed_box(6, false, 0, soft);
  for (const double error : differences(pushed_box(0, true, 3, soft), whole)) EXPECT_LT(error, 4e-2);
}

/// Largest displacement at the receivers between the times of each two neighbours.
std::vector<double> largest_between(Problem p, const std::vector<double>& times) {
  p.end = times.back();
  p.settle();
  const auto changes = march(p, {}).changes;
  const std::size_t row = 3 * p.receivers.size();
  std::vector<double> u(row), most(times.size() - 1);
  for (std::size_t n = 0; n < changes.size(); ++n) {
    u[n % row] += changes[n];
    const double t = p.begin + static_cast<double>(n / row) * p.step;
    const auto window = std::upper_bound(times.begin(), times.end() - 1, t) - times.begin();
    if (window > 0) {
      auto& here = most[static_cast<std::size_t>(window - 1)];
      here = worse(here, std::fabs(u[n % row]));
    }
  }
  return most;
}

TEST(Margins, LeaveNothingAfterFifteenPeriods) {
  const auto most = largest_between(pushed_box(0, true, 3), {-10, 3, 15, 16});
  EXPECT_GT(most[0], 0.1);
  EXPECT_LT(most[2], 2e-5 * most[0]);
}

TEST(LongMargins, NothingGrowsInSixtyPeriods) {
  for (const std::size_t elements : {3u, 5u}) {
    auto box = pushed_box(0, true, elements);
    box.precision = Precision::double_precision;
    const auto most = largest_between(box, {-10, 3, 10, 20, 30, 40, 50, 60});
    for (std::size_t n = 1; n < most.size(); ++n) EXPECT_LT(most[n], most[n - 1]) << elements << " elements";
    EXPECT_LT(most.back(), 1e-7 * most.front()) << elements << " elements";
  }
}

/// Columns of cubes of `rocks` from the top down, one element each, before margins on all sides but the top;
/// a force in the middle, and receivers near the surface.
Problem layered_box(const std::vector<Medium>& rocks, std::size_t wide, std::size_t fading, double h = 0.36) {
  Problem p;
  const std::size_t depth = rocks.size();
  std::vector<std::uint32_t> medium;
  for (std::size_t n = 0; n < wide * wide * depth; ++n)
    medium.push_back(static_cast<std::uint32_t>(depth - 1 - n / (wide * wide)));
  const double side = h * static_cast<double>(wide), low = -h * static_cast<double>(depth);
  p.mesh = bricks(TensorMesh::regular({0, side, 0, side, low, 0}, {wide, wide, depth}), rocks, medium, {});
  add_margins(p.mesh, fading);
  p.sources = {{{0.47 * side, 0.55 * side, -1.3 * h}, false, {1, 2, 3, 0, 0, 0}, {Pulse::ricker, 1, 0, {}}}};
  p.receivers = {{0.3 * side, 0.4 * side, -0.1 * h}, {0.9 * side, 0.8 * side, -0.1 * h}};
  p.end = 1;
  p.degree = 3;
  p.settle();
  return p;
}

/// Rock five times slower than what it lies on: P and S stand in it at about the same frequency.
const std::vector<Medium> soil_on_rock{Medium::from_speeds(2.7, 1, 1.8), Medium::from_speeds(9.4, 5.2, 2.6)};

/// Without what keeps waves from growing.
Problem unbraked(Problem p) {
  for (auto& margin : p.mesh.margins)
    if (margin.from != margin.to) margin.braking = 0, margin.reflection = 1e-3;
  return p;
}

TEST(Margins, OfSlowLayersOverFastRockLetNothingGrow) {
  const auto box = layered_box(soil_on_rock, 2, 3);
  const auto most = largest_between(box, {-10, 3, 6, 9});
  EXPECT_LT(most[2], 0.5 * most[1]);
  EXPECT_LT(most[2], 1e-2 * most[0]);
}

TEST(Margins, BrakeWhereSlownessesDifferAndNowhereElse) {
  EXPECT_EQ(braking_of_layers(2, 1), 0);
  EXPECT_NEAR(braking_of_layers(4, 1), 0.2, 1e-12);
  EXPECT_EQ(braking_of_layers(9, 1), 0.3);
  const auto alike = pushed_box(0, true, 3), layers = layered_box(soil_on_rock, 2, 3);
  for (std::size_t side = 0; side < 5; ++side) {
    EXPECT_EQ(alike.mesh.margins[side].braking, 0);
    EXPECT_EQ(layers.mesh.margins[side].braking > 0, side < 4) << side;  // the bottom is of one rock
  }
}

TEST(Margins, BrakeRockInWhichEnergyRunsAgainstThePhaseOrRefuseIt) {
  EXPECT_EQ(braking_of(rock, 0), 0);
  // Gentle anisotropy with a vertical axis has none; a tilted axis has, by the cosine of the angle between
  // phase and energy where the phase runs along the side.
  const Thomsen shale{3, 1.6, 0.2, 0.1, 0.1};
  const auto upright = Medium::from_stiffness(vertical_axis(shale, 2.3), 2.3);
  const auto leaning = Medium::from_stiffness(tilted(vertical_axis(shale, 2.3), 40, 20), 2.3);
  EXPECT_EQ(braking_of(upright, 0), 0);
  EXPECT_EQ(braking_of(upright, 2), 0);
  EXPECT_GT(braking_of(leaning, 0), 0);
  EXPECT_LT(braking_of(leaning, 0), 0.3);
  const Thomsen wild{3, 1.2, 0.9, -0.2, 0.2};
  auto mesh = test::cubes({2, 1, 1}, 1, Medium::from_stiffness(tilted(vertical_axis(wild, 2.3), 45, 0), 2.3));
  mesh.absorbing = {{0, 0}};
  EXPECT_THAT(message([&] { add_margins(mesh, 3); }),
              testing::AllOf(HasSubstr("west side"), HasSubstr("stacey")));
}

TEST(LongMargins, NothingGrowsBesideLayersOfAnyContrast) {
  std::mt19937 random(11);
  const auto uniform = [&](double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
  };
  for (int earth = 0; earth < 6; ++earth) {
    const double contrast = uniform(1.5, 8);
    std::vector<Medium> rocks;
    for (int layer = earth % 2; layer < 2; ++layer) {
      const double shear = layer == 1 ? 1 : uniform(1, contrast);
      rocks.push_back(Medium::from_speeds(shear * uniform(1.5, 4), shear, uniform(1.6, 2.2)));
    }
    const auto base = Medium::from_speeds(contrast * uniform(1.6, 1.9), contrast, 2.6);
    rocks.push_back(base);
    if (earth % 3 == 0)
      for (auto& one : rocks) one.quality_kappa = 80, one.quality_mu = 40;
    const auto most = largest_between(layered_box(rocks, 3, earth % 2 == 0 ? 3 : 5), {-10, 6, 18, 30});
    EXPECT_LT(most[2], 0.5 * most[1]) << "earth " << earth << ", contrast " << contrast;
    EXPECT_LT(most[2], 0.05 * most[0]) << "earth " << earth << ", contrast " << contrast;
  }
}

/// How many steps a run had made when it was stopped; 0: it was not, or for another reason.
std::size_t stopped_after(const Problem& p, const Runtime& runtime, const std::string& reason) {
  const auto said = message([&] { march(p, runtime); });
  const auto at = said.find("after "), why = said.find(reason);
  if (at == std::string::npos || why == std::string::npos || said.find("easting") == std::string::npos)
    return 0;
  return static_cast<std::size_t>(std::stoul(said.substr(at + 6)));
}

TEST(ElasticWatch, StopsRunsWhoseWavesGrowOrAreNoNumbers) {
  for (const auto kind : {Device::Kind::cpu, Device::Kind::debug}) {
    Runtime runtime;
    runtime.device.kind = kind;
    // A NaN that a source sends in step 100.
    auto box = pushed_box(0, true, 0);
    box.sources[0].course = {Pulse::samples, box.step, box.begin, std::vector<double>(130, 1.0)};
    box.sources[0].course.samples[100] = NAN;
    const auto by_nan = stopped_after(box, runtime, "no numbers");
    EXPECT_GE(by_nan, 98u);
    EXPECT_LE(by_nan, 200u);
    // Steps beyond the limit: the largest speed becomes ten times what sources made, and is seen at once.
    auto fast = pushed_box(0, true, 0);
    fast.step = 1.3 * fast.stable_step, fast.end = fast.begin + 1000 * fast.step;
    const auto by_growth = stopped_after(fast, runtime, "");
    EXPECT_GT(by_growth, 0u);
    EXPECT_LT(by_growth, 1000u);
  }
}

TEST(ElasticWatch, StopsMatchedLayersThatAreNotBraked) {
  auto box = unbraked(layered_box(soil_on_rock, 2, 3));
  box.end = 40;
  const auto steps = stopped_after(box, {}, "grow beyond all that sources can have made");
  EXPECT_GT(steps, 0u);
  EXPECT_LT(box.begin + static_cast<double>(steps) * box.step, 39);
}

TEST(Margins, GrowOnceInFrontOfAFaceThatAFileListsTwice) {
  auto once = test::cubes({2, 2, 1}, 1, rock), twice = once;
  once.absorbing = {{0, 0}, {2, 0}};
  twice.absorbing = {{2, 0}, {0, 0}, {0, 0}, {2, 0}};
  add_margins(once, 3);
  add_margins(twice, 3);
  EXPECT_EQ(twice.elements, once.elements);
}

TEST(Margins, RefuseWhatTheyCannotFade) {
  auto wet = test::cubes({2, 1, 1}, 1, Medium::from_speeds(1.5, 0, 1));
  wet.absorbing = {{0, 0}};
  EXPECT_THAT(message([&] { add_margins(wet, 3); }),
              testing::AllOf(HasSubstr("is a fluid"), HasSubstr("stacey")));
  auto bent = test::cubes({2, 2, 1}, 1, rock);
  bent.nodes[0][0] = 0.2;
  bent.absorbing = {{0, 0}, {2, 0}};
  EXPECT_THAT(message([&] { add_margins(bent, 3); }), HasSubstr("not across an axis"));
  auto steps = test::cubes({2, 2, 1}, 1, rock);
  steps.absorbing = {{0, 0}, {3, 0}};
  EXPECT_THAT(message([&] { add_margins(steps, 3); }), HasSubstr("the west side is no plane"));
  auto inside = test::cubes({2, 1, 1}, 1, rock);
  inside.absorbing = {{1, 0}};
  EXPECT_THAT(message([&] { add_margins(inside, 3); }), HasSubstr("beyond the west side"));
  Problem p;
  p.mesh = test::cubes({2, 1, 1}, 1, rock);
  p.mesh.absorbing = {{0, 0}};
  add_margins(p.mesh, 3);
  p.receivers = {{-0.5, 0.5, 0.5}};
  p.end = 1;
  EXPECT_THAT(message([&] { p.settle(); }), HasSubstr("receiver 1"));
}

TEST(Margins, DoNotDependOnWhichWayElementsAreNumbered) {
  // The same box twice; in the second the axes of reference of half of the elements are turned.
  auto box = pushed_box(0, true, 0);
  auto turned = box;
  for (std::uint32_t n = 0; n < turned.mesh.size(); n += 2) {
    const auto before = turned.mesh.elements[n];
    for (std::size_t c = 0; c < 8; ++c)  // ξ → η → ζ → ξ
      turned.mesh.elements[n][c] = before[(c << 1 | c >> 2) & 7];
    for (auto& face : turned.mesh.absorbing)
      if (face.element == n) face.side = (face.side + 4) % 6;
  }
  for (auto* const p : {&box, &turned}) {
    p->precision = Precision::double_precision;
    add_margins(p->mesh, 2);
    p->end = 1;
    p->settle();
  }
  for (const double error : differences(turned, box)) EXPECT_LT(error, 1e-10);
}

TEST(PlannedElements, HaveSidesThatNoWaveGrazesBeforeTheEnd) {
  Description earth;
  earth.background = {{"density", 2500}, {"velocity_p", 4000}, {"velocity_s", 2000}};
  ElementWish line;  // along east
  line.sources = {{0, 50, -10}};
  for (int n = -5; n <= 10; ++n) line.receivers.push_back({200.0 * n, 50, -10});
  line.highest_frequency = 20;
  line.end = 2;
  const auto box = [&](const ElementWish& waves) {
    const auto mesh = plan_elements(earth, {}, waves).mesh;
    return Prism{mesh.easting().front(), mesh.easting().back(), mesh.northing().front(),
                 mesh.northing().back(), mesh.up().front(),     mesh.up().back()};
  };
  const double least = 200;  // two shortest waves, of 100 m
  auto wide = box(line);
  EXPECT_NEAR(wide.west, -1000 - least, 1e-9);
  EXPECT_NEAR(wide.east, 2000 + least, 1e-9);
  EXPECT_NEAR(wide.south, 50 - 1000, 1e-9);  // 45 degrees on the way from the source to the last receiver
  EXPECT_NEAR(wide.north, 50 + 1000, 1e-9);
  line.end = 0.25;  // beyond √2 · 500 m what comes back is not there yet
  wide = box(line);
  EXPECT_NEAR(wide.north, 50 + 250 * std::sqrt(2.0), 1e-9);
  line.matched = true;
  wide = box(line);
  EXPECT_NEAR(wide.south, 50 - least, 1e-9);
}

}  // namespace
}  // namespace terrane::elastic
