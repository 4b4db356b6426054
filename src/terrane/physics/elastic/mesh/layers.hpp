// Elements between interfaces: layers under topography, with columns that become wider with depth.
//
// Columns stand on an even grid of the surface. Between two interfaces they are divided evenly, so that no
// element reaches across one. Where a layer begins with a doubling, blocks of 4 × 4 columns become 2 × 2 in
// two rows: the upper repeats, along north, a plane pattern that joins four edges to two along east, the
// lower the same turned. Six quadrilaterals join a width of 4 at the height 2 to two edges of 2 at the height
// 0:
//
//   (0,0)(2,0)(2,1)(1,1)   (2,0)(4,0)(3,1)(2,1)   (0,0)(1,1)(1,2)(0,2)
//   (1,1)(2,1)(2,2)(1,2)   (2,1)(3,1)(3,2)(2,2)   (3,1)(4,0)(4,2)(3,2)
//
// All 36 bricks of a block meet face to face. The step is longest when a row of a doubling is as high as two
// columns above it are wide: then 0.73 of what the columns above would allow, if speeds were the same; a
// doubling pays where the medium below is twice as fast.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct Layer {
  std::function<double(double easting, double northing)> bottom;  ///< m up
  std::size_t rows = 1;   ///< of elements; the two of a doubling among them
  bool doubling = false;  ///< columns are twice as wide from here on
  std::string name;       ///< for messages
};

struct LayeredBox {
  double west = 0, east = 0, south = 0, north = 0;
  std::size_t columns_east = 1, columns_north = 1;  ///< at the surface
  std::function<double(double easting, double northing)> surface;
  std::vector<Layer> layers;  ///< from the surface down; the bottom of the last is that of the box
};

/// Elements from the surface down, all of medium 0. layer: of each element. Throws InputError at
/// "elastic: layers": columns that cannot be doubled, a layer without thickness (which, where).
Mesh layered(const LayeredBox& box, const OpenSides& open, std::vector<std::uint32_t>& layer);

/// How good the shape of an element is: the least of its corners' det J / (|J_0| |J_1| |J_2|), 1 for bricks
/// with right angles, 0 and less where it folds.
double quality(const Hexahedron& element);

}  // namespace terrane::elastic
