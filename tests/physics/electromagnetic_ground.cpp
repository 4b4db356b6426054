// Receivers on the ground: which edges they take their field from, over slopes and where the ground is flat.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "terrane/physics/electromagnetic/formula/layered.hpp"
#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {
namespace {

std::vector<double> even_faces(double from, double width, int cells) {
  std::vector<double> faces{from};
  for (int n = 0; n < cells; ++n) faces.push_back(from + (n + 1) * width);
  return faces;
}

/// A hill that slopes by up to `slope`, in cells that have the mean conductivity of rock and air in them.
struct Hill {
  TensorMesh mesh;
  double e, n, slope;
  static constexpr double wide = 300;
  std::vector<double> sigma;

  Hill(double width, double high, double east, double north, double steep)
      : mesh(even_faces(-800, width, static_cast<int>(1600 / width)),
             even_faces(-800, width, static_cast<int>(1600 / width)),
             even_faces(-300, high, static_cast<int>(700 / high))),
        e(east),
        n(north),
        slope(steep) {
    constexpr int parts = 4;
    for (std::size_t k = 0; k < mesh.n_up(); ++k)
      for (std::size_t j = 0; j < mesh.n_north(); ++j)
        for (std::size_t i = 0; i < mesh.n_east(); ++i) {
          double rock = 0;
          for (int part = 0; part < parts * parts; ++part) {
            const double at = ground(mesh.easting()[i] + (part % parts + 0.5) / parts * width,
                                     mesh.northing()[j] + (part / parts + 0.5) / parts * width);
            rock += std::clamp((at - mesh.up()[k]) / high, 0.0, 1.0) / (parts * parts);
          }
          sigma.push_back(rock * 0.01 + (1 - rock) * 1e-8);
        }
  }
  double ground(double x, double y) const {
    const double steepest = std::exp(-0.5) / wide;  // of a bell one high
    return slope / steepest * std::exp(-((x - e) * (x - e) + (y - n) * (y - n)) / (2 * wide * wide));
  }
  /// Whether all cells around an edge are rock, but for a fifth at most, and where its middle is: up, north,
  /// east.
  std::pair<bool, std::array<double, 3>> edge(int axis, std::size_t number) const {
    const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
    std::array<std::size_t, 3> place{};
    for (std::size_t a = 3; a-- > 0;) {
      const bool along = static_cast<int>(a) == axis;
      const std::size_t size = faces[a]->size() - (along ? 1 : 2);
      place[a] = number % size + (along ? 0 : 1);
      number /= size;
    }
    bool whole = true;
    std::array<double, 3> middle{};
    for (std::size_t a = 0; a < 3; ++a)
      middle[a] = static_cast<int>(a) == axis ? ((*faces[a])[place[a]] + (*faces[a])[place[a] + 1]) / 2
                                              : (*faces[a])[place[a]];
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const auto of = [&](std::size_t a) {
        return place[a] - (static_cast<int>(a) == axis ? 0 : corner >> a & 1);
      };
      whole = whole && sigma[mesh.index(of(2), of(1), of(0))] > 0.0079;
    }
    return {whole, middle};
  }
};

// Where such edges took part, E eight metres below a slope of 0.3 was several times too large on a mesh of 25
// and 7.5 m, and 20 % too small at the ground.
TEST(Receivers, OnUnevenGroundTakeELinearFromEdgesThatAreRockAllAround) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> part(0, 1);
  const auto field = [](const std::array<double, 3>& x, int axis) {
    return 3 + axis + 0.02 * x[0] - 0.013 * x[1] + 0.007 * x[2];
  };
  std::size_t taken = 0;
  for (int trial = 0; trial < 3; ++trial) {
    const Hill hill(30 + 30 * part(generator), 10 + 18 * part(generator), 100 * part(generator),
                    100 * part(generator), 0.1 + 0.5 * part(generator));
    const Conductivity sigma{&hill.sigma, &hill.sigma, &hill.sigma};
    for (int n = 0; n < 40; ++n) {
      const double x = 1000 * part(generator) - 500, y = 1000 * part(generator) - 500;
      const double next = hill.mesh.easting()[1] - hill.mesh.easting()[0],
                   high = hill.mesh.up()[1] - hill.mesh.up()[0],
                   rises = std::hypot(hill.ground(x + next, y) - hill.ground(x - next, y),
                                      hill.ground(x, y + next) - hill.ground(x, y - next));
      if (rises < 0.6 * high) continue;  // there it is as good as even
      const double up = hill.ground(x, y) - (n % 3 == 0 ? 0 : 10 * part(generator));
      for (int axis = 0; axis < 3; ++axis) {
        const auto got = receiver(hill.mesh, {sigma, {}, {}}, sigma, {x, y, up}, {false, axis}, "receiver 1");
        double sum = 0, weights = 0;
        for (const auto& term : got.electric) {
          const auto [whole, middle] = hill.edge(term.axis, term.edge);
          EXPECT_TRUE(whole) << x << " " << y << " " << up << " axis " << axis;
          EXPECT_LT(std::fabs(term.weight), 10);
          sum += term.weight * field(middle, axis);
          weights += term.weight;
          ++taken;
        }
        EXPECT_NEAR(weights, 1, 0.2);  // cells that lack some rock conduct less
        EXPECT_NEAR(sum, field({up, y, x}, axis), 0.2 * std::fabs(field({up, y, x}, axis)) + 0.2);
      }
    }
  }
  EXPECT_GT(taken, 500U);
}

