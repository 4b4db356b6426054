#include "terrane/solve/matrices/symmetric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::solve {

namespace {

/// Applies a Givens rotation to two rows of n numbers.
void rotate(double* low, double* high, std::size_t n, double c, double s) {
  for (std::size_t k = 0; k < n; ++k) {
    const double f = high[k];
    high[k] = s * low[k] + c * f;
    low[k] = c * low[k] - s * f;
  }
}

/// Implicit QL with Wilkinson's shift. d [n], the diagonal, becomes the eigenvalues; e [n], the off-diagonal
/// (the last is 0), is overwritten; the rows of z [n, n] are rotated along.
void implicit_ql(std::vector<double>& d, std::vector<double>& e, std::vector<double>& z) {
  const std::size_t n = d.size();
  constexpr int most = 60;
  for (std::size_t l = 0; l < n; ++l)
    for (int iteration = 0;; ++iteration) {
      std::size_t m = l;
      for (; m + 1 < n; ++m) {
        const double scale = std::fabs(d[m]) + std::fabs(d[m + 1]);
        if (std::fabs(e[m]) <= std::numeric_limits<double>::epsilon() * scale) break;
      }
      if (m == l) break;
      if (iteration == most) throw Error("eigenvalues", "the iteration does not converge");
      double g = (d[l + 1] - d[l]) / (2 * e[l]), r = std::hypot(g, 1.0);
      g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      bool underflow = false;
      for (std::size_t i = m; i-- > l;) {
        double f = s * e[i];
        const double b = c * e[i];
        r = std::hypot(f, g);
        e[i + 1] = r;
        if (r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          underflow = true;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(z.data() + i * n, z.data() + (i + 1) * n, n, c, s);
      }
      if (underflow) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
}

Eigen ascending(std::vector<double> d, const std::vector<double>& z) {
  const std::size_t n = d.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return d[a] < d[b]; });
  Eigen eigen{std::vector<double>(n), std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n; ++i) {
    eigen.value[i] = d[order[i]];
    std::copy_n(z.data() + order[i] * n, n, eigen.vector.data() + i * n);
  }
  return eigen;
}

}  // namespace

Eigen eigen_tridiagonal(std::span<const double> diagonal, std::span<const double> beside) {
  const std::size_t n = diagonal.size();
  if (beside.size() + 1 != n && !(n == 0 && beside.empty()))
    throw ShapeError("eigenvalues", "the second diagonal must be one shorter than the first");
  std::vector<double> d(diagonal.begin(), diagonal.end()), e(beside.begin(), beside.end()), z(n * n);
  e.resize(n);
  for (std::size_t i = 0; i < n; ++i) z[i * n + i] = 1;
  implicit_ql(d, e, z);
  return ascending(std::move(d), z);
}

/// A ← H A H with H = I − τ v vᵀ, from the last row to the first: each reflection zeroes the first i − 1
/// entries of row i.
Eigen eigen_symmetric(std::span<const double> matrix, std::size_t n) {
  if (matrix.size() != n * n) throw ShapeError("eigenvalues", "the matrix is not square");
  const auto& kernels = matrix_kernels();
  std::vector<double> a(matrix.begin(), matrix.end());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  std::vector<double> d(n), e(n), v(n), w(n), q(n * n);
  std::vector<std::vector<double>> reflections(n);
  std::vector<double> tau(n);
  for (std::size_t i = n; i-- > 1;) {
    // The reflection that maps the vector a_i0 … a_i,i−1 onto its last component.
    std::copy_n(a.data() + i * n, i, v.data());
    const double last = v[i - 1], length = std::sqrt(kernels.dot(v.data(), v.data(), i));
    const double rest = std::sqrt(kernels.dot(v.data(), v.data(), i - 1));
    if (rest == 0 || length == 0) {
      e[i - 1] = last;
      continue;
    }
    const double image = last > 0 ? -length : length;
    v[i - 1] = last - image;
    e[i - 1] = image;
    tau[i] = 2 / kernels.dot(v.data(), v.data(), i);
    for (std::size_t r = 0; r < i; ++r) w[r] = tau[i] * kernels.dot(a.data() + r * n, v.data(), i);
    const double half = 0.5 * tau[i] * kernels.dot(w.data(), v.data(), i);
    kernels.add(-half, v.data(), w.data(), i);
    for (std::size_t r = 0; r < i; ++r) {
      kernels.add(-v[r], w.data(), a.data() + r * n, i);
      kernels.add(-w[r], v.data(), a.data() + r * n, i);
    }
    reflections[i].assign(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < n; ++i) {
    d[i] = a[i * n + i];
    q[i * n + i] = 1;
  }
  // A = Q T Qᵀ with Q = H_n−1 … H_1. Row i of q is column i of Q; q ← q H for the reflections in reverse
  // order.
  for (std::size_t i = 1; i < n; ++i) {
    if (tau[i] == 0) continue;
    for (std::size_t r = 0; r < i; ++r) {
      double* const row = q.data() + r * n;
      kernels.add(-tau[i] * kernels.dot(row, reflections[i].data(), i), reflections[i].data(), row, i);
    }
  }
  implicit_ql(d, e, q);
  return ascending(std::move(d), q);
}

}  // namespace terrane::solve
