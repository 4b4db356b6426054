// Array files as their format says, in plain words: where their records are, and checksums made good again
// after bytes were changed, as a forger would.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "terrane/io/array_file.hpp"

namespace terrane::testing_support {

constexpr std::size_t array_file_head = 24, record_head = 16, record_sum = 8;

/// Bytes of the record that starts at `at`; 0 when it does not end within the file.
inline std::size_t record_size(const std::string& file, std::size_t at) {
  if (at > file.size() || file.size() - at < record_head + record_sum) return 0;
  std::uint32_t name = 0;
  std::uint64_t body = 0;
  std::memcpy(&name, file.data() + at + 4, sizeof name);
  std::memcpy(&body, file.data() + at + 8, sizeof body);
  const auto left = file.size() - at - record_head - record_sum;
  return name > left || body > left - name ? 0 : record_head + name + body + record_sum;
}

/// Where each record starts.
inline std::vector<std::size_t> record_places(const std::string& file) {
  std::vector<std::size_t> places;
  for (std::size_t at = array_file_head; const auto size = record_size(file, at); at += size)
    places.push_back(at);
  return places;
}

/// The file with checksums that match its bytes.
inline std::string sealed(std::string file) {
  if (file.size() < array_file_head) return file;
  const auto bytes = [&](std::size_t at, std::size_t size) {
    return std::as_bytes(std::span(file)).subspan(at, size);
  };
  auto sum = io::checksum(bytes(0, array_file_head));
  for (const auto at : record_places(file)) {
    const auto inside = record_size(file, at) - record_sum;
    sum = io::checksum(bytes(at, inside), sum);
    std::memcpy(file.data() + at + inside, &sum, sizeof sum);
  }
  return file;
}

}  // namespace terrane::testing_support
