// First arrivals against closed forms, and their derivative.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/travel_times.hpp"
#include "terrane/physics/traveltime/front.hpp"

namespace terrane::traveltime {
namespace {

using test::velocities;

std::vector<Point> somewhere(const TensorMesh& mesh, std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(0, 1);
  const auto b = mesh.bounds();
  std::vector<Point> all;
  for (std::size_t n = 0; n < count; ++n)
    all.push_back({b.west + part(random) * (b.east - b.west), b.south + part(random) * (b.north - b.south),
                   b.bottom + part(random) * (b.top - b.bottom)});
  return all;
}

TEST(TravelTimes, AreExactInHomogeneousRockFromAnyShotToAnyReceiver) {
  const TensorMesh mesh({0, 60, 110, 200, 330, 400, 420, 500, 650, 700, 800}, {0, 90, 170, 300, 360, 480},
                        {-400, -300, -210, -150, -70, -20, 0});
  const Medium medium(mesh, velocities(mesh, [](const Point&) { return 2345.; }));
  auto receivers = somewhere(mesh, 60);
  for (const Point& at : {Point{200, 170, -150}, {200, 100, 0}, {0, 0, -400}, {800, 480, 0}, {250, 170, -20}})
    receivers.push_back(at);  // nodes, faces, corners
  for (const int order : {1, 2})
    for (const Point& shot :
         {Point{333, 222, -111}, {200, 170, -70}, {0, 0, 0}, {430, 480, -33}, {800, 90, -400}}) {
      const auto front = march(medium, shot, order);
      for (const auto& at : receivers) {
        const double truth = medium.nodes().distance(shot, at) / 2345;
        EXPECT_NEAR(time_at(medium, front, at), truth, 1e-12 * truth)
            << order << ' ' << at[0] << ' ' << at[1];
      }
    }
}

/// Largest error at random receivers, s, of v = 1500 m/s − k·up: n cells along easting.
double error_in_gradient(std::size_t n, int order, bool plane) {
  constexpr double v0 = 1500, k = 1.5;
  const auto mesh = TensorMesh::regular({0, 1000, -250, 250, -500, 0}, {n, plane ? 1 : n / 2, n / 2});
  const Medium medium(mesh, velocities(mesh, [&](const Point& at) { return v0 - k * at[2]; }));
  const Point shot{120, 0, -70};
  const auto front = march(medium, shot, order);
  double worst = 0;
  for (auto at : somewhere(mesh, 100)) {
    if (plane) at[1] = 0;
    worst = std::max(worst, std::abs(time_at(medium, front, at) - test::time_in_gradient(v0, k, shot, at)));
  }
  return worst;
}

TEST(TravelTimes, ConvergeInFirstAndSecondOrderWhereVelocityGrowsWithDepth) {
  for (const bool plane : {true, false}) {
    const std::size_t fine = plane ? 96 : 48;
    const double first[2] = {error_in_gradient(fine / 2, 1, plane), error_in_gradient(fine, 1, plane)},
                 second[2] = {error_in_gradient(fine / 2, 2, plane), error_in_gradient(fine, 2, plane)};
    EXPECT_GT(first[0] / first[1], 1.7) << plane;
    EXPECT_LT(first[0] / first[1], 3) << plane;
    EXPECT_GT(second[0] / second[1], 3.2) << plane;
    EXPECT_LT(second[1], 0.3 * first[1]) << plane;
  }
  EXPECT_LT(error_in_gradient(96, 2, true), 3e-5);  // of times up to 0.5 s
}

/// Largest error of the direct and of the head wave, s; reciprocity: of a receiver in the fast layer.
struct OverLayer {
  double direct = 0, head = 0, reciprocity = 0;
};
OverLayer errors_over_layer(std::size_t n, int order) {
  constexpr double v1 = 1000, v2 = 2500, depth = 20;
  const auto mesh = TensorMesh::regular({0, 200, -1, 1, -50, 0}, {n, 1, n / 4});
  const Medium medium(mesh, velocities(mesh, [&](const Point& at) { return at[2] < -depth ? v2 : v1; }));
  const Point shot{3.3, 0, 0}, deep{150.7, 0, -33.3};
  const auto front = march(medium, shot, order);
  OverLayer found;
  for (double x = 5; x < 200; x += 1.7) {
    const double offset = x - shot[0], truth = test::time_over_layer(v1, v2, depth, offset),
                 error = std::abs(time_at(medium, front, {x, 0, 0}) - truth);
    auto& worst = truth < offset / v1 ? found.head : found.direct;
    worst = std::max(worst, error);
  }
  found.reciprocity =
      std::abs(time_at(medium, front, deep) - time_at(medium, march(medium, deep, order), shot));
  return found;
}

TEST(TravelTimes, OverAFastLayerAreThoseOfTheDirectAndTheHeadWave) {
  for (const int order : {1, 2}) {
    const auto coarse = errors_over_layer(40, order), fine = errors_over_layer(160, order);
    EXPECT_LT(fine.head, 0.3 * coarse.head) << order;
    EXPECT_LT(fine.direct, 0.3 * coarse.direct) << order;
    EXPECT_LT(fine.reciprocity, 0.5 * coarse.reciprocity) << order;
  }
  const auto fine = errors_over_layer(160, 2);
  EXPECT_LT(fine.direct, 3e-5);  // of times up to 0.11 s, in cells of 1.25 m
  EXPECT_LT(fine.head, 3e-4);
  EXPECT_LT(fine.reciprocity, 1e-4);
}

TEST(TravelTimes, GoAroundASlowBodyAndAroundAir) {
  // Behind a box of air the first wave comes around its corners: straight to one of them and on.
  const auto mesh = TensorMesh::regular({0, 200, -1, 1, -100, 0}, {100, 1, 50});
  for (const double inside : {0., 200.}) {
    const Medium medium(mesh, velocities(mesh, [&](const Point& at) {
                          return at[0] > 80 && at[0] < 120 && at[2] < -20 ? inside : 2000.;
                        }));
    const Point shot{40, 0, -60}, receiver{160, 0, -60};
    const double truth = (2 * std::hypot(40, 40) + 40) / 2000;
    EXPECT_NEAR(time_at(medium, march(medium, shot, 2), receiver), truth, 3e-3 * truth) << inside;
    EXPECT_NEAR(time_at(medium, march(medium, shot, 1), receiver), truth, 2e-2 * truth) << inside;
  }
}

TEST(TravelTimes, OfAPlaneAreThoseOfRockThatIsTheSameAcrossIt) {
  const auto rock = [](const Point& at) { return 1500 + at[0] - 2 * at[2]; };
  const auto plane = TensorMesh::regular({0, 400, -50, 50, -200, 0}, {40, 1, 20}),
             space = TensorMesh::regular({0, 400, -50, 50, -200, 0}, {40, 10, 20});
  const Medium flat(plane, velocities(plane, rock)), whole(space, velocities(space, rock));
  const Point shot{43, 0, -17};
  const auto in_plane = march(flat, shot, 2), in_space = march(whole, shot, 2);
  for (const Point& at : {Point{350, 0, 0}, {200, 0, -150}, {390, 0, -190}})
    EXPECT_NEAR(time_at(flat, in_plane, at), time_at(whole, in_space, at), 1e-5);
}

class TravelTimeDerivatives : public testing::TestWithParam<int> {};

TEST_P(TravelTimeDerivatives, AreTheTransposeOfEachOtherToRounding) {
  const auto p = test::rough_rock(3, 12);
  const Medium medium(p.mesh, p.velocity);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const auto& shot : p.shots) {
    const auto front = march(medium, shot, GetParam());
    std::vector<double> change, weights, cells(p.mesh.size());
    for (std::size_t n = 0; n < p.mesh.size(); ++n) change.push_back(normal(random));
    for (std::size_t n = 0; n < p.receivers.size(); ++n) weights.push_back(normal(random));
    const Derivative derivative(medium, front);
    const auto times = derivative.apply(change, p.receivers);
    derivative.add_transpose(weights, p.receivers, cells);
    double there = 0, back = 0, size = 0;
    for (std::size_t n = 0; n < times.size(); ++n) there += times[n] * weights[n], size += std::abs(times[n]);
    for (std::size_t n = 0; n < cells.size(); ++n) back += cells[n] * change[n];
    EXPECT_NEAR(there, back, 1e-13 * size);
  }
}

TEST_P(TravelTimeDerivatives, AreThoseOfFiniteDifferences) {
  const auto p = test::rough_rock(2, 12, 7);
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  std::vector<double> change;
  for (std::size_t n = 0; n < p.mesh.size(); ++n) change.push_back(normal(random));
  constexpr double step = 1e-6;
  const auto moved = [&](double by) {
    auto velocity = p.velocity;
    for (std::size_t n = 0; n < velocity.size(); ++n) velocity[n] *= std::exp(-by * change[n]);
    return Medium(p.mesh, velocity);
  };
  const auto medium = moved(0), more = moved(step), less = moved(-step);
  for (const auto& shot : p.shots) {
    const auto front = march(medium, shot, GetParam()), up = march(more, shot, GetParam()),
               down = march(less, shot, GetParam());
    const auto times = Derivative(medium, front).apply(change, p.receivers);
    for (std::size_t n = 0; n < times.size(); ++n)
      EXPECT_NEAR(times[n],
                  (time_at(more, up, p.receivers[n]) - time_at(less, down, p.receivers[n])) / (2 * step),
                  1e-9)
          << "of times of 0.04 s";
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, TravelTimeDerivatives, testing::Values(1, 2));

}  // namespace
}  // namespace terrane::traveltime
