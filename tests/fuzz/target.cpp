// A libFuzzer program for all readers: TERRANE_FUZZ_READER in the environment names one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/readers.hpp"
#include "terrane/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto readers = terrane::fuzz::readers();
  static const char* const given = std::getenv("TERRANE_FUZZ_READER");
  static const std::string_view name = given != nullptr ? given : "";
  static const auto reader =
      std::find_if(readers.begin(), readers.end(), [](const auto& r) { return r.name == name; });
  if (reader == readers.end()) {
    std::fputs("TERRANE_FUZZ_READER names a reader, like the folders of tests/fuzz/corpus\n", stderr);
    std::abort();
  }
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
