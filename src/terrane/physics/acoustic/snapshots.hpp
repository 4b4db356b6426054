// Snapshots of a shot's wave: which nodes they show, and when.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "terrane/physics/acoustic/problem.hpp"

namespace terrane::acoustic {

/// Nodes [up, north, east] of the mesh that snapshots contain: first + n · stride, 0 ≤ n < count, on each
/// axis.
struct ShownNodes {
  std::array<Index, 3> first{}, count{};
  Index stride = 1;

  IndexBox<3> box() const { return index_box(count[0], count[1], count[2]); }  ///< the box of all n
  /// The indices n of the shown nodes that lie in a part of the mesh, as a box.
  IndexBox<3> within(const IndexBox<3>& part) const;
  /// The coordinates of the shown nodes along an axis, m.
  std::vector<double> places(const Grid& grid, int axis) const;
};

/// Snapshots of the pressure at times every · Δt, 2 every · Δt, … They show the discrete wave on the grid,
/// not corrected for time dispersion.
struct Snapshots {
  double interval = 0;    ///< s; 0: none
  std::size_t shot = 0;   ///< index of the shot that is shown
  Index stride = 1;       ///< every stride-th node is shown along each axis
  std::size_t every = 0;  ///< steps from one snapshot to the next, set by settle(); 0: none
  /// West, east, south, north, bottom, top, m: nodes in this box are shown. Along an axis on which the box is
  /// thinner than a cell, the nodes nearest to it are shown.
  std::array<double, 6> box{-INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY};

  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("every", s.interval, number(Quantity::time, positive).must_be_given().same_bits(),
          "Time from one snapshot to the next, rounded to whole time steps.", "\"50 ms\"");
    field("shot", s.shot, own_key("count", "1", "snapshots"),
          "Number of the shot that is shown, counted from 1; a run has snapshots of one shot only.");
    field("box", s.box, own_key("list of 6 lengths", "none", "snapshots"),
          "West, east, south, north, bottom, top of the part that is shown: the cells whose centres are "
          "inside. A flat box is a slice through the cells whose centres are nearest to it.");
    field("stride", s.stride, terrane::count(1, 10'000), "Show every n-th cell along each axis.");
    field("steps", s.every, carried("snapshots"));
  }

  /// Sets `every`.  problem: settled.  Throws InputError at "acoustic: snapshots".
  void settle(const Problem& problem);
  bool any() const noexcept { return every > 0; }
  std::size_t count(const Problem& problem) const;
  std::vector<double> times(const Problem& problem) const;  ///< s
  ShownNodes nodes(const Grid& grid) const;
  double bytes(const Problem& problem) const;  ///< bytes of all snapshots in a file
};

}  // namespace terrane::acoustic
