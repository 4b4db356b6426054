// One libFuzzer program a reader: TERRANE_FUZZ_READER names it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/readers.hpp"
#include "terrane/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto readers = terrane::fuzz::readers();
  static const auto reader = std::find_if(readers.begin(), readers.end(),
                                          [](const auto& r) { return r.name == TERRANE_FUZZ_READER; });
  try {
    reader->read({reinterpret_cast<const char*>(data), size});
  } catch (const terrane::Error&) {
    // What a bad file is answered with.
  }
  return 0;
}
