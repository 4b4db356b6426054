// The nodes of a mesh, and the slowness at nodes for a front of first arrivals.
//
//   s = 1/v        slowness of a cell, s/m. Arrival times are defined at the nodes: the corners of the cells
//
// An axis with one cell is flat: nothing varies along it, it has one line of nodes, and distances are
// computed without it.
//
// At a node x, each cell c around it (octant) has its own slowness s_cx, which determines the time of a front
// that arrives through this cell:
//
//   ln s_cx = ln s_c + Σ_k g_k ψ(ln s_k − ln s_c)      ψ(d) = d / (1 + (d/d₀)⁴),  d₀ = 0.1
//
// k: the cells around x; g_k: weights of linear interpolation between their centres (at the sides of the
// mesh, of extrapolation from the two nearest cells). If velocity varies by a few per cent from cell to cell,
// s_cx is the slowness at x to second order; across a jump ψ vanishes, and s_cx = s_c on each side: so waves
// travel along faces with the velocity of the faster side, as head waves do. s_cx is a smooth function of all
// s_k, so that times are differentiable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane::traveltime {

/// Easting, northing, up, m.
using Point = std::array<double, 3>;

/// A function of a difference d of logarithms, and its derivative: either ψ(d), the part of d that counts as
/// a smooth change, or the fraction θ = 1/(1 + (d/d₀)⁴).
struct Smooth {
  double value, slope;
};
inline constexpr double smooth_up_to = 0.1;  ///< d₀: larger changes of ln s from cell to cell count as jumps
Smooth smooth_part(double difference);
inline Smooth smooth_share(double d) {
  const double x = d / smooth_up_to, x3 = x * x * x, below = 1 + x3 * x;
  return {1 / below, -4 * x3 / smooth_up_to / (below * below)};
}

/// Lines of nodes along the axes easting, northing, up.
class Nodes {
 public:
  explicit Nodes(const TensorMesh& mesh);

  bool flat(int axis) const { return lines_[axis_(axis)].size() == 1; }
  std::size_t count(int axis) const { return lines_[axis_(axis)].size(); }
  std::size_t cells(int axis) const { return cells_[axis_(axis)]; }
  double at(int axis, std::size_t n) const { return lines_[axis_(axis)][n]; }
  std::size_t size() const { return count(0) * count(1) * count(2); }
  /// Index distance between neighbouring nodes, or cells, along an axis.
  std::size_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? count(0) : count(0) * count(1); }
  std::size_t cell_stride(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? cells_[0] : cells_[0] * cells_[1];
  }
  std::array<std::size_t, 3> place(std::size_t node) const {
    return {node % count(0), node / count(0) % count(1), node / count(0) / count(1)};
  }
  /// The distance between two points, from their coordinates along axes that are not flat.
  double distance(const Point& a, const Point& b) const;
  /// The two cells along an axis from which the slowness at a node is interpolated, and their weights.
  struct Between {
    std::array<std::size_t, 2> cell{};
    std::array<double, 2> weight{1, 0};
  };
  const Between& between(int axis, std::size_t n) const { return between_[axis_(axis)][n]; }

 private:
  static std::size_t axis_(int axis) { return static_cast<std::size_t>(axis); }
  std::array<std::vector<double>, 3> lines_;
  std::array<std::vector<Between>, 3> between_;
  std::array<std::size_t, 3> cells_{};
};

class Medium {
 public:
  /// velocity: of each cell [up, north, east], m/s. A cell whose velocity is zero, negative or NaN is air,
  /// which waves do not cross.
  Medium(const TensorMesh& mesh, std::span<const double> velocity);

  const Nodes& nodes() const { return nodes_; }
  const TensorMesh& mesh() const { return mesh_; }
  bool rock(std::size_t cell) const { return rock_[cell] != 0; }
  double log_slowness(std::size_t cell) const { return log_[cell]; }
  /// s_cx, the slowness of a cell at one of its corners. corner: bit 1 easting, 2 northing, 4 up, set if the
  /// node is on the upper face of the cell along that axis.
  double slowness(std::size_t cell, std::size_t corner) const { return corners_[8 * cell + corner]; }
  /// The node at a corner of a cell.
  std::size_t node(std::size_t cell, std::size_t corner) const;
  /// Whether cells have a corner with this number; false if the corner is on the upper face of a flat axis.
  bool has_corner(std::size_t corner) const { return (corner & flat_) == 0; }

  /// change(): δ ln s_cx due to changes of ln s of all cells; add_change(): its transpose, which adds
  /// `weight` times ∂ ln s_cx/∂ ln s to the value of each cell.
  double change(std::size_t cell, std::size_t corner, std::span<const double> cells) const;
  void add_change(std::size_t cell, std::size_t corner, double weight, std::span<double> cells) const;

  /// A point in a cell: interpolation weights of the cell's corners.
  struct Place {
    std::size_t cell = 0;
    std::array<double, 8> share{};
  };
  /// Cells of rock that contain the point, several if it lies on faces between them; empty if it lies outside
  /// or in air.
  std::vector<Place> places(const Point& point) const;
  /// Slowness at a point, interpolated from the logarithms at the corners.
  double slowness(const Place& place) const;

 private:
  template <class Use>
  void around(std::size_t cell, std::size_t corner, const Use& use) const;

  TensorMesh mesh_;
  Nodes nodes_;
  std::size_t flat_ = 0;
  std::vector<std::uint8_t> rock_;
  std::vector<double> log_, corners_;
};

}  // namespace terrane::traveltime
