// Potentials in the middle of cells: the network, beside one of dense matrices; data and their sensitivities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/heap.hpp"
#include "terrane/base/error.hpp"
#include "terrane/physics/electric/cell_potentials.hpp"

namespace terrane::electric::cells_of_tests {
namespace {

constexpr Device processor{Device::Kind::cpu, -1};

using Dense = std::vector<std::vector<double>>;

TensorMesh uneven() { return {{-7, -4, -2, -1, 3, 5}, {-5, -3, 0, 1, 6}, {-9, -4, -2, -0.5}}; }

std::vector<double> random_values(std::size_t n, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> any(low, high);
  std::vector<double> values(n);
  for (double& value : values) value = any(generator);
  return values;
}

std::vector<double> resistivities(const TensorMesh& mesh) {
  auto rho = random_values(mesh.size(), std::log(2), std::log(2000), 3);
  for (double& value : rho) value = std::exp(value);
  return rho;
}

/// Boundaries as SimPEG's have them, and one of each kind.
std::array<Boundaries, 4> all_boundaries() {
  Boundaries grounded(Boundary::grounded), apart(Boundary::mixed);
  grounded(0, true) = Boundary::grounded;
  apart(1, false) = Boundary::insulated;
  apart(2, true) = Boundary::grounded;
  return {Boundaries(), grounded, Boundaries(Boundary::insulated), apart};
}

/// Slow twin: for every two cells, whether they share a face, and what half of each resists there; walls as
/// potentials on faces that are eliminated: current to the face, A (φ − φ_f)/(ρh/2), is current through it,
/// A α φ_f/ρ.
Dense dense_network(const TensorMesh& mesh, const std::vector<double>& rho, const Boundaries& boundary) {
  const std::size_t n = mesh.size();
  Dense k(n, std::vector<double>(n, 0.0));
  const auto middle = [](const std::vector<double>& faces) {
    const std::size_t last = faces.size() - 1;
    return last % 2 == 0 ? faces[last / 2] : (faces[last / 2] + faces[last / 2 + 1]) / 2;
  };
  const double source[3] = {middle(mesh.easting()), middle(mesh.northing()), mesh.up().back()};
  const auto box = [&](std::size_t cell) {
    const Prism p = mesh.prism(cell);
    return std::array<std::array<double, 2>, 3>{{{p.west, p.east}, {p.south, p.north}, {p.bottom, p.top}}};
  };
  const auto bounds = mesh.bounds();
  const std::array<std::array<double, 2>, 3> whole{
      {{bounds.west, bounds.east}, {bounds.south, bounds.north}, {bounds.bottom, bounds.top}}};
  for (std::size_t p = 0; p < n; ++p) {
    const auto here = box(p);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
      const double area = (here[b][1] - here[b][0]) * (here[c][1] - here[c][0]), h = here[a][1] - here[a][0];
      for (std::size_t q = 0; q < n; ++q) {
        const auto there = box(q);
        if (here[b] != there[b] || here[c] != there[c] || here[a][1] != there[a][0]) continue;
        const double g = area / (h * rho[p] / 2 + (there[a][1] - there[a][0]) * rho[q] / 2);
        k[p][p] += g;
        k[q][q] += g;
        k[p][q] -= g;
        k[q][p] -= g;
      }
      for (std::size_t high = 0; high < 2; ++high) {
        if (here[a][high] != whole[a][high]) continue;
        const auto kind = boundary(2 - a, high == 1);
        if (kind == Boundary::insulated) continue;
        const double to_face = area / (rho[p] * h / 2);
        double through = INFINITY;
        if (kind == Boundary::mixed) {
          double apart[3], r = 0;
          for (std::size_t d = 0; d < 3; ++d)
            apart[d] = (d == a ? here[a][high] : (here[d][0] + here[d][1]) / 2) - source[d];
          for (const double d : apart) r += d * d;
          through = area / rho[p] * std::abs(apart[a]) / r;  // cos θ/r
        }
        k[p][p] += 1 / (1 / to_face + 1 / through);
      }
    }
  }
  return k;
}

/// Of links, as a matrix.
Dense dense(const HostNetwork& network) {
  const auto n = static_cast<std::size_t>(network.nodes.count());
  Dense k(n, std::vector<double>(n, 0.0));
  const auto shape = [&](std::size_t a) { return network.nodes.size(static_cast<int>(a)); };
  const auto number = [&](const Index(&at)[3]) {
    return static_cast<std::size_t>((at[0] * shape(1) + at[1]) * shape(2) + at[2]);
  };
  for (std::size_t a = 0; a < 3; ++a) {
    const View<const double, 3> link(network.link[a].data(), network.nodes.grown(1));
    Index at[3];
    for (at[0] = 0; at[0] < shape(0); ++at[0])
      for (at[1] = 0; at[1] < shape(1); ++at[1])
        for (at[2] = 0; at[2] < shape(2); ++at[2]) {
          const auto p = number(at);
          Index low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
          --low[a];
          ++high[a];
          const double below = link(at[0], at[1], at[2]), above = link(high[0], high[1], high[2]);
          k[p][p] += below + above;
          if (low[a] >= 0) k[p][number(low)] -= below;
          if (high[a] < shape(a)) k[p][number(high)] -= above;
        }
  }
  return k;
}

/// Factors a symmetric matrix in place, L Lᵀ; false where it is not positive definite.
bool factor(Dense& k) {
  for (std::size_t i = 0; i < k.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = k[i][j];
      for (std::size_t m = 0; m < j; ++m) sum -= k[i][m] * k[j][m];
      if (i == j && sum <= 1e-12 * k[i][i]) return false;
      k[i][j] = i == j ? std::sqrt(sum) : sum / k[j][j];
    }
  return true;
}

std::vector<double> solve(const Dense& factors, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) b[i] -= factors[i][j] * b[j];
    b[i] /= factors[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) b[i] -= factors[j][i] * b[j];
    b[i] /= factors[i][i];
  }
  return b;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

