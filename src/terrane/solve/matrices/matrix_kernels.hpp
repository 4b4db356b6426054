// Inner loops of dense matrices, compiled once for each instruction set and chosen when the program runs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace terrane::solve {

struct MatrixKernels {
  /// Σ a_i b_i, summed in double in the order of the lanes.
  double (*dot_double)(const double* a, const double* b, std::size_t n);
  double (*dot_float)(const float* a, const double* b, std::size_t n);
  /// to_i += factor · a_i
  void (*add_double)(double factor, const double* a, double* to, std::size_t n);
  void (*add_float)(double factor, const float* a, double* to, std::size_t n);
  /// C = A B, row by row.  a [m, k], rows lda apart · b [k, n], ldb · c [m, n], ldc, overwritten
  void (*multiply)(std::size_t m, std::size_t n, std::size_t k, const double* a, std::size_t lda,
                   const double* b, std::size_t ldb, double* c, std::size_t ldc);

  double dot(const double* a, const double* b, std::size_t n) const { return dot_double(a, b, n); }
  double dot(const float* a, const double* b, std::size_t n) const { return dot_float(a, b, n); }
  void add(double f, const double* a, double* to, std::size_t n) const { add_double(f, a, to, n); }
  void add(double f, const float* a, double* to, std::size_t n) const { add_float(f, a, to, n); }
};

/// Those of the best instruction set that this build has and this CPU runs (parallel/simd).
const MatrixKernels& matrix_kernels(std::string_view wanted = {});

/// Adds the parts in a binary tree over their numbers, and overwrites them.
double tree_sum(std::span<double> parts);

}  // namespace terrane::solve
