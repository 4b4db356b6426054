// The promise of Parameters::accuracy, over random shapes and distances, against quadruple precision computed
// while the test runs: wherever one form hands over to the next, the error stays below what was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "support/quad_field.hpp"
#include "support/worse.hpp"
#include "terrane/base/constants.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"
#include "terrane/physics/gravity/forward.hpp"

namespace terrane::gravity {
namespace {

struct Pair {
  test::ReferenceRow row;
  double aspect, distance;  ///< distance from the surface over the longest side
};

/// aspect 1 … most_aspect and distance 0.001 … 100 000 sides, both spread over their logarithms.
std::vector<Pair> random_pairs(std::size_t count, double most_aspect, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Pair> pairs;
  for (std::size_t n = 0; n < count; ++n) {
    const double aspect = std::pow(most_aspect, unit(random));
    const Prism p = test::random_prism(aspect, random);
    const double longest = std::max({p.east - p.west, p.north - p.south, p.top - p.bottom});
    // Half of the pairs where the forms change, 0.01 … 100 sides.
    const double distance =
        n % 2 ? std::pow(10.0, -3 + 8 * unit(random)) : std::pow(10.0, -2 + 4 * unit(random));
    const auto at = test::random_station(p, distance * longest, random);
    pairs.push_back({test::quad_row(p, {at[0], at[1], at[2]}), aspect, distance});
  }
  return pairs;
}

double error_of(const Pair& pair, double accuracy) {
  test::PrismList prisms;
  prisms.add(pair.row.prism, 1.0);
  test::StationList stations;
  stations.add(pair.row.station[0], pair.row.station[1], pair.row.station[2]);
  Parameters parameters;
  parameters.channels = ChannelSet::all();
  parameters.accuracy = accuracy;
  parameters.method = Method::direct;
  const auto field = test::field(prisms.view(), stations.view(), parameters);
  std::array<double, 10> value{};
  for (std::size_t c = 0; c < 10; ++c) value[c] = field[c][0];
  return test::normwise_error(pair.row, value).largest();
}

/// slack: rounding has a tail; at "best" one pair in a thousand may exceed the accuracy by a quarter.
void expect_within(const std::vector<Pair>& pairs, double accuracy, double slack = 1) {
  double worst = 0;
  std::size_t beyond = 0;
  for (const auto& pair : pairs) {
    const double error = error_of(pair, accuracy);
    worst = worse(worst, error);
    beyond += error > accuracy;
    EXPECT_LE(error, slack * accuracy)
        << "aspect " << pair.aspect << ", " << pair.distance << " sides from the surface";
  }
  EXPECT_LE(beyond * 1000, pairs.size());
  // The cheaper forms are in use at all.
  EXPECT_GE(worst, accuracy / 2000);
}

TEST(SwitchingOfForms, KeepsTheAccuracyAskedForWithEveryShapeAtEveryDistance) {
  const auto pairs = random_pairs(3000, 1e4, 20);
  for (double accuracy : {1e-12, 1e-9, 1e-6, 1e-3}) expect_within(pairs, accuracy);
}

TEST(SwitchingOfForms, KeepsBestUpToAspectTenAtEveryDistance) {
  expect_within(random_pairs(4000, 10, 21), best_accuracy, 1.25);
}

TEST(SwitchingOfForms, MultipolesKeepTheirBoundsAlongAxesAndDiagonals) {
  // Where multipoles are worst: above the middle of plates, towards edges and corners of cubes; at the very
  // distance from which each order serves whole tiles.
  double least_margin = 1;
  for (double ly : {1.0, 0.5, 1e-2, 1e-4})
    for (double lz : {1.0, 0.7, 1e-2, 1e-4})
      for (double accuracy : {1e-12, 1e-9, 1e-6, 1e-4}) {
        const auto switching = Switching::for_accuracy(accuracy);
        for (int order = 0; order < 4; ++order)
          for (const auto& d :
               {std::array{1.0, 0.0, 0.0}, std::array{0.0, 1.0, 0.0}, std::array{0.0, 0.0, 1.0},
                std::array{1.0, 0.0, 1.0}, std::array{0.0, 1.0, 1.0}, std::array{1.0, 1.0, 0.0},
                std::array{1.0, 1.0, 1.0}, std::array{2.0, 1.0, 0.0}}) {
            const double r = 1.0000001 * switching.multipole_from[order] / std::hypot(d[0], d[1], d[2]);
            const double at[3] = {r * d[0], r * d[1], r * d[2]};
            const auto row = test::quad_row({-0.5, 0.5, -ly / 2, ly / 2, -lz / 2, lz / 2}, at);
            const auto t = multipole_coefficients(1, ly, lz);
            const auto q = order == 0   ? multipole<2, true>(t, at[0], at[1], at[2])
                           : order == 1 ? multipole<4, true>(t, at[0], at[1], at[2])
                           : order == 2 ? multipole<6, true>(t, at[0], at[1], at[2])
                                        : multipole<8, true>(t, at[0], at[1], at[2]);
            std::array<double, 10> value{q.v, q.e, q.n, q.u, q.ee, q.nn, q.uu, q.en, q.eu, q.nu};
            for (double& v : value) v *= default_gravitational_constant * ly * lz;
            const double error = test::normwise_error(row, value).largest();
            EXPECT_LE(error, accuracy) << "order " << 2 * (order + 1) << ", sides 1, " << ly << ", " << lz;
            least_margin = std::min(least_margin, 1 - error / accuracy);
          }
      }
  EXPECT_LT(least_margin, 0.2);  // and the bounds are not wasteful
}

}  // namespace
}  // namespace terrane::gravity
