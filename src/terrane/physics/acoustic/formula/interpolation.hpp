// Sources and receivers between the nodes: a sinc under a Kaiser window (Hicks 2002).
//
//   w_i = sinc(x − i) I₀(b √(1 − ((x − i)/r)²)) / I₀(b)     2r nodes i = ⌊x⌋ − r + 1 … ⌊x⌋ + r on each axis
//
// Weights of three axes are multiplied. A point on a node has the one weight 1. Waves of 4 points and more
// per wavelength are read to 1.3e-3 with r = 4, to 2e-6 with r = 8.
#pragma once

#include <vector>

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane::acoustic {

inline constexpr int widest_radius = 8;

struct NodeWeight {
  Index node;
  double weight;
};

/// x: in steps from node 0.  radius: 2 … 8.  Throws InputError.
std::vector<NodeWeight> sinc_weights(double x, int radius);

}  // namespace terrane::acoustic
