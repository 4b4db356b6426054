// Lower bound of the work: 2 M (n_x + n_y + n_z) multiply-adds for M cells, and seven passes over memory. For
// 316 × 316 × 100 = 1e7 cells these are 1.5e10 multiply-adds: 1 ms at 16e12 per second (without tensor
// cores). Each thread computes four values, so that one load serves several multiply-adds.
#include "terrane/parallel/device/launch.hpp"
#include "terrane/solve/matrices/kronecker_device.hpp"

namespace terrane::solve {

namespace {

constexpr std::size_t values_per_thread = 4;

/// Along y or z: out (o, p, i) = Σ_m factor (m, p) in (o, m, i). m, p: indices along the axis; o, i: indices
/// of the axes before and after it in memory, i < stride. A thread computes the values of four p.
struct AlongColumns {
  View<const double> in, factor;
  std::size_t n, stride, fours;  ///< number of groups of four p
  View<double> out;
  TERRANE_FN void operator()(std::size_t thread) const {
    const std::size_t i = thread % stride, four = thread / stride % fours, o = thread / stride / fours,
                      p = four * values_per_thread, begin = o * n * stride + i;
    double sum[values_per_thread] = {};
    if (p + values_per_thread <= n) {
      for (std::size_t m = 0; m < n; ++m) {
        const double value = in[begin + m * stride];
        unrolled<static_cast<int>(values_per_thread)>(
            [&](auto k) { sum[k] += factor[m * n + p + k] * value; });
      }
      unrolled<static_cast<int>(values_per_thread)>([&](auto k) { out[begin + (p + k) * stride] = sum[k]; });
      return;
    }
    for (std::size_t last = p; last < n; ++last) {
      double one = 0;
      for (std::size_t m = 0; m < n; ++m) one += factor[m * n + last] * in[begin + m * stride];
      out[begin + last * stride] = one;
    }
  }
};

/// Along x: out (r, p) = Σ_m factor (m, p) in (r, m). m, p: indices along x; r: row. A thread computes the
/// values of one p in four rows.
struct AlongRows {
  View<const double> in, factor;
  std::size_t n, rows;
  View<double> out;
  TERRANE_FN void operator()(std::size_t thread) const {
    const std::size_t p = thread % n, r = thread / n * values_per_thread;
    if (r + values_per_thread <= rows) {
      double sum[values_per_thread] = {};
      for (std::size_t m = 0; m < n; ++m) {
        const double f = factor[m * n + p];
        unrolled<static_cast<int>(values_per_thread)>([&](auto k) { sum[k] += f * in[(r + k) * n + m]; });
      }
      unrolled<static_cast<int>(values_per_thread)>([&](auto k) { out[(r + k) * n + p] = sum[k]; });
      return;
    }
    for (std::size_t last = r; last < rows; ++last) {
      double one = 0;
      for (std::size_t m = 0; m < n; ++m) one += factor[m * n + p] * in[last * n + m];
      out[last * n + p] = one;
    }
  }
};

/// Divides the coefficient v of each mode by α_s + α_x λ_x + α_y λ_y + α_z λ_z (kronecker.hpp). smallness, x,
/// y, z: these α.
struct DivideModes {
  View<const double> lambda_x, lambda_y, lambda_z;
  double smallness, x, y, z;
  std::size_t nx, ny;
  View<double> v;
  TERRANE_FN void operator()(std::size_t i) const {
    v[i] /= (smallness + y * lambda_y[i / nx % ny] + z * lambda_z[i / nx / ny]) + x * lambda_x[i % nx];
  }
};

}  // namespace

KroneckerOnDevice::KroneckerOnDevice(Device device, const std::array<std::vector<double>, 3>& q,
                                     const std::array<std::vector<double>, 3>& q_transposed,
                                     const std::array<std::vector<double>, 3>& lambda,
                                     const std::array<double, 4>& alpha, int threads)
    : stream_(device, false, threads), alpha_(alpha) {
  std::size_t size = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    n_[a] = lambda[a].size();
    size *= n_[a];
    q_[a] = Buffer<double>(stream_, q[a]);
    q_transposed_[a] = Buffer<double>(stream_, q_transposed[a]);
    lambda_[a] = Buffer<double>(stream_, lambda[a]);
  }
  a_ = Buffer<double>(device, size);
  b_ = Buffer<double>(device, size);
}

/// Multiplies a_ by a factor matrix along every axis.
void KroneckerOnDevice::contract(const std::array<Buffer<double>, 3>& factor) {
  const auto [nx, ny, nz] = n_;
  const auto fours = [](std::size_t n) { return (n + values_per_thread - 1) / values_per_thread; };
  for_each(stream_, fours(ny * nz) * nx, AlongRows{a_.view(), factor[0].view(), nx, ny * nz, b_.view()});
  for_each(stream_, nz * fours(ny) * nx,
           AlongColumns{b_.view(), factor[1].view(), ny, nx, fours(ny), a_.view()});
  for_each(stream_, fours(nz) * nx * ny,
           AlongColumns{a_.view(), factor[2].view(), nz, nx * ny, fours(nz), b_.view()});
  std::swap(a_, b_);
}

void KroneckerOnDevice::apply(std::span<double> v) {
  a_.upload(stream_, v);
  contract(q_);
  for_each(stream_, v.size(),
           DivideModes{lambda_[0].view(), lambda_[1].view(), lambda_[2].view(), alpha_[0], alpha_[1],
                       alpha_[2], alpha_[3], n_[0], n_[1], a_.view()});
  contract(q_transposed_);
  a_.download(stream_, v);
}

}  // namespace terrane::solve
