// Limited by memory bandwidth: a pass reads keys twice and values once, and writes both, 32 bytes per key.
#include "terrane/parallel/threads/sort.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane {

/// By digits of 11 bits, the lowest first; bits that all keys share are left out. In a pass every thread
/// counts the digits of its stretch of keys; the counts, digit by digit and stretch after stretch, say where
/// each puts its own.
void sort_by_key(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& values, int threads,
                 Progress& progress) {
  constexpr int digit = 11;
  constexpr std::size_t buckets = std::size_t{1} << digit, least = std::size_t{1} << 13;
  const std::size_t count = keys.size(),
                    stretches = std::clamp<std::size_t>(count / least, 1,
                                                        static_cast<std::size_t>(thread_count(threads)));
  struct Stretch {
    std::size_t first, last;
  };
  const auto each = [&](const auto& work) {
    if (progress.cancelled()) throw Cancelled();
    for_each(stretches, threads, [&](std::size_t s) {
      work(s, Stretch{count * s / stretches, count * (s + 1) / stretches});
    });
  };
  std::vector<std::uint64_t> all(stretches), any(stretches);
  each([&](std::size_t s, const Stretch& range) {
    std::uint64_t every = ~std::uint64_t{0}, some = 0;
    for (std::size_t n = range.first; n < range.last; ++n) {
      every &= keys[n];
      some |= keys[n];
    }
    all[s] = every;
    any[s] = some;
  });
  for (std::size_t s = 1; s < stretches; ++s) {
    all[0] &= all[s];
    any[0] |= any[s];
  }
  const std::uint64_t differ = all[0] ^ any[0];
  if (count < 2 || differ == 0) return;

  // Not filled with zeros: the threads touch their own pages first.
  const auto other_keys = std::make_unique_for_overwrite<std::uint64_t[]>(count);
  const auto other_values = std::make_unique_for_overwrite<std::uint32_t[]>(count);
  std::uint64_t *from_keys = keys.data(), *to_keys = other_keys.get();
  std::uint32_t *from_values = values.data(), *to_values = other_values.get();
  std::vector<std::size_t> place(stretches * buckets);
  for (int shift = std::countr_zero(differ); shift < 64; shift += digit) {
    if ((differ >> shift & (buckets - 1)) == 0) continue;
    each([&](std::size_t s, const Stretch& range) {
      std::size_t* const found = place.data() + s * buckets;
      std::fill_n(found, buckets, std::size_t{0});
      for (std::size_t n = range.first; n < range.last; ++n) ++found[from_keys[n] >> shift & (buckets - 1)];
    });
    std::size_t before = 0;
    for (std::size_t b = 0; b < buckets; ++b)
      for (std::size_t s = 0; s < stretches; ++s) {
        const std::size_t found = place[s * buckets + b];
        place[s * buckets + b] = before;
        before += found;
      }
    each([&](std::size_t s, const Stretch& range) {
      std::size_t* const to = place.data() + s * buckets;
      for (std::size_t n = range.first; n < range.last; ++n) {
        const std::size_t at = to[from_keys[n] >> shift & (buckets - 1)]++;
        to_keys[at] = from_keys[n];
        to_values[at] = from_values[n];
      }
    });
    std::swap(from_keys, to_keys);
    std::swap(from_values, to_values);
  }
  if (from_keys == keys.data()) return;
  each([&](std::size_t, const Stretch& range) {
    std::copy_n(from_keys + range.first, range.last - range.first, to_keys + range.first);
    std::copy_n(from_values + range.first, range.last - range.first, to_values + range.first);
  });
}

}  // namespace terrane
