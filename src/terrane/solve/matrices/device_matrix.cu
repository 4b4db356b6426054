#include <algorithm>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/solve/matrices/device_matrix.hpp"

namespace terrane::solve {

namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 28;  // bytes of doubles computed at a time

/// Converts computed entries to the type in which they are stored.
template <class T>
struct Keep {
  View<const double> made;
  View<T> kept;
  TERRANE_FN void operator()(std::size_t i) const { kept[i] = static_cast<T>(made[i]); }
};

/// sums [part][row] = Σ_columns of the part  entry · model.
template <class T>
struct SumColumns {
  View<const T> entries;                                    ///< [held columns][rows]
  View<const double> model;                                 ///< [columns of the parts]
  std::size_t rows, columns, parts, first_part, held_from;  ///< columns, parts: numbers in the whole matrix
  View<double> sums;
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t part = first_part + i / rows, row = i % rows;
    const std::size_t first = first_of_part(columns, parts, part),
                      last = first_of_part(columns, parts, part + 1),
                      begin = first_of_part(columns, parts, first_part);
    const T* entry = entries.data + (first - held_from) * rows + row;
    const double* value = model.data + (first - begin);
    std::size_t left = last - first;
    double sum = 0;
    constexpr int together = 8;  // number of simultaneous loads
    for (; left >= together; left -= together) {
      double seen[together];
      unrolled<together>([&](auto k) { seen[k] = static_cast<double>(entry[k * rows]); });
      unrolled<together>([&](auto k) { sum += seen[k] * value[k]; });
      entry += together * rows;
      value += together;
    }
    for (std::size_t k = 0; k < left; ++k) sum += static_cast<double>(entry[k * rows]) * value[k];
    sums[i] = sum;
  }
};

/// out [column] = Σ_rows  entry · value, or Σ_rows  entry² · value. A group of threads computes a column.
template <class T>
struct SumRows {
  static constexpr int groups_at_once = 32;
  struct Shared {
    double sum[group_threads];
  };
  struct Thread {};
  View<const T> entries;  ///< [columns][rows]
  View<const double> values;
  std::size_t rows;
  bool squares;
  View<double> out;

  TERRANE_FN void begin(Shared&, Thread&, std::size_t, int) const {}
  TERRANE_FN std::size_t steps(std::size_t) const { return 1; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t column, std::size_t, int t) const {
    const T* const entry = entries.data + column * rows;
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(t); i < rows; i += group_threads) {
      const double seen = static_cast<double>(entry[i]);  // the square of an entry may overflow a float
      sum += (squares ? seen * seen : seen) * values[i];
    }
    shared.sum[t] = sum;
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t column, std::size_t, int t) const {
    if (t != 0) return;
    double sum = 0;
    for (const double one : shared.sum) sum += one;
    out[column] = sum;
  }
  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

}  // namespace

template <class T>
DeviceMatrix<T>::DeviceMatrix(Device device, std::size_t rows, std::size_t columns, const Fill& fill,
                              int threads, Progress* progress, ShareOfParts share)
    : rows_(rows), columns_(columns), share_(share), stream_(device, false, threads) {
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  const std::size_t first = first_column(held().first), last = first_column(held().last);
  entries_ = Buffer<T>(device, (last - first) * rows);
  const std::size_t at_once =
      std::clamp<std::size_t>(bytes_at_once / (sizeof(double) * std::max<std::size_t>(rows, 1)), 1,
                              std::max<std::size_t>(last - first, 1));
  Buffer<double> made(device, at_once * rows);
  bar.start("sensitivities", last - first);
  for (std::size_t c = first; c < last; c += at_once) {
    if (bar.cancelled()) throw Cancelled();
    const std::size_t count = std::min(at_once, last - c);
    fill(stream_, c, c + count, {made.view().data, count * rows});
    terrane::for_each(stream_, count * rows,
                      Keep<T>{made.view(), {entries_.view().data + (c - first) * rows, count * rows}});
    stream_.wait();
    bar.advance(count);
  }
  bar.finish();
}

template <class T>
std::size_t DeviceMatrix<T>::parts() const {
  return std::min(columns_, most_parts_on_device);
}

template <class T>
std::size_t DeviceMatrix<T>::first_column(std::size_t part) const {
  return first_of_part(columns_, parts(), part);
}

template <class T>
std::vector<std::uint32_t> DeviceMatrix<T>::columns_of(const Range& parts) const {
  std::vector<std::uint32_t> columns(first_column(parts.last) - first_column(parts.first));
  std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>(first_column(parts.first)));
  return columns;
}

template <class T>
void DeviceMatrix<T>::apply_parts(const Range& wanted, std::span<const double> model,
                                  std::span<double> sums) const {
  const std::size_t first = first_column(wanted.first), count = first_column(wanted.last) - first;
  if (count == 0) return;
  enlarge(stream_, of_columns_, count);
  enlarge(stream_, of_rows_, wanted.size() * rows_);
  of_columns_.upload(stream_, model.subspan(first, count));
  terrane::for_each(stream_, wanted.size() * rows_,
                    SumColumns<T>{entries_.view(), of_columns_.view(), rows_, columns_, parts(), wanted.first,
                                  first_column(held().first), of_rows_.view()});
  of_rows_.download(stream_, sums.first(wanted.size() * rows_));
}

template <class T>
void DeviceMatrix<T>::over_rows(const Range& parts, std::span<const double> values, bool squares,
                                std::span<double> out) const {
  const std::size_t first = first_column(parts.first), count = first_column(parts.last) - first;
  if (count == 0) return;
  enlarge(stream_, of_columns_, count);
  enlarge(stream_, of_rows_, rows_);
  of_rows_.upload(stream_, values);
  terrane::for_each_group(
      stream_, count,
      SumRows<T>{{entries_.view().data + (first - first_column(held().first)) * rows_, count * rows_},
                 of_rows_.view(),
                 rows_,
                 squares,
                 of_columns_.view()});
  of_columns_.download(stream_, out.subspan(first, count));
}

template <class T>
void DeviceMatrix<T>::transpose_parts(const Range& parts, std::span<const double> data,
                                      std::span<double> model) const {
  over_rows(parts, data, false, model);
}

template <class T>
void DeviceMatrix<T>::diagonal_parts(const Range& parts, std::span<const double> weight,
                                     std::span<double> diagonal) const {
  over_rows(parts, weight, true, diagonal);
}

template class DeviceMatrix<double>;
template class DeviceMatrix<float>;

}  // namespace terrane::solve
