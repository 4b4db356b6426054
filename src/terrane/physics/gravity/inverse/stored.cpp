#include "terrane/physics/gravity/inverse/stored.hpp"

#include <fmt/format.h>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::gravity::inverse {

namespace {

constexpr std::string_view matrix_name = "columns by chunks";

void expect_same(const io::ArrayFileReader& in, const Fingerprint& of) {
  for (const auto& [what, value, is_hash] : of) {
    const auto found = in.notes().find(what);
    if (found != in.notes().end() && found->second == value) continue;
    const std::string differs =
        found == in.notes().end() ? fmt::format("does not tell the {}", what)
        : is_hash                 ? fmt::format("was made for another {}", what)
                  : fmt::format("was made with {} {}, and not {}", what, found->second, value);
    throw InputError(in.name(), fmt::format("this matrix of sensitivities {}", differs),
                     "Remove it, or name another file by inversion.storage_file.");
  }
}

}  // namespace

StoredOperator::StoredOperator(const solve::ColumnSource& source, const std::filesystem::path& file,
                               const Fingerprint& of, int threads, Progress* progress,
                               solve::ShareOfParts share)
    : ChunkedOperator(source.rows(), source.columns(), threads, share) {
  reused_ = std::filesystem::exists(file);
  if (!reused_) make(source, file, of, progress);
  in_ = std::make_unique<io::ArrayFileReader>(file.string());
  expect_same(*in_, of);
  const auto found = in_->arrays().find(matrix_name);
  if (found == in_->arrays().end() || found->second.type != io::ArrayType::float32 ||
      found->second.size != source.rows() * source.columns())
    throw FileError(file.string(), "is damaged: it holds no matrix of this size", "Remove it.");
}

/// Computes several chunks at a time and writes them in order.
void StoredOperator::make(const solve::ColumnSource& source, const std::filesystem::path& file,
                          const Fingerprint& of, Progress* progress) const {
  Progress silent;
  Progress& bar = progress ? *progress : silent;
  bar.start("sensitivities", source.columns());
  io::ArrayFileWriter out(file.string());
  for (const auto& [what, value, is_hash] : of) out.note(what, value);
  const std::size_t shape[] = {source.rows() * source.columns()};
  out.define<float>(matrix_name, shape);
  const auto team = static_cast<std::size_t>(thread_count(threads()));
  for (std::size_t first = 0; first < chunks(); first += team) {
    const std::size_t count = std::min(team, chunks() - first);
    std::vector<std::vector<float>> made(count);
    for_each(count, threads(), [&](std::size_t n) {
      if (bar.cancelled()) throw Cancelled();
      const std::size_t low = first_column(first + n), high = first_column(first + n + 1);
      std::vector<double> entries(source.rows() * (high - low));
      source.make(low, high, entries);
      made[n].assign(entries.begin(), entries.end());
      bar.advance(high - low);
    });
    for (const auto& one : made) out.piece(matrix_name, std::span<const float>(one));
  }
  out.finish();
  bar.finish();
}

solve::ChunkedOperator::Seen StoredOperator::chunk(std::size_t c, Scratch& scratch) const {
  const std::size_t first = first_column(c), width = first_column(c + 1) - first;
  scratch.narrow.resize(rows() * width);
  const std::lock_guard lock(one_at_a_time_);
  in_->read(matrix_name, rows() * first, std::span<float>(scratch.narrow));
  return {nullptr, scratch.narrow.data()};
}

}  // namespace terrane::gravity::inverse
