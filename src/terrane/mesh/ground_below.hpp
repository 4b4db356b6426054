// Cells that the ground surface cuts.
#pragma once

#include <functional>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"

namespace terrane {

/// The fraction of each cell that lies below a surface, sampled in 8 × 8 vertical columns per cell.
/// height(easting, northing): height of the surface, m
std::vector<double> ground_below(const TensorMesh& mesh,
                                 const std::function<double(double easting, double northing)>& height);

}  // namespace terrane
