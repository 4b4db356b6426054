#include "terrane/solve/matrices/layered.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::solve {

namespace {

/// A square part of a matrix, row by row.
struct Block {
  double* first;
  std::size_t stride;
  Block at(std::size_t row, std::size_t column) const { return {first + row * stride + column, stride}; }
  double& operator()(std::size_t row, std::size_t column) const { return first[row * stride + column]; }
};

/// C = A B, in tiles that do not depend on the number of threads; a tile's columns of B are copied first, so
/// that they stay in the cache.  a [m, k]; b [k, n]
void multiply(std::size_t m, std::size_t n, std::size_t k, Block a, Block b, Block c, int threads) {
  constexpr std::size_t tall = 128, wide = 32;
  const std::size_t down = (m + tall - 1) / tall, across = (n + wide - 1) / wide;
  const auto& kernels = matrix_kernels();
  for_each(down * across, threads, [&](std::size_t tile) {
    const std::size_t row = tile % down * tall, column = tile / down * wide,
                      columns = std::min(wide, n - column);
    std::vector<double> near(k * columns);
    for (std::size_t i = 0; i < k; ++i) std::copy_n(&b(i, column), columns, near.data() + i * columns);
    kernels.multiply(std::min(tall, m - row), columns, k, &a(row, 0), a.stride, near.data(), columns,
                     &c(row, column), c.stride);
  });
}

/// Computes A ← A⁻¹ by elimination, one unknown after the other.
void invert_small(std::size_t n, Block a) {
  for (std::size_t p = 0; p < n; ++p) {
    if (!(a(p, p) > 0)) throw InputError("diagonal of an inverse", "the matrix is not positive definite");
    const double pivot = 1 / a(p, p);
    a(p, p) = 1;
    for (std::size_t j = 0; j < n; ++j) a(p, j) *= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = a(i, p);
      a(i, p) = 0;
      for (std::size_t j = 0; j < n; ++j) a(i, j) -= factor * a(p, j);
    }
  }
}

/// A ← A⁻¹ by halves: with A = (P Q; Qᵀ S), X = P⁻¹ Q and Z = (S − Qᵀ X)⁻¹,
///   A⁻¹ = (P⁻¹ + X Z Xᵀ, −X Z; −Z Xᵀ, Z)
void invert(std::size_t n, Block a, int threads) {
  if (n <= 32) return invert_small(n, a);
  const std::size_t m = n / 2, rest = n - m;
  const Block p = a, q = a.at(0, m), lower = a.at(m, 0), s = a.at(m, m);
  invert(m, p, threads);
  std::vector<double> x(m * rest), other(std::max(m, rest) * rest);
  const Block xb{x.data(), rest};
  multiply(m, rest, m, p, q, xb, threads);
  multiply(rest, rest, m, lower, xb, {other.data(), rest}, threads);
  for (std::size_t i = 0; i < rest; ++i)
    for (std::size_t j = 0; j < rest; ++j) s(i, j) -= other[i * rest + j];
  invert(rest, s, threads);
  multiply(m, rest, rest, xb, s, {other.data(), rest}, threads);  // X Z
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < rest; ++j) lower(j, i) = q(i, j) = -other[i * rest + j];
  std::vector<double> x_transposed(rest * m), more(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < rest; ++j) x_transposed[j * m + i] = x[i * rest + j];
  multiply(m, m, rest, {other.data(), rest}, {x_transposed.data(), m}, {more.data(), m}, threads);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) p(i, j) += more[i * m + j];
}

/// The dense matrix A_k of a layer.
std::vector<double> dense(const LayeredMatrix::Layer& layer) {
  const std::size_t n = layer.diagonal.size();
  std::vector<double> made(n * n);
  for (std::size_t i = 0; i < n; ++i) made[i * n + i] = layer.diagonal[i];
  for (const auto& link : layer.within)
    made[link.first * n + link.second] = made[link.second * n + link.first] = link.value;
  return made;
}

}  // namespace

std::vector<std::vector<double>> diagonal_of_inverse(const LayeredMatrix& matrix, int threads) {
  const auto& layers = matrix.layers;
  // L_k⁻¹ of layered.hpp; the result, layer by layer.
  std::vector<std::vector<double>> inverse, diagonal(layers.size());
  for (std::size_t k = 0; k < layers.size(); ++k) {
    auto l = dense(layers[k]);
    const std::size_t n = layers[k].diagonal.size();
    if (k > 0) {
      const std::size_t below = layers[k - 1].diagonal.size();
      for (const auto& a : layers[k - 1].up)
        for (const auto& b : layers[k - 1].up)
          l[a.second * n + b.second] -= a.value * b.value * inverse[k - 1][a.first * below + b.first];
    }
    invert(n, {l.data(), n}, threads);
    inverse.push_back(std::move(l));
  }
  std::vector<double> above;  // G_(k+1) of layered.hpp
  for (std::size_t k = layers.size(); k-- > 0;) {
    const std::size_t n = layers[k].diagonal.size();
    auto& g = inverse[k];
    if (!above.empty() && !layers[k].up.empty()) {
      const std::size_t next = layers[k + 1].diagonal.size();
      std::vector<double> middle(n * n), half(n * n), whole(n * n);
      for (const auto& a : layers[k].up)
        for (const auto& b : layers[k].up)
          middle[a.first * n + b.first] = a.value * b.value * above[a.second * next + b.second];
      multiply(n, n, n, {g.data(), n}, {middle.data(), n}, {half.data(), n}, threads);
      multiply(n, n, n, {half.data(), n}, {g.data(), n}, {whole.data(), n}, threads);
      for (std::size_t i = 0; i < g.size(); ++i) g[i] += whole[i];
    }
    for (std::size_t i = 0; i < n; ++i) diagonal[k].push_back(g[i * n + i]);
    above = std::move(g);
  }
  return diagonal;
}

/// Memory for L_k⁻¹ of all layers, and for temporary matrices of one layer.
double bytes_of_layers(double layers, double unknowns) { return (layers + 4) * unknowns * unknowns * 8; }

double seconds_of_layers(double layers, double unknowns) {
  // Time of a multiply-add, measured on one core with AVX2.
  constexpr double seconds_per_multiply_add = 0.2e-9;
  return layers * 4 * unknowns * unknowns * unknowns * seconds_per_multiply_add;
}

}  // namespace terrane::solve
