#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/busy_machine.hpp"
#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/interruptible.hpp"

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
  for_each(64, 8, [](std::size_t) {});  // so that there are more
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int n = 0; n < 20; ++n) {
    seen.clear();
    for_each(200, 3, [&](std::size_t) {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_LE(seen.size(), 3U);
  }
}

TEST(ForEach, WithinATaskStaysOnItsThread) {
  for_each(8, 4, [](std::size_t) {
    const auto self = std::this_thread::get_id();
    std::atomic<int> calls{0};
    for_each(16, 4, [&](std::size_t) { calls += std::this_thread::get_id() == self; });
    EXPECT_EQ(calls, 16);
  });
}

TEST(ForEach, ServesSeveralCallersAtOnce) {
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int n = 0; n < 4; ++n)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) for_each(20, 3, [&](std::size_t) { ++calls; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 50 * 20);
}

TEST(ForEach, WorksInAForkedProcess) {
  for_each(16, 3, [](std::size_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // rather than hang
    std::atomic<int> calls{0};
    for_each(1000, 3, [&](std::size_t) { ++calls; });
    _exit(calls == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ForEach, OfSmallTasksTakesNoLongerOnABusyMachineThanItsShare) {
  if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "threads are bound, and those of OpenMP";
  const auto seconds = [](int threads) {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<int> calls{0};
    for (int n = 0; n < 1000; ++n) for_each(16, threads, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 16000);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(2);  // begins the threads
  const test::BusyMachine busy(2 * omp_get_num_procs());
  // A barrier for each of these thousand calls waits for a turn of the processor, some milliseconds.
  EXPECT_LT(seconds(2), 10 * seconds(1) + 1);
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

TEST(Interruptible, ALoopThatKnowsNothingOfItsUserEndsBetweenTasks) {
  using namespace std::chrono_literals;
  for (const int threads : {1, 3}) {
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> done{0};
    const Interruptible interruptible([&] { return stop.load(); });
    EXPECT_THROW(for_each(100'000, threads,
                          [&](std::size_t n) {
                            if (n == 20) stop = true;
                            std::this_thread::sleep_for(1ms);
                            ++done;
                          }),
                 Cancelled);
    EXPECT_LT(done.load(), 2000U) << "within a second or so";
  }
  std::size_t after = 0;
  for_each(10, 1, [&](std::size_t) { ++after; });
  EXPECT_EQ(after, 10U) << "once it is gone, nothing stops";
}

TEST(Interruptible, WhatEndsByItselfIsGivenTheTimeToDoSo) {
  using namespace std::chrono_literals;
  const Interruptible interruptible([] { return true; }, 10s);
  std::this_thread::sleep_for(60ms);
  std::size_t done = 0;
  for_each(50, 1, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 50U);
}

}  // namespace
}  // namespace terrane
