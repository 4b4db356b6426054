// The loops of matrix_kernels.hpp, included once for each instruction set by files made from
// matrix_kernels.cpp.in.
//
// multiply() holds a tile of 4 rows and 2 packs (SIMD registers) of C in registers: per step of k it loads 2
// packs of B and 4 numbers of A for 8 fused multiplications, so B comes from the cache once for every 4 rows.
#pragma once

#include "terrane/math/pack.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

#ifndef TERRANE_SIMD_TARGET
#define TERRANE_SIMD_TARGET this_file
#endif

namespace terrane::solve::TERRANE_SIMD_TARGET {

inline constexpr std::size_t lanes = Pack::size();

template <class T>
Pack load(const T* at) {
  return Pack(at, element_aligned);
}

/// The sum is kept in four packs, so that additions do not wait for each other; at the end these are added in
/// a fixed order.
template <class T>
double dot(const T* a, const double* b, std::size_t n) {
  Pack sum[4] = {Pack(0), Pack(0), Pack(0), Pack(0)};
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (std::size_t s = 0; s < 4; ++s) sum[s] += load(a + i + s * lanes) * load(b + i + s * lanes);
  for (; i + lanes <= n; i += lanes) sum[0] += load(a + i) * load(b + i);
  const Pack all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double total = 0;
  for (std::size_t l = 0; l < lanes; ++l) total += all[l];
  for (; i < n; ++i) total += static_cast<double>(a[i]) * b[i];
  return total;
}

template <class T>
void add(double factor, const T* a, double* to, std::size_t n) {
  const Pack f(factor);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) (load(to + i) + f * load(a + i)).copy_to(to + i, element_aligned);
  for (; i < n; ++i) to[i] += factor * static_cast<double>(a[i]);
}

/// Computes a tile of C with `rows` rows and `packs` packs per row.
template <std::size_t rows, std::size_t packs>
void tile(std::size_t k, const double* a, std::size_t lda, const double* b, std::size_t ldb, double* c,
          std::size_t ldc) {
  Pack sum[rows][packs];
  for (auto& row : sum)
    for (auto& s : row) s = Pack(0);
  for (std::size_t p = 0; p < k; ++p) {
    Pack right[packs];
    for (std::size_t q = 0; q < packs; ++q) right[q] = load(b + p * ldb + q * lanes);
    for (std::size_t r = 0; r < rows; ++r) {
      const Pack left(a[r * lda + p]);
      for (std::size_t q = 0; q < packs; ++q) sum[r][q] += left * right[q];
    }
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t q = 0; q < packs; ++q) sum[r][q].copy_to(c + r * ldc + q * lanes, element_aligned);
}

template <std::size_t rows>
void rows_of(std::size_t n, std::size_t k, const double* a, std::size_t lda, const double* b, std::size_t ldb,
             double* c, std::size_t ldc) {
  std::size_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) tile<rows, 2>(k, a, lda, b + j, ldb, c + j, ldc);
  for (; j + lanes <= n; j += lanes) tile<rows, 1>(k, a, lda, b + j, ldb, c + j, ldc);
  for (; j < n; ++j)
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p) sum += a[r * lda + p] * b[p * ldb + j];
      c[r * ldc + j] = sum;
    }
}

inline void multiply(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
                     const double* b, std::size_t ldb, double* c, std::size_t ldc) {
  std::size_t i = 0;
  for (; i + 4 <= m; i += 4) rows_of<4>(n, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
  for (; i < m; ++i) rows_of<1>(n, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

inline constexpr MatrixKernels kernels{dot<double>, dot<float>, add<double>, add<float>, multiply};

}  // namespace terrane::solve::TERRANE_SIMD_TARGET
