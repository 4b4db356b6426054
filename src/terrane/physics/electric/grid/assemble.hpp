// div σ grad φ = −I δ on the nodes of a tensor mesh, as a network of conductances (solve/network.hpp).
//
// The conductance of an edge is Σ over its four cells of σ V/(4 h²), σ of the cell along the edge. The top of
// the mesh is a natural end. A wall with a mixed boundary is a conductance from each of its nodes to the
// ground: α times the σ and the quarters of the faces that meet there; a grounded wall is that of half a
// cell.
#pragma once

#include <array>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/formula/half_space.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/solve/network.hpp"

namespace terrane::electric {

/// Conductivities of the cells, S/m, [up, north, east]; all three the same array where it does not depend on
/// the axis.
struct Conductivity {
  std::array<const std::vector<double>*, 3> along;  ///< easting, northing, up
};

/// The network on the host, with what multigrid must know of its spacing. Arrays as Field::upload_with_layer
/// takes them.
struct HostNetwork {
  IndexBox<3> nodes;  ///< [up, north, east]
  std::array<std::vector<double>, 3> link;
  std::array<solve::AxisSpacing, 3> spacing;

  /// The part of it that a rank has.
  solve::Network<double> on(Stream& stream, const IndexBox<3>& part) const;
};

/// centre: from where the mixed boundary is seen, the middle of the electrodes.  Throws ShapeError:
/// conductivities that are not one per cell. InputError: one that is not finite and positive.
HostNetwork assemble(const TensorMesh& mesh, const Conductivity& conductivity, Boundary boundary,
                     const Point& centre);

/// The eight nodes around a point and their trilinear weights: how a point gives current to a grid, and how
/// its potential is read there. The same weights both ways make reciprocity exact.
struct NodeWeights {
  std::array<std::size_t, 8> node;  ///< in [up, north, east]
  std::array<double, 8> weight;

  double at(const std::vector<double>& nodes) const;
  void add(double value, std::vector<double>& nodes) const;
};

/// Throws InputError at `what`: the point lies outside of the mesh.
NodeWeights node_weights(const TensorMesh& mesh, const Point& p, const std::string& what);

}  // namespace terrane::electric
