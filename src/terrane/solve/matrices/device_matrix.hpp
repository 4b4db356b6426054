// A dense matrix on a device, column after column, for G m and Gᵀ d.
//
//   G m   in up to 64 parts (parted.hpp), each the sum over some consecutive columns, one after the other
//   Gᵀ d  each column by itself: 32 partial sums, each over every 32nd row, added in order
//
// so no bit depends on the device's scheduling or on the number of ranks. Memory traffic of a product: the
// matrix once, 4 or 8 bytes per entry; model and data vectors are copied between host and device.
#pragma once

#include <functional>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::solve {

/// T: double or float; products accumulate in double.
template <class T>
class DeviceMatrix final : public PartedOperator {
 public:
  /// Computes the entries of the columns first .. last − 1 on the device: [columns][rows].
  using Fill = std::function<void(Stream& stream, std::size_t first, std::size_t last, View<double> entries)>;
  /// device: a result of resolve(), not the CPU. Throws MemoryError, Cancelled.
  DeviceMatrix(Device device, std::size_t rows, std::size_t columns, const Fill& fill, int threads = 0,
               Progress* progress = nullptr, ShareOfParts share = {});

  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  std::size_t parts() const override;
  Range held() const override { return share_.of(parts()); }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override;
  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override;
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override;

 private:
  std::size_t first_column(std::size_t part) const;
  void over_rows(const Range& parts, std::span<const double> values, bool squares,
                 std::span<double> out) const;

  std::size_t rows_, columns_;
  ShareOfParts share_;
  mutable Stream stream_;
  Buffer<T> entries_;
  mutable Buffer<double> of_columns_, of_rows_;  ///< vectors on the device: a model; data or sums per part
};

/// Index of the first of n items that belongs to part p of `parts`.
constexpr std::size_t first_of_part(std::size_t n, std::size_t parts, std::size_t p) { return n * p / parts; }
inline constexpr std::size_t most_parts_on_device = 64;

}  // namespace terrane::solve
