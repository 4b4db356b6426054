// The equations of krylov.cpp and their right-hand sides as assembled rows: potentials of direct current at
// nodes, 7 entries a row, real; electric fields along edges, 13 entries, complex. What libraries solve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "support/land.hpp"
#include "terrane/parallel/arrays/view.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electromagnetic/grid/maxwell.hpp"
#include "terrane/solve/networks/conjugate_gradients.hpp"

namespace terrane::benchmarks {

using Z = solve::Complex<double>;

/// Rows that one rank holds: from begin to end; none given: all.
struct Share {
  Index begin = 0, end = -1;
  Index size() const { return end - begin; }
  bool has(Index row) const { return row >= begin && row < end; }
  Share of(Index all) const { return {begin, end < 0 ? all : end}; }
  static Share of_rank(Index all, int rank, int ranks) {
    return {all * rank / ranks, all * (rank + 1) / ranks};
  }
};

/// Rows as they are assembled, all or those from `first` on: `width` slots a row, those without an entry have
/// the value 0 and the row's own column.
template <class T>
struct Rows {
  Index first = 0;
  int count = 0, width = 0;
  std::vector<int> column;  ///< [row][slot]
  std::vector<T> value, diagonal;

  Rows(Share share, int slots) : Rows(static_cast<std::size_t>(share.size()), slots) { first = share.begin; }
  Rows(std::size_t rows, int slots)
      : count(static_cast<int>(rows)),
        width(slots),
        column(rows * static_cast<std::size_t>(slots)),
        value(column.size()),
        diagonal(rows) {}
  std::size_t place(std::size_t row, int slot) const {
    return row * static_cast<std::size_t>(width) + static_cast<std::size_t>(slot);
  }
};

/// The grounded box of krylov.cpp: nodes, [up, north, east]; the rows of `share`, or all.
inline Rows<double> of_nodes(const test::Land& earth, Share share = {}) {
  const auto* sigma = &earth.sigma;
  const auto host = electric::assemble(earth.mesh, {{sigma, sigma, sigma}}, electric::Boundary::grounded, {});
  share = share.of(host.nodes.count());
  Rows<double> rows(share, 7);
  std::array<View<const double, 3>, 3> link;
  for (std::size_t x = 0; x < 3; ++x) link[x] = {host.link[x].data(), host.nodes.grown(1)};
  const Index n[3] = {host.nodes.size(0), host.nodes.size(1), host.nodes.size(2)};
  const Index step[3] = {n[1] * n[2], n[2], 1};
#pragma omp parallel for
  for (Index k = 0; k < n[0]; ++k)
    for (Index j = 0; j < n[1]; ++j)
      for (Index i = 0; i < n[2]; ++i) {
        const Index at[3] = {k, j, i}, row = k * step[0] + j * step[1] + i;
        if (!share.has(row)) continue;
        const auto here = static_cast<std::size_t>(row - share.begin);
        int slot = 0;
        const auto add = [&](Index column, double value) {
          const auto to = rows.place(here, slot++);
          rows.column[to] = static_cast<int>(column);
          rows.value[to] = value;
        };
        double sum = 0;
        for (int x = 0; x < 3; ++x) {
          const auto& c = link[static_cast<std::size_t>(x)];
          const double low = c(k, j, i), high = c(k + (x == 0), j + (x == 1), i + (x == 2));
          sum += low + high;
          add(at[x] > 0 ? row - step[x] : row, at[x] > 0 ? -low : 0);
          add(at[x] + 1 < n[x] ? row + step[x] : row, at[x] + 1 < n[x] ? -high : 0);
        }
        add(row, sum);
        rows.diagonal[here] = sum;
      }
  return rows;
}

/// Interior edges along up, north and east, one axis after the other; those in walls are zero.
struct Edges {
  std::array<Index, 3> cells;
  std::array<std::vector<double>, 3> width, between;  ///< of cells; of centres beside nodes 1 …

