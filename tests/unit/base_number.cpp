// Numbers in text: std::from_chars and its twin by strtod.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include "terrane/base/number.hpp"

namespace terrane {
namespace {

void expect_both_read_alike(std::string_view text) {
  double one = -7, other = -7;
  const auto a = read_number(text, one), b = read_number_by_strtod(text, other);
  EXPECT_EQ(a.ec, b.ec) << text;
  EXPECT_EQ(a.ptr - text.data(), b.ptr - text.data()) << text;
  EXPECT_EQ(std::memcmp(&one, &other, sizeof one), 0) << text << ": " << one << ", " << other;
}

TEST(NumbersInText, AreReadAlikeByBothWays) {
  for (const std::string_view text : {"",
                                      "-",
                                      "+",
                                      "+1",
                                      "-+1",
                                      " 1",
                                      "1 ",
                                      "1.5",
                                      ".5",
                                      "5.",
                                      ".",
                                      "-.5e-3x",
                                      "1e",
                                      "1e+",
                                      "1e5",
                                      "1E-5",
                                      "1d5",
                                      "0x1p3",
                                      "-0x1",
                                      "0x",
                                      "inf",
                                      "-inf",
                                      "infinity",
                                      "Infinity8",
                                      "nan",
                                      "in",
                                      "n",
                                      "1,5",
                                      "1e308",
                                      "1e309",
                                      "-1e400",
                                      "4.9e-324",
                                      "1e-400",
                                      "0.1",
                                      "2.2250738585072011e-308",
                                      "9007199254740993",
                                      "123456789012345678901234567890",
                                      "1_000",
                                      "٣",
                                      "0",
                                      "-0",
                                      "00012"})
    expect_both_read_alike(text);
  expect_both_read_alike("0." + std::string(400, '0') + "1");
  expect_both_read_alike(std::string(2000, '9'));
}

TEST(NumbersInText, OfAnyBitsComeBack) {
  std::mt19937_64 random(20261128);
  for (int k = 0; k < 20000; ++k) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const auto text = fmt::format("{}", number);
    expect_both_read_alike(text);
    double back = 0;
    ASSERT_EQ(read_number(text, back).ec, std::errc{}) << text;
    EXPECT_EQ(back, number) << text;
  }
}

}  // namespace
}  // namespace terrane
