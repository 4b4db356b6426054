// Files that a test writes and reads: a folder of its own, gone when the test is.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "terrane/base/error.hpp"

namespace terrane::testing_support {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (std::filesystem::temp_directory_path() / "terrane-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw FileError(name, "cannot be created");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its name.
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  std::size_t entries() const {
    const auto range = std::filesystem::directory_iterator(path_);
    return static_cast<std::size_t>(std::distance(begin(range), end(range)));
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What an error says, or "no error".
template <class Call>
std::string message(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The folder of the open data, or "" when this machine has none: TERRANE_DATA.
inline std::string data_folder() {
  const char* folder = std::getenv("TERRANE_DATA");
  return folder == nullptr ? "" : folder;
}

}  // namespace terrane::testing_support
