#include "terrane/solve/matrices/chunked.hpp"

#include <algorithm>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/interruptible.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::solve {

namespace {

constexpr std::size_t row_block = 64, chunk_bytes = std::size_t{1} << 24;
constexpr std::size_t most_parts = 64;  // largest number of parts whose sums of G m are stored at a time

}  // namespace

std::size_t chunk_width(std::size_t rows) {
  const std::size_t fitting = chunk_bytes / (sizeof(double) * std::max<std::size_t>(rows, 1)) / 64 * 64;
  return std::clamp<std::size_t>(fitting, 64, 1024);
}

ChunkedOperator::ChunkedOperator(std::size_t rows, std::size_t columns, int threads, ShareOfParts share)
    : rows_(rows),
      columns_(columns),
      width_(chunk_width(rows)),
      chunks_per_part_(std::max<std::size_t>(1, (chunks() + most_parts - 1) / most_parts)),
      threads_(threads),
      share_(share) {}

std::vector<std::uint32_t> ChunkedOperator::columns_of(const Range& parts) const {
  const auto chunks = chunks_of(parts);
  const std::size_t first = first_column(chunks.first), last = first_column(chunks.last);
  std::vector<std::uint32_t> columns(last - first);
  std::iota(columns.begin(), columns.end(), static_cast<std::uint32_t>(first));
  return columns;
}

/// Each task allocates scratch memory once and processes several chunks.
void ChunkedOperator::for_chunks(const Range& parts,
                                 const std::function<void(std::size_t, const Seen&)>& body) const {
  constexpr std::size_t a_task = 4;
  const auto all = chunks_of(parts);
  for_each((all.size() + a_task - 1) / a_task, threads_, [&](std::size_t task) {
    Scratch scratch;
    for (std::size_t c = all.first + task * a_task; c < std::min(all.first + (task + 1) * a_task, all.last);
         ++c) {
      Interruptible::stop_here();
      body(c, chunk(c, scratch));
    }
  });
}

template <class T>
void ChunkedOperator::partial(const T* entries, std::size_t width, const double* model, double* parts) const {
  const auto& kernels = matrix_kernels();
  for (std::size_t i = 0; i < rows_; ++i) parts[i] = kernels.dot(entries + i * width, model, width);
}

void ChunkedOperator::apply_parts(const Range& parts, std::span<const double> model,
                                  std::span<double> sums) const {
  for_each(parts.size(), threads_, [&](std::size_t p) {
    Scratch scratch;
    std::vector<double> found(rows_);
    double* const sum = sums.data() + p * rows_;
    std::fill_n(sum, rows_, 0.0);
    const auto mine = chunks_of({parts.first + p, parts.first + p + 1});
    for (std::size_t c = mine.first; c < mine.last; ++c) {
      Interruptible::stop_here();
      const std::size_t first = first_column(c), width = first_column(c + 1) - first;
      const auto seen = chunk(c, scratch);
      if (seen.wide) partial(seen.wide, width, model.data() + first, found.data());
      else partial(seen.narrow, width, model.data() + first, found.data());
      for (std::size_t i = 0; i < rows_; ++i) sum[i] += found[i];
    }
  });
}

template <class T>
void ChunkedOperator::gather(const T* entries, std::size_t width, const double* data, double* model) const {
  const auto& kernels = matrix_kernels();
  std::vector<double> block(width);
  std::fill_n(model, width, 0.0);
  for (std::size_t first = 0; first < rows_; first += row_block) {
    std::fill(block.begin(), block.end(), 0.0);
    for (std::size_t i = first; i < std::min(first + row_block, rows_); ++i)
      kernels.add(data[i], entries + i * width, block.data(), width);
    for (std::size_t j = 0; j < width; ++j) model[j] += block[j];
  }
}

void ChunkedOperator::transpose_parts(const Range& parts, std::span<const double> data,
                                      std::span<double> model) const {
  for_chunks(parts, [&](std::size_t c, const Seen& seen) {
    const std::size_t first = first_column(c), width = first_column(c + 1) - first;
    if (seen.wide) gather(seen.wide, width, data.data(), model.data() + first);
    else gather(seen.narrow, width, data.data(), model.data() + first);
  });
}

template <class T>
void ChunkedOperator::squares(const T* entries, std::size_t width, const double* weight,
                              double* diagonal) const {
  std::fill_n(diagonal, width, 0.0);
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      // Squares are computed in double precision, because they may overflow single precision.
      const double entry = static_cast<double>(entries[i * width + j]);
      diagonal[j] += weight[i] * entry * entry;
    }
}

void ChunkedOperator::diagonal_parts(const Range& parts, std::span<const double> weight,
                                     std::span<double> diagonal) const {
  for_chunks(parts, [&](std::size_t c, const Seen& seen) {
    const std::size_t first = first_column(c), width = first_column(c + 1) - first;
    if (seen.wide) squares(seen.wide, width, weight.data(), diagonal.data() + first);
    else squares(seen.narrow, width, weight.data(), diagonal.data() + first);
  });
}

template <class T>
DenseOperator<T>::DenseOperator(const ColumnSource& source, int threads, Progress* progress,
                                ShareOfParts share)
    : ChunkedOperator(source.rows(), source.columns(), threads, share), chunks_(chunks()) {
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  const auto mine = chunks_of(held());
  bar.start("sensitivities", first_column(mine.last) - first_column(mine.first));
  for_each(mine.size(), threads, [&](std::size_t n) {
    const std::size_t c = mine.first + n;
    if (bar.cancelled()) throw Cancelled();
    const std::size_t first = first_column(c), last = first_column(c + 1);
    std::vector<double> made(source.rows() * (last - first));
    source.make(first, last, made);
    if constexpr (std::is_same_v<T, double>) chunks_[c] = std::move(made);
    else chunks_[c].assign(made.begin(), made.end());
    bar.advance(last - first);
  });
  bar.finish();
}

template <class T>
ChunkedOperator::Seen DenseOperator<T>::chunk(std::size_t c, Scratch&) const {
  if constexpr (std::is_same_v<T, double>) return {chunks_[c].data(), nullptr};
  else return {nullptr, chunks_[c].data()};
}

template <class T>
void DenseOperator<T>::row(std::size_t i, std::span<double> out) const {
  expect_shapes(*this, out.size(), rows());
  const auto mine = chunks_of(held());
  for (std::size_t c = mine.first; c < mine.last; ++c) {
    const std::size_t first = first_column(c), width = first_column(c + 1) - first;
    std::copy_n(chunks_[c].data() + i * width, width, out.data() + first);
  }
}

template class DenseOperator<double>;
template class DenseOperator<float>;

OnTheFlyOperator::OnTheFlyOperator(std::shared_ptr<const ColumnSource> source, int threads,
                                   ShareOfParts share)
    : ChunkedOperator(source->rows(), source->columns(), threads, share), source_(std::move(source)) {}

ChunkedOperator::Seen OnTheFlyOperator::chunk(std::size_t c, Scratch& scratch) const {
  const std::size_t first = first_column(c), last = first_column(c + 1);
  scratch.wide.resize(rows() * (last - first));
  source_->make(first, last, scratch.wide);
  return {scratch.wide.data(), nullptr};
}

}  // namespace terrane::solve
