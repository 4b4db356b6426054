// A dense matrix G in chunks of columns: stored in memory in double or single precision, computed anew for
// every product, or read from the storage of a derived class.
//
// A chunk holds all rows of some consecutive columns, row after row. Chunks depend on the shape of the matrix
// alone. Products accumulate in double:
//   G m   in up to 64 parts (parted.hpp), each the sum over some consecutive chunks
//   Gᵀ d  each chunk by itself: Σ over 64 rows, then over the blocks of 64
// so no bit depends on threads or ranks. Memory traffic of a product: the matrix once, 4 or 8 bytes per
// entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::solve {

/// A function that computes the entries of a matrix.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  virtual std::size_t rows() const = 0;
  virtual std::size_t columns() const = 0;
  /// Entries of the columns first .. last − 1: out [rows, last − first]. Called from several threads at once.
  virtual void make(std::size_t first, std::size_t last, std::span<double> out) const = 0;
};

/// Number of columns in a chunk of a matrix with this many rows: 64 to 1024, such that a chunk has about 16
/// MiB of doubles.
std::size_t chunk_width(std::size_t rows);

class ChunkedOperator : public PartedOperator {
 public:
  std::size_t rows() const final { return rows_; }
  std::size_t columns() const final { return columns_; }
  std::size_t parts() const final { return (chunks() + chunks_per_part_ - 1) / chunks_per_part_; }
  Range held() const final { return share_.of(parts()); }
  std::vector<std::uint32_t> columns_of(const Range& parts) const final;
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const final;
  void transpose_parts(const Range& parts, std::span<const double> data, std::span<double> model) const final;
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const final;

  std::size_t chunks() const { return (columns_ + width_ - 1) / width_; }
  Range chunks_of(const Range& parts) const {
    return {std::min(parts.first * chunks_per_part_, chunks()),
            std::min(parts.last * chunks_per_part_, chunks())};
  }
  std::size_t first_column(std::size_t chunk) const { return std::min(chunk * width_, columns_); }
  int threads() const { return threads_; }

 protected:
  /// threads: 0 means all.
  ChunkedOperator(std::size_t rows, std::size_t columns, int threads, ShareOfParts share = {});
  /// A chunk, [rows][columns of the chunk], either computed in `scratch` (resized by the callee) or in the
  /// operator's own memory.
  struct Seen {
    const double* wide = nullptr;  ///< entries in double precision; null: they are in `narrow`
    const float* narrow = nullptr;
  };
  struct Scratch {
    std::vector<double> wide;
    std::vector<float> narrow;
  };
  virtual Seen chunk(std::size_t chunk, Scratch& scratch) const = 0;

 private:
  template <class T>
  void partial(const T* entries, std::size_t width, const double* model, double* parts) const;
  template <class T>
  void gather(const T* entries, std::size_t width, const double* data, double* model) const;
  template <class T>
  void squares(const T* entries, std::size_t width, const double* weight, double* diagonal) const;
  void for_chunks(const Range& parts,
                  const std::function<void(std::size_t chunk, const Seen& seen)>& body) const;

  std::size_t rows_, columns_, width_, chunks_per_part_;
  int threads_;
  ShareOfParts share_;
};

/// A matrix that stores its entries in memory: all entries, or those of its ShareOfParts (parted.hpp).  T:
/// double or float
template <class T>
class DenseOperator final : public ChunkedOperator {
 public:
  /// Computes the entries. Throws Cancelled.
  explicit DenseOperator(const ColumnSource& source, int threads = 0, Progress* progress = nullptr,
                         ShareOfParts share = {});
  /// Row i, copied from memory.
  void row(std::size_t i, std::span<double> out) const override;

 private:
  Seen chunk(std::size_t chunk, Scratch&) const override;
  std::vector<std::vector<T>> chunks_;
};

/// A matrix that is not stored: entries are computed anew for each product.
class OnTheFlyOperator final : public ChunkedOperator {
 public:
  explicit OnTheFlyOperator(std::shared_ptr<const ColumnSource> source, int threads = 0,
                            ShareOfParts share = {});

 private:
  Seen chunk(std::size_t chunk, Scratch& scratch) const override;
  std::shared_ptr<const ColumnSource> source_;
};

}  // namespace terrane::solve