double times(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

/// Potentials of a mesh, to rounding.
struct Solved {
  Stream stream{processor};
  CellPotentials made;
  solve::SolveReport report;

  Solved(const TensorMesh& mesh, const std::vector<double>& rho, const Boundaries& boundary)
      : made(mesh, rho, {.boundary = boundary, .tolerance = 1e-13}, stream) {}
  std::vector<double> potential(const std::vector<double>& q) { return made.potential(q, report); }
};

TEST(CellCentredNetwork, IsThatOfEveryTwoCellsWithAFace) {
  const auto mesh = uneven();
  const auto rho = resistivities(mesh);
  for (const auto& boundary : all_boundaries()) {
    const auto fast = dense(CellScheme(mesh, rho, boundary).network());
    const auto slow = dense_network(mesh, rho, boundary);
    for (std::size_t p = 0; p < slow.size(); ++p)
      for (std::size_t q = 0; q < slow.size(); ++q)
        EXPECT_NEAR(fast[p][q], slow[p][q], 1e-14 * slow[p][p]) << p << " " << q;
  }
}

TEST(CellCentredNetwork, IsSymmetricAndPositiveDefiniteUnlessNothingGroundsIt) {
  const auto mesh = uneven();
  const auto rho = resistivities(mesh);
  for (const auto& boundary : all_boundaries()) {
    auto k = dense(CellScheme(mesh, rho, boundary).network());
    for (std::size_t p = 0; p < k.size(); ++p)
      for (std::size_t q = 0; q < p; ++q) EXPECT_EQ(k[p][q], k[q][p]);
    EXPECT_EQ(factor(k), !boundary.closed());
  }
}

TEST(CellPotentials, AreThoseOfADenseMatrix) {
  const auto mesh = uneven();
  const auto rho = resistivities(mesh);
  const auto currents = random_values(mesh.size(), -1, 1, 5);
  for (const auto& boundary : all_boundaries()) {
    auto k = dense_network(mesh, rho, boundary);
    auto b = currents;
    if (boundary.closed()) {  // the first row says φ₀ = 0; no other is asked for the column
      for (auto& row : k) row[0] = 0;
      k[0].assign(mesh.size(), 0.0);
      k[0][0] = 1;
      b[0] = 0;
    }
    ASSERT_TRUE(factor(k));
    const auto expected = solve(k, b);
    Solved solved(mesh, rho, boundary);
    const auto phi = solved.potential(currents);
    EXPECT_TRUE(solved.report.converged()) << solved.report.text();
    for (std::size_t c = 0; c < phi.size(); ++c)
      EXPECT_NEAR(phi[c], expected[c], 1e-10 * largest(expected)) << c;
  }
}

TEST(CellPotentials, FallFromAPoleInAHalfSpaceAsOneOverTheDistance) {
  std::vector<double> side, down;
  double at = 0, step = 2;
  for (int n = 0; n <= 26; ++n, at += step, step *= n > 10 ? 1.3 : 1) side.push_back(at);
  down.assign(side.rbegin(), side.rend());
  for (double& value : down) value = -value;
  auto both = down;
  both.insert(both.end(), side.begin() + 1, side.end());
  const TensorMesh mesh(both, both, down);
  const std::size_t i = mesh.n_east() / 2, top = mesh.n_up() - 1;
  std::vector<double> current(mesh.size(), 0.0);
  current[mesh.index(i, i, top)] = 1;
  Solved solved(mesh, std::vector<double>(mesh.size(), 100.0), {});
  const auto phi = solved.potential(current);
  for (const std::size_t n : {4, 6, 8}) {
    // In the middle of cells: source and image are one half cell below and above the ground.
    const double r = 2.0 * static_cast<double>(n);
    const double exact = 100 / (4 * std::numbers::pi) * (1 / r + 1 / std::hypot(r, 2));
    EXPECT_NEAR(phi[mesh.index(i + n, i, top)], exact, 0.03 * exact) << n;
  }
}

TEST(CellPotentials, ProductsWithTheSensitivityAreEachOthersTransposes) {
  const auto mesh = uneven();
  const auto rho = resistivities(mesh);
  const auto q = random_values(mesh.size(), -1, 1, 5), lambda = random_values(mesh.size(), -1, 1, 6),
             v = random_values(mesh.size(), -1, 1, 7);
  for (const auto& boundary : all_boundaries()) {
    Solved solved(mesh, rho, boundary);
    auto w = lambda;
    if (boundary.closed()) w[0] = 0;  // there the potential is given
    const auto phi = solved.potential(q);
    std::vector<double> slope(mesh.size(), 0.0);
    solved.made.add_slope(phi, solved.potential(w), slope);
    const double forth = times(w, solved.made.change(phi, v, solved.report)), back = times(v, slope);
    EXPECT_NEAR(forth, back, 1e-10 * std::sqrt(times(v, v) * times(slope, slope)));
  }
}

TEST(CellPotentials, ChangeAsTheirSensitivitySays) {
  const auto mesh = uneven();
  const auto rho = resistivities(mesh), q = random_values(mesh.size(), -1, 1, 5);
  for (const auto& boundary : all_boundaries()) {
    Solved solved(mesh, rho, boundary);
    const auto phi = solved.potential(q);
    auto v = random_values(mesh.size(), -1, 1, 7);
    for (std::size_t c = 0; c < v.size(); ++c) v[c] *= rho[c];
    const auto slope = solved.made.change(phi, v, solved.report);
    double left[2] = {};
    for (int half = 0; half < 2; ++half) {  // what a straight line leaves falls with the square of the step
      const double t = half == 0 ? 1e-2 : 5e-3;
      auto moved = rho;
      for (std::size_t c = 0; c < v.size(); ++c) moved[c] += t * v[c];
      const auto there = Solved(mesh, moved, boundary).potential(q);
      for (std::size_t c = 0; c < v.size(); ++c) left[half] += std::pow(there[c] - phi[c] - t * slope[c], 2);
    }
    EXPECT_NEAR(std::sqrt(left[0] / left[1]), 4, 0.1);
    EXPECT_GT(left[0], 0);
  }
}

TEST(CellPotentials, OfALayerOfOneCellAreFoundToo) {
  const TensorMesh mesh({0, 1, 3}, {0, 2, 3}, {-1, 0});
  Boundaries grounded(Boundary::grounded);
  Solved solved(mesh, {1, 2, 3, 4}, grounded);
  auto k = dense_network(mesh, {1, 2, 3, 4}, grounded);
  ASSERT_TRUE(factor(k));
  const auto expected = solve(k, {1, 0, 0, -1}), phi = solved.potential({1, 0, 0, -1});
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(phi[c], expected[c], 1e-11);
}

template <class Error>
std::string message(const std::vector<double>& rho, const Boundaries& boundary,
                    const MemoryBudget& budget = {}) {
  Stream stream(processor);
  try {
    CellPotentials(uneven(), rho, {.boundary = boundary}, stream, 3, budget);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(CellPotentials, SayWhatIsWrong) {
  using testing::HasSubstr;
  auto rho = resistivities(uneven());
  auto open = Boundaries();
  open(0, true) = Boundary::mixed;
  EXPECT_THAT(message<InputError>(rho, open), HasSubstr("the top is mixed"));
  EXPECT_THAT(message<ShapeError>({1, 2}, {}), HasSubstr("2 values for a mesh of 60 cells"));
  EXPECT_THAT(message<MemoryError>(rho, {}, {1000}), HasSubstr("3 potentials in 60 cells"));
  rho[7] = 0;
  EXPECT_THAT(message<InputError>(rho, {}), HasSubstr("0 ohm m in cell east 3, north 2, up 1"));
}

#ifdef TERRANE_HEAP_IS_COUNTED
TEST(CellPotentials, TakeNoMoreMemoryThanIsForeseen) {
  std::vector<double> faces;
  for (int n = 0; n <= 64; ++n) faces.push_back(n);
  const TensorMesh mesh(faces, faces, faces);
  const auto cells = static_cast<double>(mesh.size());
  const double held = test::most_bytes([&] {
    Stream stream(processor);
    std::vector<double> q(mesh.size(), 0.0);
    q[5] = 1;
    CellPotentials made(mesh, std::vector<double>(mesh.size(), 10.0), {}, stream, 1);
    solve::SolveReport report;
    const auto phi = made.potential(q, report);
    made.change(phi, q, report);
  });
  if (held <= 0) GTEST_SKIP() << "this build has another heap";
  RecordProperty("bytes_per_cell", static_cast<int>(held / cells));
  EXPECT_LT(held, bytes_of_cell_potentials(cells, 1)) << held / cells;
  EXPECT_GT(held, 0.6 * bytes_of_cell_potentials(cells, 1)) << held / cells;
}
#endif

}  // namespace
}  // namespace terrane::electric::cells_of_tests
