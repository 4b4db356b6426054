#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "terrane/simulation/wavelet_cut.hpp"

namespace terrane {
namespace {

using testing::HasSubstr;

/// Of 2 Hz, centred at 1 s: from 0.25 to 1.75 s.
double ricker(double time) {
  const double a = std::pow(std::numbers::pi * 2 * (time - 1), 2);
  return (1 - 2 * a) * std::exp(-a);
}
double step(double time) { return 0.5 * std::erfc(-(time - 1) / 0.2); }

TEST(CutWavelets, AreSaidWhereARunBeginsWithinThemOrEndsBeforeTheyAreLargest) {
  const auto of_ricker = [](double first, double last) {
    return cut_of_wavelet(ricker, 0.25, 1.75, first, last);
  };
  EXPECT_FALSE(of_ricker(0, 3));
  EXPECT_FALSE(of_ricker(0.25, 3));
  EXPECT_FALSE(of_ricker(-5, 1.01));  // the middle is there
  EXPECT_THAT(of_ricker(1, 3).value_or(""), HasSubstr("begins at 1 s, where the wavelet has 100 %"));
  EXPECT_THAT(of_ricker(0.75, 3).value_or(""), HasSubstr("start with a jump. The wavelet begins at 0.25 s"));
  EXPECT_THAT(of_ricker(0, 0.9).value_or(""),
              HasSubstr("ends at 0.9 s, before the wavelet is at its largest"));
  EXPECT_THAT(of_ricker(0, 0.1).value_or(""), HasSubstr("before the wavelet is at its largest"));
  const auto of_step = [](double first, double last) { return cut_of_wavelet(step, 0.3, 1.7, first, last); };
  EXPECT_FALSE(of_step(0.3, 1.3));
  EXPECT_TRUE(of_step(1, 3));
  EXPECT_TRUE(of_step(0, 0.9));
}

TEST(CutWavelets, AreSaidWhereTheyAreOverBeforeTheRunAndOfZerosThereIsNothingToSay) {
  EXPECT_THAT(cut_of_wavelet(ricker, 0.25, 1.75, 9, 10).value_or(""), HasSubstr("when the wavelet is over"));
  EXPECT_FALSE(cut_of_wavelet([](double) { return 0.0; }, 0, 1, 0.5, 2));
}

}  // namespace
}  // namespace terrane