TEST(Receivers, OverACoverOfRockThatResistsAreNotOnUnevenGround) {
  const TensorMesh mesh(even_faces(-400, 50, 16), even_faces(-400, 50, 16), even_faces(-200, 20, 16));
  std::vector<double> sigma;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto cell = mesh.prism(n);
    const bool body = cell.west >= 0 && cell.top <= -20;
    sigma.push_back(cell.bottom >= 0 ? 1e-8 : body ? 0.1 : 0.01);
  }
  const Conductivity all{&sigma, &sigma, &sigma};
  for (const double x : {-60.0, -10.0, 0.0, 10.0, 60.0})
    for (const double up : {0.0, -5.0})
      EXPECT_EQ(above_whole_ground(mesh, all, {x, 30, up}), 0) << x << " " << up;
}

TEST(Receivers, BesideTheEdgeOfAThinCoverAreNotOnUnevenGround) {
  const TensorMesh mesh(even_faces(-400, 50, 16), even_faces(-400, 50, 16), even_faces(-200, 20, 16));
  std::vector<double> sigma;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto cell = mesh.prism(n);
    const bool cover = cell.west >= 0 && cell.bottom >= -20;
    sigma.push_back(cell.bottom >= 0 ? 1e-8 : cover ? 0.001 : 0.01);
  }
  const Conductivity all{&sigma, &sigma, &sigma};
  for (const double x : {-60.0, -10.0, 10.0, 60.0})
    for (const double up : {0.0, -5.0})
      EXPECT_EQ(above_whole_ground(mesh, all, {x, 30, up}), 0) << x << " " << up;
}

TEST(Receivers, BelowUnevenGroundTakeTheUprightFieldOfTheirOwnRock) {
  Hill hill(40, 10, 0, 0, 0.3);
  constexpr double bedrock = 60;
  for (std::size_t n = 0; n < hill.mesh.size(); ++n)
    if (hill.mesh.prism(n).top <= bedrock) hill.sigma[n] *= 0.1;
  const Conductivity sigma{&hill.sigma, &hill.sigma, &hill.sigma};
  for (const double below : {2.0, 5.0, 9.0, 14.0}) {
    ASSERT_GT(hill.ground(300, 10), bedrock + 20);
    const auto got =
        receiver(hill.mesh, {sigma, {}, {}}, sigma, {300, 10, bedrock - below}, {false, 0}, "receiver 1");
    for (const auto& term : got.electric)
      EXPECT_LT(hill.edge(term.axis, term.edge).second[0], bedrock) << below;
  }
}

/// E at receivers over even ground of 100 ohm m at height 0, of a wire on it; `shift`: of all faces, m.
std::vector<std::complex<double>> over_even_ground(double shift, const std::vector<Vector3>& receivers) {
  const auto faces = [](double low, double from, double width, int cells, double high) {
    auto all = even_faces(from, width, cells);
    for (double h = width * 1.4; all.back() < high; h *= 1.4) all.push_back(all.back() + h);
    std::vector<double> below;
    for (double h = width * 1.4, at = from; at > low; h *= 1.4) below.push_back(at -= h);
    all.insert(all.begin(), below.rbegin(), below.rend());
    return all;
  };
  Problem problem;
  problem.mesh = TensorMesh(faces(-5000, -500, 100, 16, 5000), faces(-5000, -400, 100, 8, 5000),
                            faces(-5000, -300 + shift, 50, 8, 5000));
  for (std::size_t k = 0; k < problem.mesh.n_up(); ++k) {
    const double low = problem.mesh.up()[k],
                 rock = std::clamp(-low / (problem.mesh.up()[k + 1] - low), 0.0, 1.0);
    problem.conductivity[0].insert(problem.conductivity[0].end(),
                                   problem.mesh.n_east() * problem.mesh.n_north(),
                                   rock * 0.01 + (1 - rock) * 1e-8);
  }
  problem.sources = {{Source::Kind::wire, {{-300, 20, -30}, {100, 20, -30}}, {}, 1}};
  problem.frequencies = {20};
  problem.receivers = receivers;
  problem.components = {{false, 2}, {false, 1}, {false, 0}};
  Stream stream({Device::Kind::cpu, -1});
  return forward(problem, stream).data;
}

// On a face and amid a cell alike: upright E is that of the ground, where no current leaves it, and not that
// of the air, which came only where a face was on the ground.
TEST(Receivers, OnEvenGroundHaveTheUprightFieldOfTheGroundWhereverFacesAre) {
  const std::vector<Vector3> receivers{{700, 130, 0}, {900, -210, 0}};
  const auto on_a_face = over_even_ground(0, receivers), amid = over_even_ground(25, receivers);
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    const double across = std::hypot(std::abs(on_a_face[n]), std::abs(on_a_face[2 + n]));
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_LT(std::abs(on_a_face[2 * c + n] - amid[2 * c + n]), 0.04 * across) << c;
    EXPECT_LT(std::abs(on_a_face[4 + n]), 0.03 * across);
    EXPECT_LT(std::abs(amid[4 + n]), 0.08 * across);
  }
}

}  // namespace
}  // namespace terrane::electromagnetic
