// One prism at one station, to full accuracy at any distance and for any shape: the scalar counterpart of the
// kernels, which also computes the pairs that the kernels leave out.
#pragma once

#include "terrane/physics/gravity/formula/prism.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"

namespace terrane::gravity {

/// The faces of the prism relative to the point.
template <class T>
TERRANE_FN RelativePrism<T> relative_to(const Prism& p, double x, double y, double z) {
  return {{T(p.west) - T(x), T(p.east) - T(x)},
          {T(p.south) - T(y), T(p.north) - T(y)},
          {T(p.bottom) - T(z), T(p.top) - T(z)},
          T(p.east) - T(p.west),
          T(p.north) - T(p.south),
          T(p.top) - T(p.bottom)};
}

/// The ten quantities of a prism at a point, for unit density and G = 1. Stretched prisms are computed in
/// extended precision; the most stretched are halved along their longest side until each piece is either far
/// enough for the stable form or compact enough for the near form. EdgeFraction describes points on the
/// surface.
Quantities<double> field_of_prism(const Prism& prism, double x, double y, double z,
                                  const Switching& switching);

}  // namespace terrane::gravity
