// Searches on all threads, beside loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {
namespace {

TEST(Search, FindsWhatALoopFindsOnAnyThreads) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0, 1, 65535, 65536, 65537, 400000})
    for (const int threads : {1, 2, 7})
      for (const double share : {0.0, 1e-5, 0.3, 1.0}) {
        std::vector<double> values(count);
        for (auto& value : values) value = std::uniform_real_distribution<>(0, 1)(random);
        const auto is_so = [&](std::size_t n) { return values[n] < share; };
        UnsetList<std::size_t> all;
        double largest = -INFINITY;
        for (std::size_t n = 0; n < count; ++n) {
          if (is_so(n)) all.push_back(n);
          largest = std::max(largest, values[n]);
        }
        EXPECT_EQ(first_where(count, threads, is_so), all.empty() ? count : all.front());
        EXPECT_EQ(all_where(count, threads, is_so), all);
        EXPECT_EQ(largest_value(count, threads, [&](std::size_t n) { return values[n]; }), largest);
      }
}

TEST(Search, PassesOverWhatIsNoNumber) {
  const std::vector<double> values{NAN, -3, NAN, -7};
  EXPECT_EQ(largest_value(values.size(), 2, [&](std::size_t n) { return values[n]; }), -3);
}

// More than 64 MiB: pages are asked for by all threads.
TEST(FilledLists, HoldTheValueAndAskingForPagesKeepsWhatMemoryHolds) {
  constexpr std::size_t count = 9'000'001;
  auto values = filled(count, 2.5);
  ASSERT_EQ(values.size(), count);
  EXPECT_EQ(std::count(values.begin(), values.end(), 2.5), static_cast<std::ptrdiff_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  ask_for_pages(values.data() + 1, (count - 2) * sizeof(double));
  EXPECT_EQ(first_where(count, 2, [&](std::size_t n) { return values[n] != static_cast<double>(n); }), count);
  EXPECT_TRUE(filled(0, 1).empty());
}

}  // namespace
}  // namespace terrane
