// div σ grad φ = −I δ on the nodes of a tensor mesh, as a network of conductances
// (solve/networks/network.hpp).
//
// The conductance of an edge is Σ over its four cells of σ V/(4 h²), σ of the cell along the edge. An
// insulated side is a natural end. A wall with a mixed boundary is a conductance from each of its nodes to
// the ground: α times the σ and the quarters of the faces that meet there; a grounded wall is that of half a
// cell.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/formula/half_space.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/solve/networks/network.hpp"

namespace terrane::electric {

/// Conductivities of the cells, S/m, [up, north, east]; all three the same array where it does not depend on
/// the axis.
struct Conductivity {
  std::array<const std::vector<double>*, 3> along;  ///< easting, northing, up
  /// σ'' of σ = σ' + iσ'': a medium that stores charge. Null: none.
  std::array<const std::vector<double>*, 3> quadrature = {};
  /// Which part of each cell is ground and not air, 0 to 1 (ground.hpp). Null: all of the mesh.
  const std::vector<double>* ground = nullptr;
  /// slopes_at() the electrodes (ground.hpp), of the true surface. Null: as the cells show it.
  const std::vector<double>* slopes = nullptr;

  bool differs_by_axis() const { return along[1] != along[0] || along[2] != along[0]; }
  bool complex() const { return quadrature[0] != nullptr; }
};

/// The stretch of coordinates by the mean conductivities along the axes, which must be positive where they
/// differ.
Stretch mean_stretch(const Conductivity& conductivity);

/// The network on the host, with its spacings for multigrid. Arrays as for Field::upload_with_layer().
struct HostNetwork {
  IndexBox<3> nodes;  ///< [up, north, east]
  std::array<std::vector<double>, 3> link;
  std::array<solve::AxisSpacing, 3> spacing;

  /// The network of the points `part`, which a rank has, on its device.
  solve::Network<double> on(Stream& stream, const IndexBox<3>& part) const;
};

/// The point source that mixed walls are made for: the middle of the electrodes, and the height of the
/// surface that gives its image.
struct Viewpoint {
  Point centre;
  double surface = 0;
  Stretch stretch = {};  ///< of the mean conductivities
};

/// The network of the values in `along`, which may be any numbers.
HostNetwork network_of(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                       const Viewpoint& from);
/// The network of a half space with a point source, conductivities along easting, northing, up. Mixed walls
/// are those of network_of(), so that their differences vanish; other walls are such that the current flows
/// on through them as from the source. Tests compare difference.hpp with K of this network.
HostNetwork half_space_network(const TensorMesh& mesh, const std::array<double, 3>& conductivity,
                               const Boundaries& boundary, const Viewpoint& from, const Viewpoint& source);

/// The network for conductivities of the ground and a surface at the top of the mesh. Throws ShapeError:
/// conductivities or quadratures that are not one per cell. InputError: one that is not finite and positive.
HostNetwork assemble(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                     const Point& centre);
/// Throws as assemble(), without making a network.
void check(const TensorMesh& mesh, const Conductivity& conductivity);

/// Conductance per area and conductivity of a wall at one of its points, 1/m.  axis: 0 up, 1 north, 2 east;
/// width: of the cells there.
double wall_weight(Boundary boundary, const Viewpoint& from, const Point& p, std::size_t axis, bool high,
                   double width);
struct Wall {
  std::size_t axis;  ///< up, north, east
  bool high;
};
inline constexpr std::array<Wall, 6> walls{
    {{0, false}, {0, true}, {1, false}, {1, true}, {2, false}, {2, true}}};

/// The eight nodes around a point and their trilinear weights: how a point gives current to a grid, and how
/// its potential is read there. The same weights both ways make reciprocity exact.
struct NodeWeights {
  std::array<std::size_t, 8> node;  ///< in [up, north, east]
  std::array<double, 8> weight;

  double at(std::span<const double> nodes) const;
  void add(double value, std::vector<double>& nodes) const;
};

/// Throws InputError at `what`: the point lies outside of the mesh.
NodeWeights node_weights(const TensorMesh& mesh, const Point& p, const std::string& what);

}  // namespace terrane::electric
