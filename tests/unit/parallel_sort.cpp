// Sorting on all threads, beside std::stable_sort.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/sort.hpp"

namespace terrane {
namespace {

struct Pairs {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> values;
  friend bool operator==(const Pairs&, const Pairs&) = default;
};

Pairs numbered(std::vector<std::uint64_t> keys) {
  Pairs pairs{std::move(keys), {}};
  pairs.values.resize(pairs.keys.size());
  std::iota(pairs.values.begin(), pairs.values.end(), 0U);
  return pairs;
}

Pairs sorted_slowly(const Pairs& given) {
  Pairs sorted = given;
  std::stable_sort(sorted.values.begin(), sorted.values.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return given.keys[a] < given.keys[b]; });
  for (std::size_t n = 0; n < given.keys.size(); ++n) sorted.keys[n] = given.keys[sorted.values[n]];
  return sorted;
}

void expect_sorted_on_any_threads(const Pairs& given) {
  const Pairs truth = sorted_slowly(given);
  Progress silent;
  for (const int threads : {1, 2, 3, 8}) {
    Pairs pairs = given;
    sort_by_key(pairs.keys, pairs.values, threads, silent);
    EXPECT_EQ(pairs, truth) << given.keys.size() << " keys on " << threads << " threads";
  }
}

constexpr std::size_t stretch = 1 << 13;  // that one thread takes at least

TEST(SortByKey, SortsLikeAStableSortWhateverTheSizeAndThreads) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000},
                                  stretch - 1, stretch, 2 * stretch - 1, 2 * stretch, 2 * stretch + 1,
                                  3 * stretch + 17, 8 * stretch - 1, 8 * stretch, 11 * stretch + 5}) {
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = random();
    expect_sorted_on_any_threads(numbered(keys));
  }
}

TEST(SortByKey, KeepsTheOrderOfEqualKeys) {
  std::mt19937_64 random(2);
  for (const std::uint64_t different : {1U, 2U, 7U, 3000U}) {
    std::vector<std::uint64_t> keys(9 * stretch + 3);
    for (auto& key : keys) key = random() % different << 40 | 5;
    expect_sorted_on_any_threads(numbered(keys));
  }
}

TEST(SortByKey, LooksAtEveryBitThatDiffers) {
  for (int low = 0; low < 64; low += 3)
    for (int high = low; high < 64; high += 7) {
      std::vector<std::uint64_t> keys{~std::uint64_t{0}, ~(std::uint64_t{1} << high),
                                      ~(std::uint64_t{1} << low),
                                      ~(std::uint64_t{1} << low | std::uint64_t{1} << high)};
      expect_sorted_on_any_threads(numbered(keys));
    }
}

TEST(SortByKey, StopsWhenCancelled) {
  struct Stopped final : Progress {
    bool cancelled() const override { return true; }
  } stopped;
  auto pairs = numbered({3, 2, 1});
  EXPECT_THROW(sort_by_key(pairs.keys, pairs.values, 1, stopped), Cancelled);
}

}  // namespace
}  // namespace terrane
