// The elementary functions against quadruple precision, in units of the last place; scalars and packs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/math/elementary.hpp"

namespace terrane {
namespace {

using TwoArguments = double (*)(double, double);

double ulps(double value, Quad truth) {
  const double rounded = static_cast<double>(truth);
  const double ulp =
      std::nextafter(std::fabs(rounded), std::numeric_limits<double>::infinity()) - std::fabs(rounded);
  const Quad error = absolute(static_cast<Quad>(value) - truth);
  return rounded == 0 && value == 0 ? 0 : static_cast<double>(error / static_cast<Quad>(ulp));
}

struct Arguments {
  double first, second;
};

/// The largest error of f over the arguments.
double worst_ulps(const std::vector<Arguments>& arguments, const std::function<double(double, double)>& f,
                  const std::function<Quad(Quad, Quad)>& truth) {
  double worst = 0;
  for (auto [a, b] : arguments) {
    const double error = ulps(f(a, b), truth(a, b));
    EXPECT_LT(error, 100) << a << ", " << b;
    worst = worse(worst, error);
  }
  return worst;
}

/// Every lane of a pack of different arguments holds the scalar's result, bit for bit.
template <class Packed, class Scalar>
void expect_same_in_packs(const std::vector<Arguments>& arguments, const Packed& packed,
                          const Scalar& scalar) {
  constexpr std::size_t lanes = Pack::size();
  for (std::size_t first = 0; first + lanes <= arguments.size(); first += lanes) {
    const Pack a([&](std::size_t lane) { return arguments[first + lane].first; }),
        b([&](std::size_t lane) { return arguments[first + lane].second; });
    const Pack result = packed(a, b);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto [x, y] = arguments[first + lane];
      const double one = scalar(x, y);
      EXPECT_EQ(static_cast<double>(result[lane]), one) << x << ", " << y;
      EXPECT_EQ(std::signbit(static_cast<double>(result[lane])), std::signbit(one)) << x << ", " << y;
    }
  }
}

std::vector<Arguments> positive_pairs() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Arguments> list;
  for (int n = 0; n < 20000; ++n) {
    const double b = std::pow(10.0, 200 * unit(random) - 100);
    list.push_back({b * std::pow(10.0, 100 * unit(random) - 50), b});                          // far apart
    list.push_back({b * (0.5 + unit(random) * 1.5), b});                                       // of one size
    list.push_back({b * (1 + (unit(random) - 0.5) * std::pow(10.0, -15 * unit(random))), b});  // almost equal
  }
  return list;
}

TEST(LogRatio, IsWithinTwoUlpsForRatiosOfEverySize) {
  const auto truth = [](Quad a, Quad b) {
    return 2 * a > b && a < 2 * b ? log_one_plus((a - b) / b) : natural_log(a / b);
  };
  EXPECT_LT(worst_ulps(
                positive_pairs(), [](double a, double b) { return log_ratio(a, b); }, truth),
            2);
}

TEST(LogRatio, SpansTheWholeRangeOfDoubles) {
  const auto truth = [](double a, double b) { return static_cast<double>(natural_log(Quad(a) / Quad(b))); };
  for (auto [a, b] : {Arguments{1e300, 1e-300},
                      {1e-300, 1e300},
                      {7e307, 1e-300},
                      {1e-300, 7e307},
                      {1, 1e-280},
                      {1e-140, 1e280},
                      {1e300, 9.9e299}})
    EXPECT_DOUBLE_EQ(log_ratio(a, b), truth(a, b)) << a << " / " << b;
}

TEST(LogRatio, OfEqualsIsZeroAndOfNeighboursTheirDifference) {
  for (double x : {1e-300, 0.7, 1.0, 1.4142135623730951, 3e5, 1e300}) {
    EXPECT_EQ(log_ratio(x, x), 0);
    const double next = std::nextafter(x, 2 * x);
    EXPECT_DOUBLE_EQ(log_ratio(next, x), (next - x) / x);
    EXPECT_DOUBLE_EQ(log_ratio(x, next), -(next - x) / x);
  }
}

TEST(LogRatio, ChangesItsSignWithTheOrder) {
  std::size_t n = 0;
  for (auto [a, b] : positive_pairs())
    if (n++ % 50 == 0) {
      EXPECT_NEAR(log_ratio(a, b), -log_ratio(b, a), 4e-16 * std::fabs(log_ratio(a, b)));
    }
}

std::vector<Arguments> fractions(double largest) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Arguments> list{{0, 1}, {-0.0, 3}, {largest, 1}, {-largest * 7, 7}};
  for (int n = 0; n < 20000; ++n) {
    const double d = std::pow(10.0, 40 * unit(random) - 20);
    list.push_back({d * largest * (2 * unit(random) - 1), d});
    list.push_back({d * largest * std::pow(10.0, -17 * unit(random)), d});
  }
  return list;
}

// No digits are lost, so that it is the truth where Quad has no more than those of a long double, too.
Quad two_artanh_in_quad(Quad n, Quad d) {
  return 2 * absolute(n) < absolute(d) ? log_one_plus(2 * n / (d - n)) : natural_log((d + n) / (d - n));
}

