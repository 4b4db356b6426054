// Sources and receivers between the nodes: a sinc under a Kaiser window (Hicks 2002).
//
//   w_i = sinc(x − i) I₀(b √(1 − ((x − i)/r)²)) / I₀(b)     2r nodes i = ⌊x⌋ − r + 1 … ⌊x⌋ + r on each axis
//
// x: the position, in units of the spacing from node 0; r: the radius; b: shape of the window, chosen for
// each r; I₀: modified Bessel function. The weights of the three axes are multiplied. A position on a node
// has a single weight, 1. Waves with at least 4 points per wavelength are interpolated with an error
// of 1.3e-3 for r = 4, 2e-6 for r = 8.
#pragma once

#include <vector>

#include "terrane/parallel/arrays/index_box.hpp"

namespace terrane::acoustic {

inline constexpr int widest_radius = 8;

struct NodeWeight {
  Index node;
  double weight;
};

/// x: distance from node 0, in units of the spacing.  radius: 2 … 8.  Throws InputError.
std::vector<NodeWeight> sinc_weights(double x, int radius);

}  // namespace terrane::acoustic
