// Wires and loops in layers: their closed form beside many dipoles, and as the known part of a field.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {
namespace {

using Place = std::array<double, 3>;

LayeredEarth rock_of(std::vector<double> resistivities, std::vector<double> interfaces) {
  LayeredEarth earth;
  for (const double rho : resistivities) earth.layers.push_back({1 / rho, 1 / rho});
  earth.interfaces = std::move(interfaces);
  return earth;
}

double distance(const Place& p, const Place& q) { return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]); }

/// Ten Gauss points of dipoles on parts that are no longer than their distance from the receiver.
void add_dipoles(const LayeredEarth& earth, double hertz, const Place& from, const Place& to,
                 const Place& receiver, DipoleField& sum) {
  const Place middle{(from[0] + to[0]) / 2, (from[1] + to[1]) / 2, (from[2] + to[2]) / 2};
  const double length = distance(from, to);
  if (length > distance(middle, receiver) - length / 2) {
    add_dipoles(earth, hertz, from, middle, receiver, sum);
    add_dipoles(earth, hertz, middle, to, receiver, sum);
    return;
  }
  constexpr double x[5] = {0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                           0.9739065285171717},
                   w[5] = {0.29552422471475287, 0.26926671930999635, 0.21908636251598204, 0.1494513491505806,
                           0.06667134430868814};
  for (int g = 0; g < 10; ++g) {
    const double t = (g < 5 ? 1 + x[g] : 1 - x[g - 5]) / 2, weight = w[g % 5] / 2;
    Place at, moment;
    for (std::size_t a = 0; a < 3; ++a) {
      at[a] = from[a] + t * (to[a] - from[a]);
      moment[a] = weight * (to[a] - from[a]);
    }
    const auto one = electric_dipole(earth, hertz, at, moment, receiver);
    for (std::size_t a = 0; a < 3; ++a) {
      sum.e[a] += one.e[a];
      sum.h[a] += one.h[a];
    }
  }
}

DipoleField of_dipoles(const LayeredEarth& earth, double hertz, const std::vector<Place>& points,
                       const Place& receiver) {
  DipoleField sum;
  for (std::size_t n = 0; n + 1 < points.size(); ++n) {
    // Fields of upright dipoles jump where they pass an interface.
    auto from = points[n];
    const auto& to = points[n + 1];
    std::vector<double> cuts{1};
    for (const double height : earth.interfaces)
      if ((height - from[2]) * (height - to[2]) < 0) cuts.push_back((height - from[2]) / (to[2] - from[2]));
    std::sort(cuts.begin(), cuts.end());
    for (const double cut : cuts) {
      Place next;
      for (std::size_t a = 0; a < 3; ++a) next[a] = points[n][a] + cut * (to[a] - points[n][a]);
      add_dipoles(earth, hertz, from, next, receiver, sum);
      from = next;
    }
  }
  return sum;
}

using Vector = std::array<std::complex<double>, 3>;
double error(const Vector& found, const Vector& right) {
  double size = 0, off = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    size += std::norm(right[a]);
    off += std::norm(found[a] - right[a]);
  }
  return std::sqrt(off / size);
}

constexpr double allowed = 1e-4;

struct Case {
  std::vector<Place> points, receivers;
};

void compare(const LayeredEarth& earth, double hertz, const Case& one, bool electric = true) {
  for (const auto& at : one.receivers) {
    const auto found = wire(earth, hertz, one.points, 1, at),
               right = of_dipoles(earth, hertz, one.points, at);
    const double e = electric ? error(found.e, right.e) : 0;
    EXPECT_LT(e, allowed) << at[0] << ' ' << at[1] << ' ' << at[2];
    EXPECT_LT(error(found.h, right.h), allowed) << at[0] << ' ' << at[1] << ' ' << at[2];
  }
}

TEST(Wires, AreManyDipolesAtAFiftiethOfTheirLengthAndFarther) {
  const auto earth = rock_of({1000, 10, 100, 1e8}, {-800, -300, 0});
  Case one{{{-500, 0, -1}, {500, 0, -1}}, {}};
  for (const double aside : {20, 100, 500}) one.receivers.push_back({100, aside, -1.5});
  one.receivers.push_back({550, 0, -2});  // on its line
  compare(earth, 10, one);
}

