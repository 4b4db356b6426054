// Topography and bathymetry as a layer of prisms: one vertical column per node of an elevation grid, between
// a reference level and the surface.
#pragma once

#include "terrane/mesh/grid.hpp"
#include "terrane/model/bodies.hpp"
#include "terrane/model/earth_model.hpp"

namespace terrane {

/// If the surface is above the reference level, the column between them has density_above; if below,
/// density_below. With the reference at sea level, the defaults are crustal rock on land and the density
/// contrast of sea water to that rock at sea.
struct TerrainOptions {
  Surface reference = 0.0;                 ///< m; a grid is interpolated at the nodes of the elevation
  double density_above = 2670;             ///< kg/m³
  double density_below = 1040.0 - 2670.0;  ///< kg/m³
};

struct Terrain {
  PrismSet prisms;
  std::vector<double> density;  ///< kg/m³ [prisms]
  std::size_t nodes = 0;        ///< number of nodes of the elevation grid
  std::size_t gaps = 0;         ///< nodes left out: without elevation, or outside the reference grid
  std::size_t flat = 0;         ///< nodes left out: surface at the reference level, or density zero
};

/// The prisms of an elevation grid in metres (positive up), row by row from the south-west. Each node is in
/// the middle of its prism; side faces are half-way between nodes, so that prisms tile without gap or
/// overlap. Throws InputError: fewer than two nodes along an axis, axes that do not ascend, infinite values,
/// a geographic grid (convert it with project_grid first); ShapeError: values and axes differ in size.
Terrain terrain(const Grid& elevation, const TerrainOptions& options = {});

}  // namespace terrane
