// Sums over boxes on devices: the bits of a plain program, whatever the threads and the kind of device.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "devices/device.hpp"
#include "support/serial_sum.hpp"
#include "terrane/parallel/reduce/reduce.hpp"

namespace terrane {
namespace {

constexpr Device cpu{Device::Kind::cpu, -1};

class ReduceOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(ReduceOn);

/// Numbers of many magnitudes, so that any other order of adding shows.
std::vector<double> random_numbers(Index count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-12, 12);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = mantissa(random) * std::exp2(exponent(random));
  return values;
}

const std::vector<IndexBox<3>> boxes{index_box(40, 37, 150),     {{1, 1, 1}, {39, 36, 149}},
                                     {{5, 7, 33}, {6, 8, 34}},   {{0, 0, 0}, {3, 300, 5}},
                                     {{17, 2, 31}, {35, 5, 65}}, {{16, 16, 128}, {32, 32, 256}}};

TEST_P(ReduceOn, SumsWithTheBitsOfAPlainProgram) {
  Alone alone;
  for (const auto& box : boxes) {
    const auto all = box.grown(0, box.first[0] > 0 ? 1 : 0, 2);
    const auto values = random_numbers(all.count());
    const View<const double, 3> here(values.data(), all);
    const double truth =
        test::serial_sum(box, [&](Index k, Index j, Index i) { return here(k, j, i) * here(k, j, i); });
    for (const int threads : {1, 2, 5}) {
      Stream stream(GetParam(), false, threads), host(cpu, false, threads);
      const Buffer<double> buffer(stream, values);
      Reduction<3> there(stream, box, box, alone), on_host(host, box, box, alone);
      EXPECT_EQ(there.sum(Product<3>{buffer.view(all), buffer.view(all)}), truth);
      EXPECT_EQ(on_host.sum(Product<3>{here, here}), truth);
    }
  }
}

template <int N>
struct ValueAndSquare {
  View<const double, N> values;
  template <class... At>
  TERRANE_FN Several<2> operator()(At... at) const {
    return {{values(at...), values(at...) * values(at...)}};
  }
};

template <int N>
void expect_right_sums(Device device, const IndexBox<N>& box) {
  Alone alone;
  const auto values = random_numbers(box.count());
  long double sum = 0, squares = 0, magnitudes = 0;
  double highest = 0;
  for (const double value : values) {
    sum += value;
    squares += static_cast<long double>(value) * value;
    magnitudes += std::abs(value);
    highest = std::max(highest, std::abs(value));
  }
  Stream stream(device), host(cpu);
  const Buffer<double> buffer(stream, values);
  Reduction<N> there(stream, box, box, alone, 2), here(host, box, box, alone, 2);
  const auto sums = there.template sums<2>(ValueAndSquare<N>{buffer.view(box)});
  // A tree of depth d errs by d halves of a unit in the last place of the magnitudes; here d is below 60.
  EXPECT_NEAR(sums[0], static_cast<double>(sum), 60 * 0x1p-53 * static_cast<double>(magnitudes));
  EXPECT_NEAR(sums[1], static_cast<double>(squares), 60 * 0x1p-53 * static_cast<double>(squares));
  EXPECT_EQ(sums, here.template sums<2>(ValueAndSquare<N>{{values.data(), box}}));
  EXPECT_EQ(there.highest(Magnitude<N>{buffer.view(box)}), highest);
}

TEST_P(ReduceOn, IsRightInOneTwoAndThreeDimensions) {
  expect_right_sums(GetParam(), IndexBox<1>{{3}, {100'000}});
  expect_right_sums(GetParam(), IndexBox<1>{{511}, {513}});
  expect_right_sums(GetParam(), IndexBox<2>{{15, 31}, {200, 333}});
  expect_right_sums(GetParam(), IndexBox<3>{{3, 4, 5}, {40, 50, 60}});
}

TEST_P(ReduceOn, FindsANaNAndNothingInAnEmptyBox) {
  Alone alone;
  Stream stream(GetParam());
  const auto box = index_box(9, 10, 70);
  auto values = random_numbers(box.count());
  for (const std::size_t at : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
    const double was = std::exchange(values[at], std::nan(""));
    const Buffer<double> buffer(stream, values);
    Reduction<3> reduce(stream, box, box, alone);
    EXPECT_TRUE(std::isnan(reduce.highest(Magnitude<3>{buffer.view(box)})));
    values[at] = was;
  }
  Reduction<3> none(stream, index_box(0, 5, 5), index_box(0, 5, 5), alone);
  EXPECT_EQ(none.sum(Magnitude<3>{}), 0);
  EXPECT_EQ(none.highest(Magnitude<3>{}), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace terrane