TEST(Wires, AreManyDipolesWhereverTheyLieAndInWhateverLayers) {
  std::mt19937 random(20261127);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int n = 0; n < 4; ++n) {
    const double top = between(-400, -100), length = between(50, 800), azimuth = between(0, 6.28);
    const auto earth = rock_of({std::pow(10, between(0, 3)), std::pow(10, between(0, 3)), 1e8}, {top, 0});
    // Slanted, through the interface as well, with a corner.
    std::vector<Place> points{{between(-50, 50), between(-50, 50), between(-60, -5)}};
    for (int m = 0; m < 1 + n % 2; ++m) {
      const auto& last = points.back();
      points.push_back({last[0] + length * std::cos(azimuth + m), last[1] + length * std::sin(azimuth + m),
                        n < 2 ? last[2] : between(-500, -5)});
    }
    Case one{points, {}};
    const double along = between(0.1, 0.9), aside = length * std::pow(10, between(-1.7, 0.5));
    one.receivers.push_back({points[0][0] + along * (points[1][0] - points[0][0]) - aside * std::sin(azimuth),
                             points[0][1] + along * (points[1][1] - points[0][1]) + aside * std::cos(azimuth),
                             between(-80, -0.1)});
    compare(earth, std::pow(10, between(-1, 2)), one);
  }
}

TEST(Wires, ThatCloseHaveTheInnerFieldOfLoops) {
  const auto earth = rock_of({100, 1e8}, {0});
  const std::vector<Place> square{
      {-100, -100, -.5}, {100, -100, -.5}, {100, 100, -.5}, {-100, 100, -.5}, {-100, -100, -.5}};
  compare(earth, 100, {square, {{90, 0, -1}, {97, 5, -2}, {103, 0, -1}}});
  // In air charges of dipoles are 1e6 times what is left of a loop's: only H is held against them.
  const std::vector<Place> tilted{{0, 0, 30}, {10, 0, 32}, {10, 10, 33}, {0, 10, 31}, {0, 0, 30}};
  compare(rock_of({100, 1e6}, {0}), 1000, {tilted, {{40, 3, 30}}}, false);
  // Far from a small one it is a dipole.
  const std::vector<Place> small{{-1, -1, -20}, {1, -1, -20}, {1, 1, -20}, {-1, 1, -20}, {-1, -1, -20}};
  const Place far{150, 40, -10};
  const auto loop = wire(earth, 100, small, 0.25, far),
             dipole = vertical_magnetic_dipole(earth, 100, {0, 0, -20}, 1, far);
  EXPECT_LT(error(loop.h, dipole.h), 2e-4);  // the square of 2 m in 150
  EXPECT_LT(error(loop.e, dipole.e), 2e-4);
}

TEST(Wires, OfManyCornersAreTheCurveThatTheyFollow) {
  const auto earth = rock_of({10, 100, 1e8}, {-300, 0});
  std::vector<Place> many, two{{0, 0, 0}, {900, 0, 0}};  // on the ground, as it is seen from below
  for (int n = 0; n <= 60; ++n) many.push_back({15.0 * n, 0, 0});
  for (const Place& at : {Place{450, 20, -1}, Place{-5, 0, -2}}) {
    const auto one = wire(earth, 10, many, 2, at), other = wire(earth, 10, two, 2, at);
    EXPECT_LT(error(one.e, other.e), allowed);
    EXPECT_LT(error(one.h, other.h), allowed);
  }
}

TEST(Wires, AreWhatReceiversBesideThemHaveOfASecondaryField) {
  Problem problem;
  const std::vector<double> faces{-4000, -1000, -300, 0, 300, 1000, 4000};
  problem.mesh = TensorMesh(faces, faces, faces);
  const auto earth = rock_of({100, 1e8}, {0});
  for (std::size_t cell = 0; cell < problem.mesh.size(); ++cell)
    problem.conductivity[0].push_back(cell < problem.mesh.size() / 2 ? 1e-2 : 1e-8);
  problem.sources = {{Source::Kind::wire, {{-500, 0, 0}, {500, 0, 0}}, {}, 3}};
  problem.frequencies = {10};
  problem.receivers = {{0, 20, -1}, {200, 100, -1}};
  problem.components = {{false, 2}, {true, 0}};
  problem.parameters.field = Field::secondary;
  Stream stream({Device::Kind::cpu, -1});
  const auto out = forward(problem, stream);
  for (std::size_t n = 0; n < 2; ++n) {
    const auto right = of_dipoles(earth, 10, {{-500, 0, -1e-3}, {500, 0, -1e-3}}, problem.receivers[n]);
    EXPECT_LT(std::abs(out.data[n] - 3.0 * right.e[0]), 2e-4 * std::abs(3.0 * right.e[0]));
    EXPECT_LT(std::abs(out.data[2 + n] - 3.0 * right.h[2]), 2e-4 * std::abs(3.0 * right.h[2]));
  }
}

}  // namespace
}  // namespace terrane::electromagnetic
