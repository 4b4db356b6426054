// Stored snapshots: in memory, or on disk until they are written into the output files.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "terrane/io/spool.hpp"

namespace terrane {

/// Snapshots, [count][numbers].
class Pictures {
 public:
  Pictures() = default;
  /// numbers: how many numbers a snapshot has. beside: a file in whose folder snapshots are stored; empty: in
  /// memory. Throws FileError if there is too little space.
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
