// Transforms of many arrays on devices: each as if it were alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "devices/device.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/fft/device_fft.hpp"

namespace terrane {
namespace {

class DeviceFftOn : public test::OnDevice {};
TERRANE_ON_EVERY_DEVICE(DeviceFftOn);

/// [arrays][rows][columns and two more]: each by its factor.
std::vector<double> random_arrays(std::size_t columns, std::size_t rows, const std::vector<double>& factors) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> one(2 * (columns / 2 + 1) * rows), all;
  for (auto& x : one) x = number(random);
  for (const double factor : factors)
    for (const double x : one) all.push_back(factor * x);
  return all;
}

std::vector<double> there(Device device, std::size_t columns, std::size_t rows,
                          const std::vector<double>& arrays, bool and_back) {
  Stream stream(device);
  DeviceFft fft(stream, columns, rows, 0);
  const std::size_t reals = 2 * (columns / 2 + 1) * rows, count = arrays.size() / reals;
  auto padded = arrays;
  padded.resize(fft.rounded(count) * reals, 0);
  Buffer<double> on_device(stream, padded);
  fft.forward(on_device.view(), count);
  if (and_back) fft.inverse(on_device.view(), count);
  on_device.download(stream, padded);
  padded.resize(arrays.size());
  return padded;
}

// Sizes whose arrays are transformed one, three, four and many at a time.
const std::vector<std::pair<std::size_t, std::size_t>> sizes{
    {1500, 1400}, {1030, 1029}, {1050, 1029}, {1000, 1000}, {120, 75}, {28, 21}, {2, 1}};

TEST_P(DeviceFftOn, ALargeArrayLeavesNothingInASmallOneBesideIt) {
  for (const auto& [columns, rows] : sizes)
    for (const bool and_back : {false, true}) {
      // A power of two changes no bit of a transform but the exponents.
      const std::vector<double> factors{1, 0x1p40, 1, 0x1p-40, 0x1p-40, 1, 0x1p40};
      const auto done = there(GetParam(), columns, rows, random_arrays(columns, rows, factors), and_back);
      const std::size_t each = done.size() / factors.size(), wide = 2 * (columns / 2 + 1);
      std::size_t others = 0;
      for (std::size_t n = 1; n < factors.size(); ++n)
        for (std::size_t i = 0; i < each; ++i)
          if (!and_back || i % wide < columns)  // beyond them nothing belongs
            others += done[n * each + i] != factors[n] * done[i] ? 1 : 0;
      EXPECT_EQ(others, 0) << columns << " × " << rows << (and_back ? ", and back" : "");
    }
}

TEST_P(DeviceFftOn, ComesBackAsItWas) {
  for (const auto& [columns, rows] : sizes) {
    const auto before = random_arrays(columns, rows, {1, 1, 1});
    const auto after = there(GetParam(), columns, rows, before, true);
    const std::size_t wide = 2 * (columns / 2 + 1);
    const double scale = 1 / static_cast<double>(columns * rows);
    double most = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (i % wide < columns) most = std::max(most, std::abs(after[i] * scale - before[i]));
    EXPECT_LT(most, 5e-15) << columns << " × " << rows;
  }
}

TEST_P(DeviceFftOn, WantsAnEvenNumberOfColumns) {
  Stream stream(GetParam());
  EXPECT_THROW(DeviceFft(stream, 75, 120, 0), ShapeError);
  EXPECT_NO_THROW(DeviceFft(stream, 120, 75, 0));
}

}  // namespace
}  // namespace terrane
