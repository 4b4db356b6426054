#include "terrane/solve/chunked.hpp"

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrix_kernels.hpp"

namespace terrane::solve {

namespace {

constexpr std::size_t row_block = 64, chunk_bytes = std::size_t{1} << 24;
/// Partial sums of G m that are held at once: chunks × rows, whatever the number of chunks.
constexpr std::size_t group = 64;

}  // namespace

std::size_t chunk_width(std::size_t rows) {
  const std::size_t fitting = chunk_bytes / (sizeof(double) * std::max<std::size_t>(rows, 1)) / 64 * 64;
  return std::clamp<std::size_t>(fitting, 64, 1024);
}

ChunkedOperator::ChunkedOperator(std::size_t rows, std::size_t columns, int threads)
    : rows_(rows), columns_(columns), width_(chunk_width(rows)), threads_(threads) {}

/// Scratch memory lives as long as a task, which does several chunks.
void ChunkedOperator::for_chunks(const std::function<void(std::size_t, const Seen&)>& body) const {
  constexpr std::size_t a_task = 4;
  const std::size_t all = chunks();
  for_each((all + a_task - 1) / a_task, threads_, [&](std::size_t task) {
    Scratch scratch;
    for (std::size_t c = task * a_task; c < std::min((task + 1) * a_task, all); ++c)
      body(c, chunk(c, scratch));
  });
}

template <class T>
void ChunkedOperator::partial(const T* entries, std::size_t width, const double* model, double* parts) const {
  const auto& kernels = matrix_kernels();
  for (std::size_t i = 0; i < rows_; ++i) parts[i] = kernels.dot(entries + i * width, model, width);
}

void ChunkedOperator::apply(std::span<const double> model, std::span<double> data) const {
  expect_shapes(*this, model.size(), data.size());
  // The tree over the chunks, held as sums of groups that are complete: at most `group` rows of partial sums.
  const std::size_t all = chunks(), a_group = std::max<std::size_t>(1, (all + group - 1) / group);
  const std::size_t groups = (all + a_group - 1) / a_group;
  std::vector<double> sums(groups * rows_);
  for_each(groups, threads_, [&](std::size_t g) {
    Scratch scratch;
    std::vector<double> parts(rows_);
    double* const sum = sums.data() + g * rows_;
    for (std::size_t c = g * a_group; c < std::min((g + 1) * a_group, all); ++c) {
      const std::size_t first = first_column(c), width = first_column(c + 1) - first;
      const auto seen = chunk(c, scratch);
      if (seen.wide) partial(seen.wide, width, model.data() + first, parts.data());
      else partial(seen.narrow, width, model.data() + first, parts.data());
      for (std::size_t i = 0; i < rows_; ++i) sum[i] += parts[i];
    }
  });
  for (std::size_t apart = 1; apart < groups; apart *= 2)
    for (std::size_t g = 0; g + apart < groups; g += 2 * apart)
      for (std::size_t i = 0; i < rows_; ++i) sums[g * rows_ + i] += sums[(g + apart) * rows_ + i];
  if (groups == 0) std::fill(data.begin(), data.end(), 0.0);
  else std::copy_n(sums.data(), rows_, data.data());
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

void ChunkedOperator::apply_transpose(std::span<const double> data, std::span<double> model) const {
  expect_shapes(*this, model.size(), data.size());
  for_chunks([&](std::size_t c, const Seen& seen) {
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
      const double entry = static_cast<double>(entries[i * width + j]);  // its square may be no float
      diagonal[j] += weight[i] * entry * entry;
    }
}

void ChunkedOperator::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  expect_shapes(*this, diagonal.size(), weight.size());
  for_chunks([&](std::size_t c, const Seen& seen) {
    const std::size_t first = first_column(c), width = first_column(c + 1) - first;
    if (seen.wide) squares(seen.wide, width, weight.data(), diagonal.data() + first);
    else squares(seen.narrow, width, weight.data(), diagonal.data() + first);
  });
}

template <class T>
DenseOperator<T>::DenseOperator(const ColumnSource& source, int threads, Progress* progress)
    : ChunkedOperator(source.rows(), source.columns(), threads), chunks_(chunks()) {
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  bar.start("sensitivities", source.columns());
  for_each(chunks(), threads, [&](std::size_t c) {
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
  for (std::size_t c = 0; c < chunks(); ++c) {
    const std::size_t first = first_column(c), width = first_column(c + 1) - first;
    std::copy_n(chunks_[c].data() + i * width, width, out.data() + first);
  }
}

template class DenseOperator<double>;
template class DenseOperator<float>;

OnTheFlyOperator::OnTheFlyOperator(std::shared_ptr<const ColumnSource> source, int threads)
    : ChunkedOperator(source->rows(), source->columns(), threads), source_(std::move(source)) {}

ChunkedOperator::Seen OnTheFlyOperator::chunk(std::size_t c, Scratch& scratch) const {
  const std::size_t first = first_column(c), last = first_column(c + 1);
  scratch.wide.resize(rows() * (last - first));
  source_->make(first, last, scratch.wide);
  return {scratch.wide.data(), nullptr};
}

}  // namespace terrane::solve
