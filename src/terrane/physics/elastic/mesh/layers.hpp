// Elements between interfaces: layers below topography, with columns that become wider with depth.
//
// Columns of elements have equal widths at the surface. Between two interfaces they are divided into rows of
// equal height, so no element crosses an interface. At a doubling, blocks of 4 × 4 columns become 2 × 2
// within two rows: the upper row extrudes, along north, a plane pattern that connects four edges to two along
// east; the lower row the same rotated. The pattern's six quadrilaterals connect four edges of width 1 at
// height 2 to two edges of width 2 at height 0; their corners (east, height) are
//
//   (0,0)(2,0)(2,1)(1,1)   (2,0)(4,0)(3,1)(2,1)   (0,0)(1,1)(1,2)(0,2)
//   (1,1)(2,1)(2,2)(1,2)   (2,1)(3,1)(3,2)(2,2)   (3,1)(4,0)(4,2)(3,2)
//
// All 36 elements of a block are conforming. The stable step is longest if each row of a doubling is as high
// as two of the columns above are wide: with equal speeds it is then 0.73 of the stable step of the columns
// above. A doubling saves time if the medium below is twice as fast.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct Layer {
  std::function<double(double easting, double northing)> bottom;  ///< m up
  std::size_t rows = 1;   ///< number of rows of elements, including the two rows of a doubling
  bool doubling = false;  ///< whether columns are twice as wide from this layer on
  std::string name;       ///< name of the layer, for messages
};

struct LayeredBox {
  double west = 0, east = 0, south = 0, north = 0;
  std::size_t columns_east = 1, columns_north = 1;  ///< numbers of columns at the surface
  std::function<double(double easting, double northing)> surface;
  std::vector<Layer> layers;  ///< layers from the surface down; the bottom of the last is the box's bottom
};

/// Makes the mesh: elements from the surface down, all with medium index 0. layer: receives the index of each
/// element's layer. Throws InputError at "elastic: layers": columns that cannot be doubled; a layer whose
/// thickness is zero somewhere.
Mesh layered(const LayeredBox& box, const OpenSides& open, std::vector<std::uint32_t>& layer);

/// The quality of an element's shape: the minimum over its corners of det J / (|J_0| |J_1| |J_2|); 1 for
/// right angles, 0 or less if it folds.
double quality(const Hexahedron& element);

}  // namespace terrane::elastic
