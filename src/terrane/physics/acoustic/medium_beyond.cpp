#include "terrane/physics/acoustic/medium_beyond.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace terrane::acoustic {

namespace {

/// The factor of the tilt at a node: 1 on the mesh, decreasing to 0 at the nodes that a cpml contains or
/// reads.
double tilt_left(const Problem& p, const std::array<Index, 3>& at) {
  double left = 1;
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      if (side_of(p, axis, side) != Boundary::cpml) continue;
      const auto a = static_cast<std::size_t>(axis);
      const Index beyond = side == 0 ? -at[a] : at[a] - p.grid.nodes[a] + 1;
      left = std::min(left, 1 - static_cast<double>(beyond) / turning_nodes);
    }
  return std::max(left, 0.0);
}

}  // namespace

std::array<double, 3> axis_at(const Problem& p, const std::array<Index, 3>& at, const MediumNode& there) {
  if (p.equation != Equation::tti) return {1, 0, 0};
  // An axis of symmetry has no direction: the tilt is reduced to at most 90°, so that the nearer end turns to
  // the vertical.
  const double tilt = std::remainder(p.tilt[there.node], std::numbers::pi);
  auto axis = axis_of(tilt * tilt_left(p, at), p.azimuth[there.node]);
  for (std::size_t mirror = 0; mirror < 3; ++mirror)
    for (std::size_t a = 0; a < 3; ++a)
      if (there.mirrored[mirror] && a != mirror) axis[a] = -axis[a];
  return axis;
}

}  // namespace terrane::acoustic
