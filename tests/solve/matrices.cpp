// Inner loops, eigenvalues and the exact inverse of the operator of smallness and flatness, beside plain
// sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/worse.hpp"
#include "terrane/base/error.hpp"
#include "terrane/solve/matrices/chunked.hpp"
#include "terrane/solve/matrices/kronecker.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"
#include "terrane/solve/matrices/symmetric.hpp"

namespace terrane::solve {
namespace {

std::vector<double> random_values(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  for (double& v : values) v = uniform(random);
  return values;
}

TEST(MatrixKernels, ProductIsTheSumOfProductsOnOddSizes) {
  const auto& kernels = matrix_kernels();
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{1, 1, 1}, {3, 5, 7}, {4, 16, 9}, {13, 37, 21}, {8, 64, 1}}) {
    const auto a = random_values(m * k, 2), b = random_values(k * n, 3);
    std::vector<double> c(m * n, 99);
    kernels.multiply(m, n, k, a.data(), k, b.data(), n, c.data(), n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
        EXPECT_NEAR(c[i * n + j], sum, 1e-14 * static_cast<double>(k));
      }
  }
}

TEST(MatrixKernels, DotAndAddTakeEveryLength) {
  const auto& kernels = matrix_kernels();
  for (std::size_t n = 0; n < 70; ++n) {
    const auto a = random_values(n, 4), b = random_values(n, 5);
    const std::vector<float> narrow(a.begin(), a.end());
    double sum = 0, narrow_sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += a[i] * b[i];
      narrow_sum += static_cast<double>(narrow[i]) * b[i];
    }
    EXPECT_NEAR(kernels.dot(a.data(), b.data(), n), sum, 1e-14);
    EXPECT_NEAR(kernels.dot(narrow.data(), b.data(), n), narrow_sum, 1e-14);
    auto to = b;
    kernels.add(0.5, narrow.data(), to.data(), n);
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(to[i], b[i] + 0.5 * static_cast<double>(narrow[i]), 1e-15);
  }
}

TEST(Eigen, VectorsTurnASymmetricMatrixIntoItsValues) {
  for (const std::size_t n : {1U, 2U, 3U, 17U, 60U}) {
    auto a = random_values(n * n, 6);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) a[j * n + i] = a[i * n + j];
    const auto eigen = eigen_symmetric(a, n);
    EXPECT_TRUE(std::is_sorted(eigen.value.begin(), eigen.value.end()));
    for (std::size_t e = 0; e < n; ++e)
      for (std::size_t i = 0; i < n; ++i) {
        double av = 0, vv = 0;
        for (std::size_t j = 0; j < n; ++j) {
          av += a[i * n + j] * eigen.vector[e * n + j];
          vv += eigen.vector[e * n + j] * eigen.vector[i * n + j];
        }
        EXPECT_NEAR(av, eigen.value[e] * eigen.vector[e * n + i], 1e-13 * static_cast<double>(n));
        EXPECT_NEAR(vv, e == i ? 1 : 0, 1e-13 * static_cast<double>(n));
      }
  }
}

TEST(Eigen, ValuesOfASecondDifferenceAreThoseOfTheCosines) {
  const std::size_t n = 40;
  std::vector<double> d(n, 2), e(n - 1, -1);
  d.front() = d.back() = 1;
  const auto eigen = eigen_tridiagonal(d, e);
  for (std::size_t k = 0; k < n; ++k)
    EXPECT_NEAR(eigen.value[k], 2 - 2 * std::cos(3.14159265358979323846 * static_cast<double>(k) / n), 1e-14);
}

TEST(Eigen, AMatrixWithNaNIsRefusedAndNotIteratedForEver) {
  const std::vector<double> bad{1, NAN, NAN, 1};
  EXPECT_THROW(eigen_symmetric(bad, 2), Error);
}

TEST(KroneckerInverse, UndoesSmallnessAndFlatnessOnAGradedMesh) {
  std::array<std::vector<double>, 3> h;
  const std::array<std::size_t, 3> n{14, 11, 8};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t i = 0; i < n[a]; ++i)
      h[a].push_back(10 *
                     std::pow(1.2 + 0.1 * static_cast<double>(a), std::fabs(static_cast<double>(i) - 5)));
  const std::array<double, 4> alpha{1, 300, 500, 90};
  const KroneckerInverse inverse(h, alpha);
  const auto v = random_values(inverse.size(), 7);
  auto x = v;
  inverse.apply(x);
  // R₀ x, cell by cell.
  const auto at = [&](std::size_t i, std::size_t j, std::size_t k) { return i + n[0] * (j + n[1] * k); };
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < n[2]; ++k)
    for (std::size_t j = 0; j < n[1]; ++j)
      for (std::size_t i = 0; i < n[0]; ++i) {
        const std::array<std::size_t, 3> here{i, j, k};
        double sum = alpha[0] * h[0][i] * h[1][j] * h[2][k] * x[at(i, j, k)];
        for (std::size_t a = 0; a < 3; ++a) {
          const double area = h[(a + 1) % 3][here[(a + 1) % 3]] * h[(a + 2) % 3][here[(a + 2) % 3]];
          for (const int side : {-1, 1}) {
            auto there = here;
            if ((side < 0 && here[a] == 0) || (side > 0 && here[a] + 1 == n[a])) continue;
            there[a] = here[a] + static_cast<std::size_t>(side);
            sum += alpha[a + 1] * area * 2 / (h[a][here[a]] + h[a][there[a]]) *
                   (x[at(i, j, k)] - x[at(there[0], there[1], there[2])]);
          }
        }
        worst = worse(worst, std::fabs(sum - v[at(i, j, k)]));
        largest = std::max(largest, std::fabs(v[at(i, j, k)]));
      }
  EXPECT_LT(worst, 1e-12 * largest);  // 4e-14 measured

  std::vector<double> diagonal(inverse.size());
  inverse.diagonal(diagonal);
  for (const std::size_t cell : {std::size_t{0}, at(5, 6, 3), inverse.size() - 1}) {
    std::vector<double> one(inverse.size());
    one[cell] = 1;
    inverse.apply(one);
    EXPECT_NEAR(diagonal[cell], one[cell], 1e-13 * one[cell]);
  }
}

