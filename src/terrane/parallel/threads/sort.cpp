// The speed is limited by memory bandwidth: a pass reads keys twice and values once, and writes both, 32
// bytes per key.
#include "terrane/parallel/threads/sort.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

namespace {

/// A radix sort by digits of 11 bits, the lowest first; bits that all keys share are skipped.
class DigitSort {
 public:
  DigitSort(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& values, int threads,
            Progress& progress)
      : count_(keys.size()),
        stretches_(
            std::clamp<std::size_t>(count_ / least, 1, static_cast<std::size_t>(thread_count(threads)))),
        threads_(threads),
        progress_(progress),
        from_{keys.data(), values.data()} {}

  void sort() {
    const auto differ = count_ < 2 ? 0 : differing_bits();
    if (differ == 0) return;
    // The memory is not filled with zeros, so that each thread is the first to touch its pages.
    const auto other_keys = std::make_unique_for_overwrite<std::uint64_t[]>(count_);
    const auto other_values = std::make_unique_for_overwrite<std::uint32_t[]>(count_);
    const auto given = from_;
    to_ = {other_keys.get(), other_values.get()};
    for (int shift = std::countr_zero(differ); shift < 64; shift += digit)
      if ((differ >> shift & (buckets - 1)) != 0) sort_by_digit(shift);
    if (from_.keys == given.keys) return;
    each([&](std::size_t, std::size_t first, std::size_t last) {
      std::copy(from_.keys + first, from_.keys + last, given.keys + first);
      std::copy(from_.values + first, from_.values + last, given.values + first);
    });
  }

 private:
  static constexpr int digit = 11;
  static constexpr std::size_t buckets = std::size_t{1} << digit, least = std::size_t{1} << 13;
  struct Pairs {
    std::uint64_t* keys = nullptr;
    std::uint32_t* values = nullptr;
  };

  /// Calls work(s, first, last) for each stretch s of consecutive keys, on all threads.
  template <class Work>
  void each(const Work& work) const {
    if (progress_.cancelled()) throw Cancelled();
    for_each(stretches_, threads_,
             [&](std::size_t s) { work(s, count_ * s / stretches_, count_ * (s + 1) / stretches_); });
  }
  std::uint64_t differing_bits() const {
    std::vector<std::uint64_t> all(stretches_), any(stretches_);
    each([&](std::size_t s, std::size_t first, std::size_t last) {
      std::uint64_t every = ~std::uint64_t{0}, some = 0;
      for (std::size_t n = first; n < last; ++n) {
        every &= from_.keys[n];
        some |= from_.keys[n];
      }
      all[s] = every;
      any[s] = some;
    });
    for (std::size_t s = 1; s < stretches_; ++s) {
      all[0] &= all[s];
      any[0] |= any[s];
    }
    return all[0] ^ any[0];
  }
  /// Every thread counts the digits of its stretch; the cumulative counts, digit by digit and within a digit
  /// stretch by stretch, are the positions at which each thread stores its keys.
  void sort_by_digit(int shift) {
    const auto bucket_of = [&](std::size_t n) { return from_.keys[n] >> shift & (buckets - 1); };
    place_.resize(stretches_ * buckets);
    each([&](std::size_t s, std::size_t first, std::size_t last) {
      std::size_t* const found = place_.data() + s * buckets;
      std::fill_n(found, buckets, std::size_t{0});
      for (std::size_t n = first; n < last; ++n) ++found[bucket_of(n)];
    });
    std::size_t before = 0;
    for (std::size_t b = 0; b < buckets; ++b)
      for (std::size_t s = 0; s < stretches_; ++s) before += std::exchange(place_[s * buckets + b], before);
    each([&](std::size_t s, std::size_t first, std::size_t last) {
      std::size_t* const to = place_.data() + s * buckets;
      for (std::size_t n = first; n < last; ++n) {
        const std::size_t at = to[bucket_of(n)]++;
        to_.keys[at] = from_.keys[n];
        to_.values[at] = from_.values[n];
      }
    });
    std::swap(from_, to_);
  }

  std::size_t count_, stretches_;
  int threads_;
  Progress& progress_;
  Pairs from_, to_;
  std::vector<std::size_t> place_;  // position at which the next key is stored: [stretches][digits]
};

}  // namespace

void sort_by_key(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& values, int threads,
                 Progress& progress) {
  DigitSort(keys, values, threads, progress).sort();
}

}  // namespace terrane
