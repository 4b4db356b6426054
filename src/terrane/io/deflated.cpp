#include "terrane/io/deflated.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <new>
#include <numeric>

#include "terrane/io/hdf5_handle.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/interruptible.hpp"

namespace terrane::io {

namespace {

using Bytes = std::vector<unsigned char>;

std::size_t product(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{1}, std::multiplies<>());
}

/// Consecutive numbers that are stored as one chunk; numbers beyond the end of a dimension are zero.
struct Run {
  const Deflated* of = nullptr;
  hid_t data = -1;
  std::vector<hsize_t> start;  ///< index of the chunk's first number along each dimension
  /// Index of the chunk's first number among all numbers; count of the chunk's numbers, without and with
  /// those beyond the end of a dimension.
  std::size_t first = 0, count = 0, whole = 0;
};

/// Filter 2 (shuffle): the first bytes of all numbers, then their second bytes, and so on.
Bytes shuffled(const Run& run) {
  const auto width = run.of->width;
  const auto* from = static_cast<const unsigned char*>(run.of->numbers) + run.first * width;
  Bytes out(run.whole * width, 0);
  for (std::size_t b = 0; b < width; ++b) {
    auto* const to = out.data() + b * run.whole;
    for (std::size_t n = 0; n < run.count; ++n) to[n] = from[n * width + b];
  }
  return out;
}

/// Filter 1 (deflate). Throws std::bad_alloc.
Bytes deflated(const Bytes& from) {
  auto size = compressBound(from.size());
  Bytes out(size);
  if (compress2(out.data(), &size, from.data(), from.size(), deflate_level) != Z_OK) throw std::bad_alloc();
  out.resize(size);
  return out;
}

/// Whether the data set in the file is defined as store_deflated() requires.
bool is_as_expected(hid_t data, const Deflated& of) {
  const Hdf5Handle made(H5Dget_create_plist(data), H5Pclose), space(H5Dget_space(data), H5Sclose),
      type(H5Dget_type(data), H5Tclose);
  const auto rank = of.shape.size();
  std::vector<hsize_t> shape(rank), chunk(rank);
  if (H5Pget_layout(made) != H5D_CHUNKED || H5Tget_size(type) != of.width || H5Pget_nfilters(made) != 2 ||
      H5Sget_simple_extent_ndims(space) != static_cast<int>(rank))
    return false;
  const auto filter = [&](unsigned n) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    return H5Pget_filter2(made, n, &flags, &values, nullptr, 0, nullptr, &config);
  };
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  H5Pget_chunk(made, static_cast<int>(rank), chunk.data());
  return filter(0) == H5Z_FILTER_SHUFFLE && filter(1) == H5Z_FILTER_DEFLATE &&
         std::equal(shape.begin(), shape.end(), of.shape.begin()) &&
         std::ranges::equal(chunk, chunk_of(of.shape, of.width));
}

/// The chunks of a data set, in the order of its numbers.
void add_runs(hid_t data, const Deflated& of, std::vector<Run>& runs) {
  const auto chunk = chunk_of(of.shape, of.width);
  const auto rank = of.shape.size();
  std::size_t cut = 0;  // the only dimension that is divided into pieces of several entries
  while (cut + 1 < rank && chunk[cut] == 1) ++cut;
  const auto row = product(std::span(of.shape).subspan(cut + 1));
  const auto before = product(std::span(of.shape).first(cut));
  for (std::size_t b = 0; b < before; ++b)
    for (std::size_t at = 0; at < of.shape[cut]; at += chunk[cut]) {
      Run run{&of,
              data,
              std::vector<hsize_t>(rank, 0),
              (b * of.shape[cut] + at) * row,
              std::min(chunk[cut], of.shape[cut] - at) * row,
              chunk[cut] * row};
      run.start[cut] = at;
      for (std::size_t d = cut, left = b; d-- > 0; left /= of.shape[d]) run.start[d] = left % of.shape[d];
      runs.push_back(std::move(run));
    }
}

}  // namespace

std::vector<std::size_t> chunk_of(const std::vector<std::size_t>& shape, std::size_t width) {
  const std::size_t most = (std::size_t{1} << 19) / width;
  std::vector<std::size_t> chunk(shape);
  std::size_t row = product(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (row <= most) return chunk;
    row /= shape[d];
    const auto fit = std::clamp(most / row, std::size_t{1}, shape[d]);
    const auto pieces = (shape[d] + fit - 1) / fit;
    chunk[d] = (shape[d] + pieces - 1) / pieces;
    if (row <= most) return chunk;
  }
  return chunk;
}

bool store_deflated(hid_t file, std::span<const Deflated> all) {
  std::vector<std::unique_ptr<Hdf5Handle>> open;
  std::vector<Run> runs;
  for (const auto& of : all) {
    open.push_back(std::make_unique<Hdf5Handle>(H5Dopen2(file, of.name.c_str(), H5P_DEFAULT), H5Dclose));
    if (!open.back()->valid() || !is_as_expected(*open.back(), of)) return false;
    add_runs(*open.back(), of, runs);
  }
  constexpr std::size_t at_once = 256;  // chunks in memory, at most 128 MiB in total
  std::array<Bytes, at_once> made;
  // Never cancels: no function of the user may be called while the library is locked.
  const Interruptible undisturbed([] { return false; });
  for (std::size_t begin = 0; begin < runs.size(); begin += at_once) {
    const auto count = std::min(at_once, runs.size() - begin);
    for_each(count, 0, [&](std::size_t n) { made[n] = deflated(shuffled(runs[begin + n])); });
    for (std::size_t n = 0; n < count; ++n) {
      const auto& run = runs[begin + n];
      if (H5Dwrite_chunk(run.data, H5P_DEFAULT, 0, run.start.data(), made[n].size(), made[n].data()) < 0)
        return false;
    }
  }
  return std::all_of(open.begin(), open.end(), [](const auto& data) { return data->close(); });
}

}  // namespace terrane::io
