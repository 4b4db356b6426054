// A matrix of sensitivities in a file: made once, read for every product, used again by later runs of the
// same problem. Entries are in single precision; every byte is under a checksum (io/array_file.hpp).
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "terrane/io/array_file.hpp"
#include "terrane/simulation/checkpoint.hpp"
#include "terrane/solve/matrices/chunked.hpp"

namespace terrane::gravity::inverse {

class StoredOperator final : public solve::ChunkedOperator {
 public:
  /// Opens the file, or makes it if there is none. of: everything that determines the entries. Throws
  /// InputError: the file contains the matrix of another problem (the message says what differs); FileError:
  /// damaged.
  StoredOperator(const solve::ColumnSource& source, const std::filesystem::path& file, const Fingerprint& of,
                 int threads = 0, Progress* progress = nullptr, solve::ShareOfParts share = {});

  /// Whether the file existed before.
  bool reused() const { return reused_; }

 private:
  Seen chunk(std::size_t chunk, Scratch& scratch) const override;
  void make(const solve::ColumnSource& source, const std::filesystem::path& file, const Fingerprint& of,
            Progress* progress) const;

  bool reused_ = false;
  mutable std::mutex one_at_a_time_;
  mutable std::unique_ptr<io::ArrayFileReader> in_;
};

}  // namespace terrane::gravity::inverse