TEST(KroneckerInverse, WithoutSmallnessThereIsNone) {
  EXPECT_THROW(KroneckerInverse({{{1}, {1}, {1}}}, {0, 1, 1, 1}), InputError);
}

/// Entries that are known anywhere.
class Known final : public ColumnSource {
 public:
  Known(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  static double entry(std::size_t i, std::size_t j) {
    return std::sin(0.37 * static_cast<double>(i) + 0.0031 * static_cast<double>(j * j % 1009));
  }
  void make(std::size_t first, std::size_t last, std::span<double> out) const override {
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = first; j < last; ++j) out[i * (last - first) + j - first] = entry(i, j);
  }

 private:
  std::size_t rows_, columns_;
};

TEST(ChunkedOperator, EveryStorageGivesTheProductsOfThePlainMatrix) {
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{7, 5}, {131, 2600}, {1, 64}, {200, 1}}) {
    const auto source = std::make_shared<Known>(rows, columns);
    const DenseOperator<double> wide(*source);
    const DenseOperator<float> narrow(*source);
    const OnTheFlyOperator fly(source);
    const auto m = random_values(columns, 8), d = random_values(rows, 9);
    std::vector<double> w(rows, 0.3);
    for (const auto& [g, tolerance] :
         {std::pair<const LinearOperator*, double>{&wide, 1e-13}, {&narrow, 3e-7}, {&fly, 1e-13}}) {
      std::vector<double> forward(rows), back(columns), diagonal(columns), row(columns);
      g->apply(m, forward);
      g->apply_transpose(d, back);
      g->weighted_diagonal(w, diagonal);
      g->row(rows / 2, row);
      for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < columns; ++j) sum += Known::entry(i, j) * m[j];
        EXPECT_NEAR(forward[i], sum, tolerance * static_cast<double>(columns));
      }
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < rows; ++i) {
          sum += Known::entry(i, j) * d[i];
          squares += w[i] * Known::entry(i, j) * Known::entry(i, j);
        }
        EXPECT_NEAR(back[j], sum, tolerance * static_cast<double>(rows));
        EXPECT_NEAR(diagonal[j], squares, tolerance * static_cast<double>(rows));
        EXPECT_NEAR(row[j], Known::entry(rows / 2, j), tolerance);
      }
      EXPECT_LT(dot_product_test(*g, m, d), 1e-14);  // 1e-16 measured
    }
  }
}

TEST(ChunkedOperator, ProductsHaveTheSameBitsForAnyNumberOfThreads) {
  const Known source(90, 5000);
  const auto m = random_values(5000, 10), d = random_values(90, 11);
  std::vector<std::vector<double>> forward, back;
  for (const int threads : {1, 2, 3, 5}) {
    const DenseOperator<float> g(source, threads);
    g.apply(m, forward.emplace_back(90));
    g.apply_transpose(d, back.emplace_back(5000));
  }
  for (std::size_t t = 1; t < forward.size(); ++t) {
    EXPECT_EQ(forward[t], forward[0]);
    EXPECT_EQ(back[t], back[0]);
  }
  EXPECT_EQ(dot(m, m, 1), dot(m, m, 3));
}

TEST(ChunkedOperator, SquaresOfSmallEntriesDoNotVanishInSinglePrecision) {
  class Small final : public ColumnSource {
   public:
    std::size_t rows() const override { return 3; }
    std::size_t columns() const override { return 2; }
    void make(std::size_t first, std::size_t last, std::span<double> out) const override {
      std::fill_n(out.data(), 3 * (last - first), 1e-24);
    }
  };
  const DenseOperator<float> g{Small()};
  const std::vector<double> w(3, 1.0);
  std::vector<double> diagonal(2);
  g.weighted_diagonal(w, diagonal);
  EXPECT_NEAR(diagonal[1], 3e-48, 1e-54);
}

TEST(ChunkedOperator, RefusesVectorsOfAnotherLength) {
  const DenseOperator<double> g{Known(3, 4)};
  std::vector<double> three(3), four(4);
  EXPECT_THROW(g.apply(three, three), ShapeError);
  EXPECT_THROW(g.apply_transpose(four, four), ShapeError);
}

}  // namespace
}  // namespace terrane::solve
