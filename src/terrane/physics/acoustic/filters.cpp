#include "terrane/physics/acoustic/filters.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "terrane/parallel/simd/wide_rows.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::acoustic {

namespace {

/// The weights w_{−radius} … w_radius of the Gaussian.
std::vector<double> gaussian(double spacing, double length) {
  const auto radius = static_cast<Index>(std::ceil(4 * length / spacing));
  std::vector<double> weights;
  for (Index n = -radius; n <= radius; ++n) {
    const double x = static_cast<double>(n) * spacing / length;
    weights.push_back(std::exp(-x * x / 2));
  }
  return weights;
}

double sum_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  return sum;
}

/// out[i] = sum over m of weights[m] from(m)[i], divided by all, for i < Count. The sums stay in registers
/// while m runs: a product reads one number from the cache and writes none.
template <int Count, class From>
inline void weighted_sum_of(double* out, const std::vector<double>& weights, double all, const From& from) {
  double sums[Count];
  for (double& sum : sums) sum = 0;
  for (std::size_t m = 0; m < weights.size(); ++m) {
    const double weight = weights[m];
    const double* const row = from(m);
#pragma omp simd
    for (int i = 0; i < Count; ++i) sums[i] += weight * row[i];
  }
  for (int i = 0; i < Count; ++i) out[i] = sums[i] / all;
}

/// weighted_sum_of() for i < width, divided by the sum of the weights.
template <class From>
inline void weighted_sum(double* out, Index width, const std::vector<double>& weights, const From& from) {
  constexpr int at_once = 16;
  const double all = sum_of(weights);
  Index i = 0;
  const auto from_i = [&](std::size_t m) { return from(m) + i; };
  for (; i + at_once <= width; i += at_once) weighted_sum_of<at_once>(out + i, weights, all, from_i);
  for (; i < width; ++i) weighted_sum_of<1>(out + i, weights, all, from_i);
}

template <class From>
TERRANE_WIDE_ROWS void weighted_sum_of_wide(double* out, Index width, const std::vector<double>& weights,
                                            const From& from) {
  weighted_sum(out, width, weights, from);
}

template <class From>
void weighted_sum_of_rows(double* out, Index width, const std::vector<double>& weights, const From& from) {
  if (detail::has_wide_rows()) weighted_sum_of_wide(out, width, weights, from);
  else weighted_sum(out, width, weights, from);
}

/// Smooths along easting: sums shifted copies of a whole row, continued beyond both ends by the radius.
void smooth_row(std::span<double> row, const std::vector<double>& weights, std::vector<double>& wide) {
  const std::size_t radius = weights.size() / 2;
  wide.assign(radius, row.front());
  wide.insert(wide.end(), row.begin(), row.end());
  wide.insert(wide.end(), radius, row.back());
  weighted_sum_of_rows(row.data(), std::ssize(row), weights, [&](std::size_t m) { return wide.data() + m; });
}

/// Smooths along another axis: sums whole rows of `width` nodes, which are `stride` elements apart in
/// `values`.
void smooth_rows(double* values, Index rows, Index stride, Index width, const std::vector<double>& weights,
                 std::vector<double>& copy) {
  const Index radius = std::ssize(weights) / 2;
  copy.resize(static_cast<std::size_t>(rows * width));
  for (Index n = 0; n < rows; ++n) std::copy_n(values + n * stride, width, copy.data() + n * width);
  for (Index n = 0; n < rows; ++n)
    weighted_sum_of_rows(values + n * stride, width, weights, [&](std::size_t m) {
      return copy.data() + std::clamp<Index>(n + static_cast<Index>(m) - radius, 0, rows - 1) * width;
    });
}

/// Applies a Gaussian filter along one axis.
void smooth_axis(const Grid& grid, std::vector<double>& values, int axis, double length, int threads) {
  const auto weights = gaussian(grid.spacing[static_cast<std::size_t>(axis)], length);
  if (!grid.there(axis) || weights.size() == 1) return;
  const auto box = grid.box();
  const Index planes = box.size(0), rows = box.size(1), width = box.size(2);
  constexpr Index columns = 512;  // columns that are smoothed together along up
  const auto tasks = axis == 0 ? (rows * width + columns - 1) / columns : planes;
  for_each(static_cast<std::size_t>(tasks), threads, [&](std::size_t task) {
    std::vector<double> room;
    const auto t = static_cast<Index>(task);
    if (axis == 0)
      return smooth_rows(values.data() + t * columns, planes, rows * width,
                         std::min(columns, rows * width - t * columns), weights, room);
    double* const plane = values.data() + t * rows * width;
    if (axis == 1) return smooth_rows(plane, rows, width, width, weights, room);
    for (Index j = 0; j < rows; ++j)
      smooth_row({plane + j * width, static_cast<std::size_t>(width)}, weights, room);
  });
}

/// Replaces each value by change(value), on all threads.
template <class Change>
void change_each(std::vector<double>& values, int threads, const Change& change) {
  constexpr std::size_t some = 1 << 16;
  for_each((values.size() + some - 1) / some, threads, [&](std::size_t piece) {
    const auto last = std::min((piece + 1) * some, values.size());
    for (std::size_t n = piece * some; n < last; ++n) values[n] = change(values[n]);
  });
}

}  // namespace

std::vector<double> smoothed(const Grid& grid, std::vector<double> velocity, double length, int threads) {
  auto& values = velocity;
  change_each(values, threads, [](double v) { return 1 / (v * v); });
  for (int axis = 0; axis < 3; ++axis) smooth_axis(grid, values, axis, length, threads);
  change_each(values, threads, [](double m) { return 1 / std::sqrt(m); });
  return std::move(values);
}

std::vector<double> laplacian_of(const Grid& grid, const std::vector<double>& image, int threads) {
  const auto box = grid.box();
  const Index rows = box.size(1), width = box.size(2);
  auto out = filled(image.size(), 0.0);
  for_each(static_cast<std::size_t>(box.size(0) * rows), threads, [&](std::size_t task) {
    const Index k = static_cast<Index>(task) / rows, j = static_cast<Index>(task) % rows;
    const auto row = [&](Index plane, Index of_plane) {  // beyond the grid: its outermost row
      return image.data() + (std::clamp<Index>(plane, 0, box.last[0] - 1) * rows +
                             std::clamp<Index>(of_plane, 0, rows - 1)) *
                                width;
    };
    const double* const here = row(k, j);
    double* const to = out.data() + (k * rows + j) * width;
    const auto add = [&](const double* below, const double* above, Index first, Index last, double h) {
      for (Index i = first; i < last; ++i) to[i] += (above[i] - 2 * here[i] + below[i]) / (h * h);
    };
    if (grid.there(0)) add(row(k - 1, j), row(k + 1, j), 0, width, grid.spacing[0]);
    if (grid.there(1)) add(row(k, j - 1), row(k, j + 1), 0, width, grid.spacing[1]);
    if (!grid.there(2)) return;
    const double h = grid.spacing[2];
    add(here - 1, here + 1, 1, width - 1, h);
    to[0] += (here[std::min<Index>(1, width - 1)] - 2 * here[0] + here[0]) / (h * h);
    if (width > 1) to[width - 1] += (here[width - 1] - 2 * here[width - 1] + here[width - 2]) / (h * h);
  });
  return out;
}

}  // namespace terrane::acoustic
