#include "terrane/physics/acoustic/filters.hpp"

#include <algorithm>
#include <cmath>
#include <span>

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

/// Smooths along easting: sums shifted copies of a whole row, continued beyond both ends by the radius.
void smooth_row(std::span<double> row, const std::vector<double>& weights, std::vector<double>& wide) {
  const std::size_t radius = weights.size() / 2;
  wide.assign(radius, row.front());
  wide.insert(wide.end(), row.begin(), row.end());
  wide.insert(wide.end(), radius, row.back());
  std::fill(row.begin(), row.end(), 0.0);
  for (std::size_t m = 0; m < weights.size(); ++m)
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += weights[m] * wide[i + m];
  const double sum = sum_of(weights);
  for (double& value : row) value /= sum;
}

/// Smooths along another axis: sums whole rows of `width` nodes, which are `stride` elements apart in
/// `values`.
void smooth_rows(double* values, Index rows, Index stride, Index width, const std::vector<double>& weights,
                 std::vector<double>& copy) {
  const Index radius = std::ssize(weights) / 2;
  copy.resize(static_cast<std::size_t>(rows * width));
  for (Index n = 0; n < rows; ++n) std::copy_n(values + n * stride, width, copy.data() + n * width);
  const double sum = sum_of(weights);
  for (Index n = 0; n < rows; ++n) {
    double* const row = values + n * stride;
    std::fill_n(row, width, 0.0);
    for (Index m = -radius; m <= radius; ++m) {
      const double weight = weights[static_cast<std::size_t>(m + radius)];
      const double* const from = copy.data() + std::clamp<Index>(n + m, 0, rows - 1) * width;
      for (Index i = 0; i < width; ++i) row[i] += weight * from[i];
    }
    for (Index i = 0; i < width; ++i) row[i] /= sum;
  }
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
  const Index stride[3] = {box.size(1) * box.size(2), box.size(2), 1};
  auto out = filled(image.size(), 0.0);
  for_each(static_cast<std::size_t>(box.size(0)), threads, [&](std::size_t plane) {
    const auto k = static_cast<Index>(plane);
    Index n = k * stride[0];
    for (Index j = 0; j < box.last[1]; ++j)
      for (Index i = 0; i < box.last[2]; ++i, ++n) {
        const Index at[3] = {k, j, i};
        for (int a = 0; a < 3; ++a) {
          if (!grid.there(a)) continue;
          const auto value = [&](Index to) {
            return image[static_cast<std::size_t>(
                n + (std::clamp<Index>(at[a] + to, 0, box.last[a] - 1) - at[a]) * stride[a])];
          };
          const double h = grid.spacing[static_cast<std::size_t>(a)];
          out[static_cast<std::size_t>(n)] += (value(1) - 2 * value(0) + value(-1)) / (h * h);
        }
      }
  });
  return out;
}

}  // namespace terrane::acoustic
