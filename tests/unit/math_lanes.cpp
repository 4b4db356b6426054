// Lanes, which stand for std::experimental::simd where a standard library lacks it, beside the numbers one by
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "terrane/math/elementary.hpp"
#include "terrane/math/lanes.hpp"

namespace terrane {
namespace {

template <int N>
Lanes<N> some(std::mt19937& random, double low, double high) {
  double numbers[N];
  for (double& x : numbers) x = std::uniform_real_distribution(low, high)(random);
  return {numbers, ElementAligned{}};
}

template <int N, class Function>
void expect_lanes(const Lanes<N>& found, const Function& one_by_one) {
  for (int i = 0; i < N; ++i) {
    const auto lane = static_cast<std::size_t>(i);
    EXPECT_EQ(found[lane], one_by_one(lane)) << "lane " << i << " of " << N;
  }
}

template <class Width>
class LanesOf : public testing::Test {};
using Widths = testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 4>,
                              std::integral_constant<int, 8>>;
TYPED_TEST_SUITE(LanesOf, Widths);

TYPED_TEST(LanesOf, ComputeAsNumbersOneByOne) {
  constexpr int n = TypeParam::value;
  std::mt19937 random(1);
  for (int turn = 0; turn < 20; ++turn) {
    const auto a = some<n>(random, -3, 3), b = some<n>(random, -3, 3), p = some<n>(random, 1e-9, 1e9);
    expect_lanes(a + b, [&](auto i) { return a[i] + b[i]; });
    expect_lanes(a - b, [&](auto i) { return a[i] - b[i]; });
    expect_lanes(-a * b, [&](auto i) { return -a[i] * b[i]; });
    expect_lanes(quotient(a, b), [&](auto i) { return a[i] / b[i]; });
    expect_lanes(minimum(a, b), [&](auto i) { return minimum(a[i], b[i]); });
    expect_lanes(maximum(a, b), [&](auto i) { return maximum(a[i], b[i]); });
    expect_lanes(absolute(a), [&](auto i) { return absolute(a[i]); });
    expect_lanes(with_sign_of(a, b), [&](auto i) { return with_sign_of(a[i], b[i]); });
    expect_lanes(square_root(p), [&](auto i) { return square_root(p[i]); });
    expect_lanes(select(a < b, p, a), [&](auto i) { return a[i] < b[i] ? p[i] : a[i]; });
    expect_lanes(select(!(a <= b) || (a > p && a == a), p, a),
                 [&](auto i) { return a[i] <= b[i] ? a[i] : p[i]; });
    const auto scaled = scale_towards(p, absolute(a));
    expect_lanes(scaled.exponent, [&](auto i) { return scale_towards(p[i], absolute(a[i])).exponent; });
    expect_lanes(scaled.value, [&](auto i) { return scale_towards(p[i], absolute(a[i])).value; });
    EXPECT_EQ(any(a < b), !all(a >= b));
    double sum = 0, least = a[0];
    for (std::size_t i = 0; i < n; ++i) {
      sum += a[i];
      least = std::min<double>(least, a[i]);
    }
    EXPECT_NEAR(sum_of_lanes(a), sum, 1e-14);
    EXPECT_EQ(least_lane(a), least);
  }
}

TYPED_TEST(LanesOf, AreWrittenOneByOneAndWhereAMaskIs) {
  constexpr int n = TypeParam::value;
  double numbers[n + 1] = {};
  for (int i = 0; i <= n; ++i) numbers[i] = i;
  Lanes<n> x(numbers + 1, ElementAligned{});  // 1 … n
  x[1] = x[1] + 10;
  where(x > 5.0, x) += Lanes<n>(100);
  x.copy_to(numbers, ElementAligned{});
  for (int i = 0; i < n; ++i) {
    const double before = i == 1 ? 12 : i + 1;
    EXPECT_EQ(numbers[i], before > 5 ? before + 100 : before);
  }
  EXPECT_EQ(numbers[n], n);  // not beyond the last
}

TYPED_TEST(LanesOf, TakeFormulasOfNumbers) {
  constexpr int n = TypeParam::value;
  std::mt19937 random(2);
  const auto a = some<n>(random, 0.1, 9), b = some<n>(random, 0.1, 9);
  const auto found = log_ratio(a, b);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i], std::log(a[i] / b[i]), 4e-16 * 4);
}

}  // namespace
}  // namespace terrane
