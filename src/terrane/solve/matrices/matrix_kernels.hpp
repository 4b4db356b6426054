// Inner loops of dense matrices, compiled once for each instruction set and chosen when the program runs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace terrane::solve {

struct MatrixKernels {
  /// Σ a_i b_i, summed in double precision in an order fixed by the SIMD lanes.
  double (*dot_double)(const double* a, const double* b, std::size_t n);
  double (*dot_float)(const float* a, const double* b, std::size_t n);
  /// to_i += factor · a_i
  void (*add_double)(double factor, const double* a, double* to, std::size_t n);
  void (*add_float)(double factor, const float* a, double* to, std::size_t n);
  /// C = A B, row by row.  a [m, k], b [k, n], c [m, n], overwritten; lda, ldb, ldc: distances between rows
  void (*multiply)(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
                   const double* b, std::size_t ldb, double* c, std::size_t ldc);

  double dot(const double* a, const double* b, std::size_t n) const { return dot_double(a, b, n); }
  double dot(const float* a, const double* b, std::size_t n) const { return dot_float(a, b, n); }
  void add(double f, const double* a, double* to, std::size_t n) const { add_double(f, a, to, n); }
  void add(double f, const float* a, double* to, std::size_t n) const { add_float(f, a, to, n); }
};

/// The kernels for the best instruction set that this build has and this CPU supports (parallel/simd), or for
/// `wanted`.
const MatrixKernels& matrix_kernels(std::string_view wanted = {});

/// The sum of the parts, added in a binary tree over their indices. The parts are overwritten.
double tree_sum(std::span<double> parts);

}  // namespace terrane::solve
