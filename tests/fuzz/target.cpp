// One libFuzzer program a reader: TERRANE_FUZZ_READER names it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/readers.hpp"
#include "terrane/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto readers = terrane::fuzz::readers();
  static const auto reader = std::find_if(readers.begin(), readers.end(),
                                          [](const auto& r) { return r.name == TERRANE_FUZZ_READER; });
  // The bytes that were read, which libFuzzer does not count; for records of long runs.
  static std::uint64_t bytes = 0;
  static const int at_end = std::atexit([] { std::fprintf(stderr, "bytes: %ju\n", std::uintmax_t{bytes}); });
  (void)at_end;
  bytes += size;
  try {
    reader->read({reinterpret_cast<const char*>(data), size});
  } catch (const terrane::Error&) {
    // What a bad file is answered with.
  }
  return 0;
}