  explicit Edges(const TensorMesh& mesh) {
    const std::vector<double>* faces[3] = {&mesh.up(), &mesh.northing(), &mesh.easting()};
    for (std::size_t x = 0; x < 3; ++x) {
      cells[x] = static_cast<Index>(faces[x]->size()) - 1;
      for (std::size_t n = 1; n < faces[x]->size(); ++n)
        width[x].push_back((*faces[x])[n] - (*faces[x])[n - 1]);
      for (std::size_t n = 1; n < width[x].size(); ++n)
        between[x].push_back((width[x][n - 1] + width[x][n]) / 2);
    }
  }
  /// Of the edge along an axis at a place in cells along the axis and nodes across it.
  Index number(int axis, std::array<Index, 3> at) const {
    Index before = 0;
    for (int x = 0; x < axis; ++x) before += count(x);
    return before + (first(axis, 0, at) * size(axis, 1) + first(axis, 1, at)) * size(axis, 2) +
           first(axis, 2, at);
  }
  Index size(int axis, int x) const { return cells[static_cast<std::size_t>(x)] - (x != axis); }
  Index count(int axis) const { return size(axis, 0) * size(axis, 1) * size(axis, 2); }
  Index count() const { return count(0) + count(1) + count(2); }
  bool inside(int axis, std::array<Index, 3> at) const {
    for (int x = 0; x < 3; ++x)
      if (first(axis, x, at) < 0 || first(axis, x, at) >= size(axis, x)) return false;
    return true;
  }

