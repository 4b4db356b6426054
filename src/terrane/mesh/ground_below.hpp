// Cells that an uneven surface cuts.
#pragma once

#include <functional>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// The part of each cell that lies below a surface, from 8 × 8 columns of the cell.  height: of the surface,
/// m
std::vector<double> ground_below(const TensorMesh& mesh,
                                 const std::function<double(double easting, double northing)>& height);

}  // namespace terrane