TEST(TwoArtanh, IsWithinFiveUlpsForSmallAndLargeFractions) {
  EXPECT_LT(worst_ulps(
                fractions(0.999), [](double n, double d) { return two_artanh(n, d); }, two_artanh_in_quad),
            5);
  EXPECT_LT(
      worst_ulps(
          fractions(1 - 1e-12), [](double n, double d) { return two_artanh(n, d); }, two_artanh_in_quad),
      5);
}

TEST(TwoArtanh, OfSmallFractionsNeedsOnePolynomial) {
  EXPECT_LT(
      worst_ulps(
          fractions(0.213), [](double n, double d) { return two_artanh_small(n, d); }, two_artanh_in_quad),
      2);
}

TEST(TwoArtanh, OfZeroIsZero) {
  EXPECT_EQ(two_artanh(0.0, 5.0), 0);
  EXPECT_EQ(two_artanh_small(0.0, 5.0), 0);
}

std::vector<Arguments> directions() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Arguments> list;
  for (int n = 0; n < 20000; ++n) {
    const double size = std::pow(10.0, 200 * unit(random) - 100);
    list.push_back({size * (2 * unit(random) - 1), size * (2 * unit(random) - 1)});
    list.push_back({size * std::pow(10.0, -40 * unit(random)), size * (unit(random) < 0.5 ? -1 : 1)});
    list.push_back({size * (unit(random) < 0.5 ? -1 : 1), size * std::pow(10.0, -40 * unit(random))});
  }
  // The seams: axes, diagonals, 22.5 degrees.
  for (double y : {0.0, 1.0, -1.0, 0.4142135623730950488, 2.414213562373095})
    for (double x : {1.0, -1.0, 0.4142135623730950488, -2.414213562373095}) list.push_back({y, x});
  return list;
}

TEST(Angle, IsWithinThreeUlpsInEveryDirection) {
  EXPECT_LT(worst_ulps(
                directions(), [](double y, double x) { return angle(y, x); },
                [](Quad y, Quad x) { return arctangent(y, x); }),
            3);
}

TEST(Angle, OfTheAxesIsExactAndOfTheOriginZero) {
  EXPECT_EQ(angle(0.0, 0.0), 0);
  EXPECT_EQ(angle(0.0, 5.0), 0);
  EXPECT_DOUBLE_EQ(angle(0.0, -5.0), M_PI);
  EXPECT_DOUBLE_EQ(angle(-0.0, -5.0), -M_PI);
  EXPECT_DOUBLE_EQ(angle(5.0, 0.0), M_PI / 2);
  EXPECT_DOUBLE_EQ(angle(-5.0, 0.0), -M_PI / 2);
  EXPECT_DOUBLE_EQ(angle(3.0, 3.0), M_PI / 4);
  EXPECT_DOUBLE_EQ(angle(-3.0, -3.0), -3 * M_PI / 4);
  EXPECT_TRUE(std::signbit(angle(-0.0, 5.0)));
}

TEST(Angle, OfSmallFractionsNeedsOnePolynomial) {
  EXPECT_LT(worst_ulps(
                fractions(0.273), [](double y, double x) { return angle_small(y, x); },
                [](Quad y, Quad x) { return arctangent(y, x); }),
            2);
}

TEST(Packs, HoldInEveryLaneWhatTheScalarFunctionGives) {
  const auto positive = positive_pairs(), all = directions(), large = fractions(0.999),
             small = fractions(0.21);
  expect_same_in_packs(
      positive, [](Pack a, Pack b) { return log_ratio(a, b); },
      [](double a, double b) { return log_ratio(a, b); });
  expect_same_in_packs(
      large, [](Pack a, Pack b) { return two_artanh(a, b); },
      [](double a, double b) { return two_artanh(a, b); });
  expect_same_in_packs(
      small, [](Pack a, Pack b) { return two_artanh_small(a, b); },
      [](double a, double b) { return two_artanh_small(a, b); });
  expect_same_in_packs(
      all, [](Pack a, Pack b) { return angle(a, b); }, [](double a, double b) { return angle(a, b); });
  expect_same_in_packs(
      small, [](Pack a, Pack b) { return angle_small(a, b); },
      [](double a, double b) { return angle_small(a, b); });
}

TEST(Packs, SelectLaneByLane) {
  const Pack index([](std::size_t lane) { return static_cast<double>(lane); });
  const Pack chosen = select(index < Pack(1), Pack(-7), index);
  for (std::size_t lane = 0; lane < Pack::size(); ++lane)
    EXPECT_EQ(static_cast<double>(chosen[lane]), lane == 0 ? -7 : static_cast<double>(lane));
  EXPECT_TRUE(any(index < Pack(1)));
  EXPECT_EQ(all(index < Pack(1)), Pack::size() == 1);
}

TEST(ExtendedPrecision, AgreesWithQuadruplePrecision) {
  if (!extended_is_wider) GTEST_SKIP() << "long double is double here";
  for (auto [a, b] : {Arguments{3, 2}, {1e-12, 7}, {5, 4.999999}}) {
    const Extended x = a, y = b;
    EXPECT_LT(absolute(static_cast<Quad>(log_ratio(x, y)) / log_ratio(Quad(a), Quad(b)) - 1),
              Quad(3e-19) + Quad(1e-12) * (a == 5));
    EXPECT_LT(absolute(static_cast<Quad>(angle(x, -y)) / angle(Quad(a), Quad(-b)) - 1), Quad(3e-19));
  }
}

}  // namespace
}  // namespace terrane
