// Snapshots that were taken: in memory, or on disk until they are written into files.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "terrane/io/spool.hpp"

namespace terrane {

/// [count][numbers of each].
class Pictures {
 public:
  Pictures() = default;
  /// beside: in whose folder they are kept; empty: in memory. Throws FileError: there is no room.
  Pictures(std::size_t count, std::size_t numbers, const std::filesystem::path& beside);

  std::size_t count() const noexcept { return count_; }
  std::size_t numbers() const noexcept { return numbers_; }
  bool on_disk() const noexcept { return spool_ != nullptr; }
  void put(std::size_t n, std::span<const float> values);
  void get(std::size_t n, std::span<float> values) const;
  std::vector<float> all() const;

 private:
  std::size_t count_ = 0, numbers_ = 0;
  std::vector<float> held_;
  std::shared_ptr<io::Spool> spool_;
};

}  // namespace terrane