 private:
  static Index first(int axis, int x, std::array<Index, 3> at) {
    return at[static_cast<std::size_t>(x)] - (x != axis);
  }
};

/// Cᵀ M C + iωμ₀ S of the voltages of edges. C sums voltages around faces; M: length of the dual edge over
/// the area of the face; S: conductance of a quarter of each cell beside the edge.
inline Rows<Z> of_edges(const test::Land& earth, double hertz, Share share = {}) {
  const Edges edges(earth.mesh);
  share = share.of(edges.count());
  Rows<Z> rows(share, 13);
  const View<const double, 3> sigma(earth.sigma.data(),
                                    IndexBox<3>{{0, 0, 0}, {edges.cells[0], edges.cells[1], edges.cells[2]}});
  const double rate = 2 * std::numbers::pi * hertz * 4e-7 * std::numbers::pi;
  for (int a = 0; a < 3; ++a)
#pragma omp parallel for
    for (Index k = a != 0; k < edges.cells[0]; ++k)
      for (Index j = a != 1; j < edges.cells[1]; ++j)
        for (Index i = a != 2; i < edges.cells[2]; ++i) {
          const std::array<Index, 3> at{k, j, i};
          const Index number = edges.number(a, at);
          if (!share.has(number)) continue;
          const auto row = static_cast<std::size_t>(number - share.begin);
          const double length = edges.width[static_cast<std::size_t>(a)]
                                           [static_cast<std::size_t>(at[static_cast<std::size_t>(a)])];
          int slot = 0;
          const auto add = [&](int axis, const std::array<Index, 3>& there, double value) {
            const bool inside = edges.inside(axis, there);
            const auto to = rows.place(row, slot++);
            rows.column[to] = static_cast<int>(inside ? edges.number(axis, there) : number);
            rows.value[to] = {inside ? value : 0, 0};
          };
          Z diagonal;
          for (int turn = 1; turn <= 2;
               ++turn) {  // faces that an edge along b closes, beside the edge along b
            const int b = (a + turn) % 3, c = 3 - a - b;
            const auto ub = static_cast<std::size_t>(b), uc = static_cast<std::size_t>(c);
            const double dual = edges.between[uc][static_cast<std::size_t>(at[uc]) - 1];
            for (int side = 0; side < 2; ++side) {
              auto low = at;  // the corner of the face with the least indices
              low[ub] -= 1 - side;
              const double m = dual / (length * edges.width[ub][static_cast<std::size_t>(low[ub])]);
              auto other = at;
              other[ub] += side == 0 ? -1 : 1;
              add(a, other, -m);
              auto far = low;
              far[static_cast<std::size_t>(a)] += 1;  // edges along b, at both ends of ours
              add(b, low, side == 0 ? m : -m);
              add(b, far, side == 0 ? -m : m);
              diagonal.re += m;
              for (int s = 0; s < 2; ++s) {  // quarters beside: half of (b, side) and of (c, s)
                auto cell = low;
                cell[uc] -= 1 - s;
                if (turn == 1)
                  diagonal.im += rate * sigma(cell[0], cell[1], cell[2]) *
                                 edges.width[ub][static_cast<std::size_t>(cell[ub])] *
                                 edges.width[uc][static_cast<std::size_t>(cell[uc])] / (4 * length);
              }
            }
          }
          const auto to = rows.place(row, slot);
          rows.column[to] = static_cast<int>(number);
          rows.value[to] = rows.diagonal[row] = diagonal;
        }
  return rows;
}

/// Two poles under the ground, as krylov.cpp has them; an east edge of the same place.
inline std::vector<double> source_of_nodes(int cells) {
  std::vector<double> b(static_cast<std::size_t>(cells + 1) * static_cast<std::size_t>(cells + 1) *
                        static_cast<std::size_t>(cells + 1));
  const Index side = cells + 1;  // a node at each corner: walls lie half a cell beyond
  const View<double, 3> at(b.data(), IndexBox<3>{{0, 0, 0}, {side, side, side}});
  at(cells / 2 - 2, cells / 2, cells / 2 - 4) = 1;
  at(cells / 2 - 2, cells / 2, cells / 2 + 4) = -1;
  return b;
}
inline std::vector<Z> source_of_edges(const Edges& edges, int cells) {
  std::vector<Z> b(static_cast<std::size_t>(edges.count()));
  b[static_cast<std::size_t>(edges.number(2, {cells / 2 - 1, cells / 2, cells / 2}))] = {0, -1};
  return b;
}

/// Largest difference of potentials from those of Terrane's own operator, over the largest.
inline double difference_from_terrane(const test::Land& earth, int cells, const std::vector<double>& ours) {
  Stream stream(resolve(Device{}), false, 0);
  const auto* sigma = &earth.sigma;
  const auto host = electric::assemble(earth.mesh, {{sigma, sigma, sigma}}, electric::Boundary::grounded, {});
  const auto network = host.on(stream, host.nodes);
  solve::Field<double> right(stream, host.nodes), x(stream, host.nodes);
  right.upload(stream, source_of_nodes(cells));
  const auto diagonal = solve::jacobi(stream, network);
  solve::conjugate_gradients(stream, network, right, x, diagonal,
                             {.relative = 1e-11, .most_iterations = 20'000, .patience = 20'000});
  const auto theirs = x.download(stream);
  double largest = 0, apart = 0;
  for (std::size_t n = 0; n < ours.size(); ++n) {
    largest = std::max(largest, std::abs(theirs[n]));
    apart = std::max(apart, std::abs(theirs[n] - ours[n]));
  }
  return apart / largest;
}

/// The same of voltages along edges at 1 Hz. Terrane's right-hand side has another scale: one number for all.
inline double difference_from_terrane(const test::Land& earth, int cells, const std::vector<Z>& ours) {
  const auto size = [](Z a) { return std::hypot(a.re, a.im); };
  const Edges edges(earth.mesh);
  Stream stream(resolve(Device{}), false, 0);
  const auto* sigma = &earth.sigma;
  electromagnetic::MaxwellSolver<float> solver(stream, earth.mesh, {sigma, sigma, sigma});
  solver.set_frequency(1);
  auto b = solver.vector(), x = solver.vector();
  const auto points = b.e[2].points();
  const auto count = static_cast<std::size_t>(points.count());
  std::vector<double> values(2 * count);
  const View<double, 3> imaginary(values.data() + count, points);
  imaginary(cells / 2 - 2, cells / 2 - 1, cells / 2) = -1;
  b.e[2].upload(stream, values);
  solver.complete(b);
  solver.solve(b, x, {.relative = 1e-11, .most_iterations = 200});
  double largest = 0, apart = 0;
  Z ratio;
  for (int pass = 0; pass < 2; ++pass)
    for (int axis = 2; axis >= 0; --axis) {
      const auto field = solver.gather(x, axis);
      const auto half = field.size() / 2;
      std::size_t n = 0;
      for (Index k = 0; k < edges.size(axis, 0); ++k)
        for (Index j = 0; j < edges.size(axis, 1); ++j)
          for (Index i = 0; i < edges.size(axis, 2); ++i, ++n) {
            const std::array<Index, 3> at{k + (axis != 0), j + (axis != 1), i + (axis != 2)};
            const auto row = static_cast<std::size_t>(edges.number(axis, at));
            const auto a = static_cast<std::size_t>(axis);
            const double length = edges.width[a][static_cast<std::size_t>(at[a])];
            const Z theirs{field[n], field[half + n]}, mine = (1 / length) * ours[row];
            if (pass == 1) {
              apart = std::max(apart, size(theirs - ratio * mine));
            } else if (size(theirs) > largest) {
              largest = size(theirs);
              ratio = theirs / mine;
            }
          }
    }
  return apart / largest;
}

}  // namespace terrane::benchmarks
