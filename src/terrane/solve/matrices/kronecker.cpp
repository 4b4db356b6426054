#include "terrane/solve/matrices/kronecker.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/solve/matrices/kronecker_device.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"
#include "terrane/solve/matrices/symmetric.hpp"

namespace terrane::solve {

namespace {

/// Solves the eigenproblem of one axis (kronecker.hpp): H^(−1/2) L H^(−1/2) = q Λ qᵀ, so that Q = H^(−1/2) q.
void diagonalise(const std::vector<double>& h, std::vector<double>& q, std::vector<double>& lambda) {
  const std::size_t n = h.size();
  std::vector<double> diagonal(n), beside(n > 0 ? n - 1 : 0);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double link = 2 / (h[i] + h[i + 1]);
    diagonal[i] += link;
    diagonal[i + 1] += link;
    beside[i] = -link / std::sqrt(h[i] * h[i + 1]);
  }
  for (std::size_t i = 0; i < n; ++i) diagonal[i] /= h[i];
  auto eigen = eigen_tridiagonal(diagonal, beside);
  lambda = std::move(eigen.value);
  for (double& value : lambda) value = std::max(value, 0.0);
  lambda[0] = 0;  // the eigenvalue of the constant mode
  q.resize(n * n);
  for (std::size_t mode = 0; mode < n; ++mode)
    for (std::size_t i = 0; i < n; ++i) q[i * n + mode] = eigen.vector[mode * n + i] / std::sqrt(h[i]);
}

std::vector<double> transposed(const std::vector<double>& a, std::size_t n) {
  std::vector<double> t(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) t[j * n + i] = a[i * n + j];
  return t;
}

}  // namespace

KroneckerInverse::KroneckerInverse(const std::array<std::vector<double>, 3>& widths,
                                   const std::array<double, 4>& alpha, int threads)
    : alpha_(alpha), threads_(threads) {
  if (!(alpha[0] > 0))
    throw InputError("regulariser", "the weight of smallness is not above zero",
                     "Without it a constant model costs nothing, and there is no inverse.");
  for (std::size_t a = 0; a < 3; ++a) {
    n_[a] = widths[a].size();
    if (n_[a] == 0) throw InputError("regulariser", "there are no cells");
    diagonalise(widths[a], q_[a], lambda_[a]);
    q_transposed_[a] = transposed(q_[a], n_[a]);
  }
}

KroneckerInverse::~KroneckerInverse() = default;
KroneckerInverse::KroneckerInverse(KroneckerInverse&&) noexcept = default;

void KroneckerInverse::move_to(Device device) {
  on_device_ = std::make_unique<KroneckerOnDevice>(device, q_, q_transposed_, lambda_, alpha_, threads_);
}

/// to = (left_z ⊗ left_y ⊗ right_xᵀ) from: along x by multiplication from the right, along y and z from the
/// left. `from` is overwritten.
void KroneckerInverse::contract(const std::array<std::vector<double>, 3>& right,
                                const std::array<std::vector<double>, 3>& left, std::vector<double>& from,
                                std::vector<double>& to) const {
  const auto [nx, ny, nz] = n_;
  const std::size_t plane = nx * ny;
  const auto& kernels = matrix_kernels();
  for_each(nz, threads_, [&, nx = nx, ny = ny](std::size_t k) {
    const double* const layer = from.data() + k * plane;
    std::vector<double> half(plane);
    kernels.multiply(ny, nx, nx, layer, nx, right[0].data(), nx, half.data(), nx);
    kernels.multiply(ny, nx, ny, left[1].data(), ny, half.data(), nx, to.data() + k * plane, nx);
  });
  // Number of points of a plane in a piece; nz such pieces fit in the cache.
  constexpr std::size_t piece = 256;
  for_each((plane + piece - 1) / piece, threads_, [&, nz = nz](std::size_t p) {
    const std::size_t first = p * piece, count = std::min(piece, plane - first);
    kernels.multiply(nz, count, nz, left[2].data(), nz, to.data() + first, plane, from.data() + first, plane);
  });
  std::swap(from, to);
}

void KroneckerInverse::apply(std::span<double> v) const {
  if (v.size() != size()) throw ShapeError("regulariser", "the vector has not one value for each cell");
  if (on_device_) return on_device_->apply(v);
  std::vector<double> a(v.begin(), v.end()), b(size());
  // Multiplies by Qᵀ along every axis: along x from the right by Q, along y and z from the left by Qᵀ.
  contract(q_, q_transposed_, a, b);
  const std::size_t nx = n_[0], ny = n_[1];
  for_each(n_[2], threads_, [&](std::size_t k) {
    for (std::size_t j = 0; j < ny; ++j) {
      const double rest = alpha_[0] + alpha_[2] * lambda_[1][j] + alpha_[3] * lambda_[2][k];
      double* const row = b.data() + (k * ny + j) * nx;
      for (std::size_t i = 0; i < nx; ++i) row[i] /= rest + alpha_[1] * lambda_[0][i];
    }
  });
  contract(q_transposed_, q_, b, a);
  std::copy(a.begin(), a.end(), v.begin());
}

void KroneckerInverse::diagonal(std::span<double> out) const {
  if (out.size() != size()) throw ShapeError("regulariser", "the vector has not one value for each cell");
  std::array<std::vector<double>, 3> squares, squares_transposed;
  for (std::size_t a = 0; a < 3; ++a) {
    squares[a] = q_[a];
    for (double& value : squares[a]) value *= value;
    squares_transposed[a] = transposed(squares[a], n_[a]);
  }
  std::vector<double> modes(size()), made(size());
  const std::size_t nx = n_[0], ny = n_[1];
  for (std::size_t k = 0; k < n_[2]; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i)
        modes[(k * ny + j) * nx + i] = 1 / (alpha_[0] + alpha_[1] * lambda_[0][i] +
                                            alpha_[2] * lambda_[1][j] + alpha_[3] * lambda_[2][k]);
  contract(squares_transposed, squares, modes, made);
  std::copy(made.begin(), made.end(), out.begin());
}

}  // namespace terrane::solve
