#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/readers.hpp"
#include "support/files.hpp"

namespace terrane {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

fs::path corpus(std::string_view reader) {
  return fs::path(TERRANE_SOURCE_DIR) / "tests/fuzz/corpus" / reader;
}

std::string answer(const fuzz::Reader& reader, const std::string& bytes) {
  try {
    reader.read(bytes);
    return "read";
  } catch (const Error&) {
    return "refused";
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST(Corpus, HasSeedsForEveryReader) {
  for (const auto& reader : fuzz::readers()) {
    ASSERT_TRUE(fs::exists(corpus(reader.name))) << reader.name;
    EXPECT_FALSE(fs::is_empty(corpus(reader.name))) << reader.name;
  }
}

// Else a fuzzer of theirs would try nothing but the way to a refusal.
TEST(Corpus, IsReadWholeByTheLibraries) {
  for (const auto& reader : fuzz::readers()) {
    if (!reader.by_library) continue;
    for (const auto& file : fs::directory_iterator(corpus(reader.name)))
      EXPECT_EQ(answer(reader, bytes_of(file.path())), "read") << file.path();
  }
}

TEST(Corpus, IsReadOrRefusedWhereverItIsCutOff) {
  for (const auto& reader : fuzz::readers())
    for (const auto& file : fs::directory_iterator(corpus(reader.name))) {
      const auto bytes = bytes_of(file.path());
      // Libraries open a file for each: some of the places.
      for (std::size_t n = 0; n <= bytes.size(); n += reader.by_library ? 397 : 1) {
        const auto said = answer(reader, bytes.substr(0, n));
        EXPECT_TRUE(said == "read" || said == "refused")
            << file.path() << " cut after " << n << " bytes: " << said;
      }
    }
}

TEST(Corpus, IsReadOrRefusedWithAnyByteChanged) {
  for (const auto& reader : fuzz::readers()) {
    if (reader.by_library) continue;  // what the library does then is its own
    for (const auto& file : fs::directory_iterator(corpus(reader.name))) {
      const auto bytes = bytes_of(file.path());
      for (std::size_t n = 0; n < bytes.size(); ++n)
        for (const char c : {'\0', '9', '-', '*', '\n', '\xFF'}) {
          auto changed = bytes;
          changed[n] = c;
          const auto said = answer(reader, changed);
          EXPECT_TRUE(said == "read" || said == "refused") << file.path() << " byte " << n << ": " << said;
        }
    }
  }
}

}  // namespace
}  // namespace terrane
