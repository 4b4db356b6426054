#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {
namespace {

TEST(ForEach, CallsEveryIndexOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 5, 0}) {
    std::vector<std::atomic<int>> calls(1000);
    for_each(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; })) << threads;
  }
}

TEST(ForEach, OfNothingDoesNothing) {
  for_each(0, 4, [](std::size_t) { FAIL(); });
}

TEST(ForEach, UsesNoMoreThreadsThanItMay) {
  std::atomic<int> most{0};
  for_each(200, 3, [&](std::size_t) {
    int seen = most;
    while (seen < omp_get_num_threads() && !most.compare_exchange_weak(seen, omp_get_num_threads())) {
    }
  });
  EXPECT_LE(most, 3);
}

TEST(ForEach, ThrowsTheExceptionOfATaskAndStopsEarly) {
  for (int threads : {1, 4}) {
    std::atomic<int> calls{0};
    try {
      for_each(100000, threads, [&](std::size_t i) {
        ++calls;
        if (i >= 10) throw std::out_of_range("too far");
      });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& e) {
      EXPECT_STREQ(e.what(), "too far");
    }
    EXPECT_LE(calls, 10 + threads);
  }
}

TEST(ForEach, ThrowsOneExceptionWhenEveryTaskThrows) {
  std::atomic<int> thrown{0};
  EXPECT_THROW(for_each(64, 4,
                        [&](std::size_t) {
                          ++thrown;
                          throw std::runtime_error("each");
                        }),
               std::runtime_error);
  EXPECT_GE(thrown, 1);
  // And works afterwards.
  std::atomic<int> calls{0};
  for_each(64, 4, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 64);
}

TEST(ThreadCount, IsWhatWasWantedOrWhatOpenMPGives) {
  EXPECT_EQ(thread_count(3), 3);
  EXPECT_EQ(thread_count(0), omp_get_max_threads());
  EXPECT_GE(thread_count(0), 1);
}

}  // namespace
}  // namespace terrane
