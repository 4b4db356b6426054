// Rock that varies within elements: from media at places to density, λ and μ at the points of each element.
//
// Mass and stress are sums over the points of the quadrature, so that a medium that varies is one more number
// read at each of them (Komatitsch, Erlebacher, Göddeke & Michéa 2010, equation 13).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// The medium at a place of an element with this middle.
using MediumAt = std::function<Medium(const Vector& place, const Vector& middle)>;

/// What became of the elements that might vary.
struct Variation {
  std::size_t varying = 0;      ///< elements whose rock varies now
  std::size_t anisotropic = 0;  ///< kept as they are
  std::size_t mixed = 0;     ///< with points that are fluid in rock, rock in a fluid, or anisotropic: these
                             ///< points have the medium of the element
  std::string text() const;  ///< for notes
};

/// Gives elements their rock at the points of the basis of this degree. at: of each element; null: it is
/// even. Elements that have the same at all points stay even. Their media stay those of their middles, with
/// their Q.
Variation vary_within(Mesh& mesh, int degree, const std::vector<const MediumAt*>& at);

}  // namespace terrane::elastic
