// Networks of conductances that tests solve: earths, small.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "terrane/solve/networks/network.hpp"

namespace terrane::solve::earths {

/// A network on the host, [up, north, east], and what the solvers take.
struct Problem {
  Index n[3];  // points
  std::array<std::vector<double>, 3> link;
  std::array<AxisSpacing, 3> spacing;

  IndexBox<3> points() const { return index_box(n[0], n[1], n[2]); }
  std::size_t place(Index k, Index j, Index i) const {
    return static_cast<std::size_t>(((k + 1) * (n[1] + 2) + j + 1) * (n[2] + 2) + i + 1);
  }
  Network<double> on(Stream& stream) const { return on(stream, points()); }
  /// The part that a rank has.
  Network<double> on(Stream& stream, const IndexBox<3>& part) const {
    Network<double> network;
    for (std::size_t a = 0; a < 3; ++a) {
      network.link[a] = link_field<double>(stream, part);
      network.link[a].upload(stream, link[a], points().grown(1));
    }
    return network;
  }
};

/// The nodal operator of div σ grad between grounded walls: c_a of an edge = Σ over its four cells of σ V/(4
/// h_a²). h: cell sizes; σ(k, j, i) of a cell.
template <class Sigma>
Problem nodal(const std::array<std::vector<double>, 3>& h, const Sigma& sigma) {
  Problem problem;
  for (std::size_t a = 0; a < 3; ++a) {
    problem.n[a] = static_cast<Index>(h[a].size()) - 1;
    problem.spacing[a].spacing = h[a];
  }
  for (auto& link : problem.link) link.assign(static_cast<std::size_t>(problem.points().grown(1).count()), 0);
  for (Index k = 0; k <= problem.n[0]; ++k)
    for (Index j = 0; j <= problem.n[1]; ++j)
      for (Index i = 0; i <= problem.n[2]; ++i) {
        const Index cell[3] = {k, j, i};  // between the points cell−1 and cell
        double size[3];
        for (std::size_t a = 0; a < 3; ++a) size[a] = h[a][static_cast<std::size_t>(cell[a])];
        const double quarter = sigma(k, j, i) * size[0] * size[1] * size[2] / 4;
        for (std::size_t a = 0; a < 3; ++a) {
          const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
          for (Index low_b = -1; low_b <= 0; ++low_b)
            for (Index low_c = -1; low_c <= 0; ++low_c) {
              Index p[3] = {k, j, i};
              p[b] += low_b;
              p[c] += low_c;
              if (p[b] < 0 || p[b] >= problem.n[b] || p[c] < 0 || p[c] >= problem.n[c]) continue;
              problem.link[a][problem.place(p[0], p[1], p[2])] += quarter / (size[a] * size[a]);
            }
        }
      }
  return problem;
}

/// `cells` a side of 100 m, a quarter of them at each end growing by `stretch`.
inline std::vector<double> stretched(int cells, double stretch) {
  const int padding = stretch == 1 ? 0 : cells / 4;
  std::vector<double> h;
  for (int p = padding; p >= 1; --p) h.push_back(100 * std::pow(stretch, p));
  for (int p = 0; p < cells - 2 * padding; ++p) h.push_back(100);
  for (int p = 1; p <= padding; ++p) h.push_back(100 * std::pow(stretch, p));
  return h;
}

/// 0.01 S/m under an overburden of 0.05, blocks of 1 and 1e-3, air of 1e-8 above the middle.
inline Problem land(int cells, double stretch) {
  const auto h = stretched(cells, stretch);
  return nodal({h, h, h}, [&](Index k, Index j, Index i) {
    const auto x = i - cells / 2, y = j - cells / 2, z = k - cells / 2;
    if (z >= 0) return 1e-8;
    if (x >= -3 && x < 3 && y >= -3 && y < 3 && z >= -8 && z < -3) return 1.0;
    if (x >= 4 && x < 9 && y >= -6 && y < 6 && z >= -9 && z < -4) return 1e-3;
    return z >= -2 ? 0.05 : 0.01;
  });
}

/// Conductivities that differ from cell to cell by up to five decades.
inline Problem random_earth(std::array<int, 3> cells, double stretch, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> decade(-4, 1);
  return nodal({stretched(cells[0], stretch), stretched(cells[1], stretch), stretched(cells[2], stretch)},
               [&](Index, Index, Index) { return std::pow(10, decade(generator)); });
}

inline std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (auto& value : values) value = normal(generator);
  return values;
}

/// Two poles, ±1 A, one point under the surface.
inline std::vector<double> dipole(const Problem& problem) {
  std::vector<double> b(static_cast<std::size_t>(problem.points().count()), 0.0);
  const Index middle = (problem.n[0] + 1) / 2;
  const View<double, 3> view(b.data(), problem.points());
  view(middle - 2, middle - 1, middle - 5) = 1;
  view(middle - 2, middle - 1, middle + 3) = -1;
  return b;
}

}  // namespace terrane::solve::earths
