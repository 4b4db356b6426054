// NumPy arrays at the door: views where the layout allows, one copy where not.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrane::python {

namespace nb = nanobind;

/// float64 of any strides, read only. The Python layer converts other dtypes and checks dimensions.
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<unsigned char, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The values of a vector: itself when contiguous, otherwise copied into `kept`.
inline std::span<const double> span_of(const Vector& vector, std::vector<double>& kept) {
  const std::size_t n = vector.shape(0);
  if (vector.stride(0) == 1 || n < 2) return {vector.data(), n};
  kept.resize(n);
  const auto step = vector.stride(0);
  for (std::size_t i = 0; i < n; ++i) kept[i] = vector.data()[static_cast<std::int64_t>(i) * step];
  return kept;
}

inline std::vector<double> values_of(const Vector& vector) {
  std::vector<double> kept;
  const auto seen = span_of(vector, kept);
  return {seen.begin(), seen.end()};
}

/// One column of [n, columns]: a view when the matrix is in Fortran order, otherwise copied into `kept`.
inline std::span<const double> column_of(const Matrix& matrix, std::size_t column,
                                         std::vector<double>& kept) {
  const double* start = matrix.data() + static_cast<std::int64_t>(column) * matrix.stride(1);
  const std::size_t n = matrix.shape(0);
  if (matrix.stride(0) == 1 || n < 2) return {start, n};
  kept.resize(n);
  for (std::size_t i = 0; i < n; ++i) kept[i] = start[static_cast<std::int64_t>(i) * matrix.stride(0)];
  return kept;
}

/// A NumPy array that takes over the values.
template <class T = double>
nb::object array_of(std::vector<T> values, std::initializer_list<std::size_t> shape = {}) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  static T nothing = 0;
  T* data = kept->empty() ? &nothing : kept->data();
  if (shape.size() == 0) return nb::cast(nb::ndarray<nb::numpy, T>(data, {kept->size()}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

}  // namespace terrane::python
