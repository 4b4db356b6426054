// Cells that an uneven surface cuts.
#pragma once

#include <functional>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// Which part of each cell lies below a surface, from 8 × 8 columns of it.  height: of the ground, m
std::vector<double> ground_below(const TensorMesh& mesh,
                                 const std::function<double(double easting, double northing)>& height);

}  // namespace terrane
