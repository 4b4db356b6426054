// div σ grad φ = −I δ on the nodes of a tensor mesh, as a network of conductances
// (solve/networks/network.hpp).
//
// The conductance of an edge is the sum of σ V/(4 h²) over its four cells: V is the volume of a cell, h its
// width and σ its conductivity along the edge. An insulated side needs no term (natural boundary condition).
// A wall with a mixed boundary condition (α in formula/half_space.hpp) adds a conductance to earth at each of
// its nodes: α times the sum of σ A/4 over the faces of area A that meet there; a grounded wall adds the
// conductance of half a cell.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/formula/half_space.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/solve/networks/network.hpp"

namespace terrane::electric {

/// Conductivities of the cells, S/m, [up, north, east]; three pointers to the same array if conductivity is
/// isotropic.
struct Conductivity {
  std::array<const std::vector<double>*, 3> along;  ///< conductivities along easting, northing, up
  /// σ'' of σ = σ' + iσ'', for a medium that stores charge. Null: σ is real.
  std::array<const std::vector<double>*, 3> quadrature = {};
  /// Fraction of each cell that is ground and not air, 0 to 1 (ground.hpp). Null: 1 for all cells.
  const std::vector<double>* ground = nullptr;
  /// Slopes of the true surface at electrodes, from slopes_at() (ground.hpp). Null: derived from `ground`.
  const std::vector<double>* slopes = nullptr;

  bool differs_by_axis() const { return along[1] != along[0] || along[2] != along[0]; }
  bool complex() const { return quadrature[0] != nullptr; }
};

/// The stretch of coordinates for the mean conductivities along the axes, which must be positive if they
/// differ.
Stretch mean_stretch(const Conductivity& conductivity);

/// The network on the host, and its spacings for multigrid. Arrays have the layout of
/// Field::upload_with_layer().
struct HostNetwork {
  IndexBox<3> nodes;  ///< index box of the nodes, [up, north, east]
  std::array<std::vector<double>, 3> link;
  std::array<solve::AxisSpacing, 3> spacing;

  /// The network of the points `part` of one rank, on its device.
  solve::Network<double> on(Stream& stream, const IndexBox<3>& part) const;
};

/// The point source assumed by mixed walls: the middle of the electrodes, and the height of the surface that
/// mirrors it.
struct Viewpoint {
  Point centre;
  double surface = 0;
  Stretch stretch = {};  ///< stretch of the axes for the mean conductivities
};

/// The network for conductivities that may also be zero or negative.
HostNetwork network_of(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                       const Viewpoint& from);
/// The network of a half space with a point source, conductivities along easting, northing, up. Mixed walls
/// are those of network_of(), so that both networks are the same there; through other walls the current of
/// the source flows on as if the half space continued. Tests compare difference.hpp with K of this network.
HostNetwork half_space_network(const TensorMesh& mesh, const std::array<double, 3>& conductivity,
                               const Boundaries& boundary, const Viewpoint& from, const Viewpoint& source);

/// The network for conductivities of the ground whose surface is the top of the mesh. Throws ShapeError:
/// there is not one conductivity or quadrature per cell; InputError: one is not finite and positive.
HostNetwork assemble(const TensorMesh& mesh, const Conductivity& conductivity, const Boundaries& boundary,
                     const Point& centre);
/// Throws what assemble() throws, but makes no network.
void check(const TensorMesh& mesh, const Conductivity& conductivity);

/// Conductance to earth per area and conductivity at a point of a wall, 1/m.  axis: 0 up, 1 north, 2 east;
/// width: of the cells at the wall, across it.
double wall_weight(Boundary boundary, const Viewpoint& from, const Point& p, std::size_t axis, bool high,
                   double width);
struct Wall {
  std::size_t axis;  ///< 0 up, 1 north, 2 east
  bool high;
};
inline constexpr std::array<Wall, 6> walls{
    {{0, false}, {0, true}, {1, false}, {1, true}, {2, false}, {2, true}}};

/// The eight nodes around a point and their trilinear weights, by which the current of a point is distributed
/// to the grid, and the potential at the point is interpolated. Using the same weights for both makes
/// reciprocity exact.
struct NodeWeights {
  std::array<std::size_t, 8> node;  ///< indices of the nodes in [up, north, east]
  std::array<double, 8> weight;

  double at(std::span<const double> nodes) const;
  void add(double value, std::vector<double>& nodes) const;
};

/// Throws InputError, with `what` as its subject: the point lies outside of the mesh.
NodeWeights node_weights(const TensorMesh& mesh, const Point& p, const std::string& what);

}  // namespace terrane::electric
