// Topography and bathymetry as a layer of prisms: one column per node of an elevation grid, between a
// reference level and the surface.
#pragma once

#include "terrane/mesh/grid.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/model/earth_model.hpp"

namespace terrane {

/// Where the surface lies above the reference, the column from reference to surface has density_above; where
/// it lies below, the column from surface to reference has density_below. With the reference at sea level the
/// defaults are crustal rock on land, and at sea the density contrast of water to that rock.
struct TerrainOptions {
  Surface reference = 0.0;                 ///< m; a grid is interpolated at the nodes of the elevation
  double density_above = 2670;             ///< kg/m³
  double density_below = 1040.0 - 2670.0;  ///< kg/m³
};

struct Terrain {
  PrismSet prisms;
  std::vector<double> density;  ///< kg/m³ [prisms]
  std::size_t nodes = 0;        ///< of the elevation grid
  std::size_t gaps = 0;         ///< nodes left out: no elevation, or outside the reference grid
  std::size_t flat = 0;         ///< nodes left out: the surface meets the reference, or the density is zero
};

/// The prisms of an elevation grid in metres (up), row by row from the south-west. Each node is the centre of
/// its prism; side faces lie half-way between nodes, so that prisms tile without gap or overlap.
/// Throws InputError: fewer than two nodes along an axis, axes that do not ascend, infinite values, a
/// geographic grid (bring it into a plane with project_grid first); ShapeError: values and axes differ.
Terrain terrain(const Grid& elevation, const TerrainOptions& options = {});

}  // namespace terrane
