// What work holds on the heap, where the C library counts it.
#pragma once

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#define TERRANE_HEAP_IS_COUNTED

namespace terrane::test {

inline double bytes_on_the_heap() {
  const auto all = mallinfo2();
  return static_cast<double>(all.uordblks + all.hblkhd);
}

/// The most that it takes at one time; less than 0 where this build has another heap.
inline double most_bytes(const std::function<void()>& work) {
  const double before = bytes_on_the_heap();
  double most = before;
  std::atomic<bool> working = true;
  std::thread watching([&] {
    while (working) {
      most = std::max(most, bytes_on_the_heap());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  work();
  working = false;
  watching.join();
  return most > before ? most - before : -1;
}

}  // namespace terrane::test

#endif
