// A network of conductances on a grid of points: the 7-point operator of resistivity, heat and pressure.
//
//   (A u)_P = Σ_a [ c_a(P) (u_P − u_{P−e_a}) + c_a(P+e_a) (u_P − u_{P+e_a}) ] + s S_P u_P
//
// c_a(P) ≥ 0 is the conductance between the points P−e_a and P. Points beyond the grid are grounded (u = 0):
// a wall with its conductance kept is a Dirichlet or Robin wall, a wall of conductance 0 a natural (Neumann)
// one. S ≥ 0 is what a point stores or leaks, s ≥ 0 a number. So A is symmetric, an M-matrix, and positive
// definite when anything grounds it.
//
// Axes stand as in arrays: 0 up, 1 north, 2 east; a field has a layer of points around the grid, which stays
// zero.
#pragma once

#include <array>
#include <vector>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane::solve {

inline constexpr int up = 0, north = 1, east = 2;

/// Distances along one axis: spacing[p] is that from point p−1 to point p, p = 0 … n; the first and the last
/// reach from the wall. At a natural end that one means nothing.
struct AxisSpacing {
  std::vector<double> spacing;  ///< [n + 1], any unit that is the same on all axes
  bool natural_low = false, natural_high = false;

  Index points() const { return static_cast<Index>(spacing.size()) - 1; }
};

/// Of all axes, but for what natural ends have. Throws InputError: one is not a length.
double smallest_spacing(const std::array<AxisSpacing, 3>& axes);

/// A field on the points of a grid, with its layer of zeros.
template <class T>
class Field {
 public:
  Field() = default;
  /// Zero everywhere. Throws MemoryError.
  Field(Stream& stream, const IndexBox<3>& points)
      : points_(points), values_(stream.device(), static_cast<std::size_t>(points.grown(1).count())) {
    values_.fill_zero(stream);
  }

  const IndexBox<3>& points() const { return points_; }
  View<T, 3> view() { return values_.view(points_.grown(1)); }
  View<const T, 3> view() const { return values_.view(points_.grown(1)); }
  void fill_zero(Stream& stream) { values_.fill_zero(stream); }

  /// values [points], in the order of the array.
  void upload(Stream& stream, const std::vector<T>& values);
  std::vector<T> download(Stream& stream) const;
  /// values [points with their layer]: conductances, which reach the walls.
  void upload_with_layer(Stream& stream, const std::vector<T>& values) { values_.upload(stream, values); }

 private:
  IndexBox<3> points_;
  Buffer<T> values_;
};

/// The conductances of A, on one device.
template <class T>
struct Network {
  std::array<Field<T>, 3> link;  ///< c_a at the point above the link; index n is the high wall
  Field<T> storage;              ///< S, or empty
  double shift = 0;              ///< s

  const IndexBox<3>& points() const { return link[0].points(); }
};

/// What kernels see of a network.
template <class T>
struct NetworkView {
  View<const T, 3> c[3];
  View<const T, 3> storage;
  T shift = 0;  // 0: there is no storage

  NetworkView() = default;
  explicit NetworkView(const Network<T>& network)
      : c{network.link[0].view(), network.link[1].view(), network.link[2].view()},
        shift(static_cast<T>(network.shift)) {
    if (network.shift != 0) storage = network.storage.view();
  }

  /// The diagonal of A.
  TERRANE_FN T diagonal(Index k, Index j, Index i) const {
    const T sum = c[up](k, j, i) + c[up](k + 1, j, i) + (c[north](k, j, i) + c[north](k, j + 1, i)) +
                  (c[east](k, j, i) + c[east](k, j, i + 1));
    return shift == T(0) ? sum : sum + shift * storage(k, j, i);
  }
  /// (A u)_P
  TERRANE_FN T apply(const View<const T, 3>& u, Index k, Index j, Index i) const {
    const T here = u(k, j, i);
    const T sum =
        c[up](k, j, i) * (here - u(k - 1, j, i)) + c[up](k + 1, j, i) * (here - u(k + 1, j, i)) +
        (c[north](k, j, i) * (here - u(k, j - 1, i)) + c[north](k, j + 1, i) * (here - u(k, j + 1, i))) +
        (c[east](k, j, i) * (here - u(k, j, i - 1)) + c[east](k, j, i + 1) * (here - u(k, j, i + 1)));
    return shift == T(0) ? sum : sum + shift * storage(k, j, i) * here;
  }
};

}  // namespace terrane::solve
