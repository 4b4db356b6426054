// Media that vary within elements: computes density, λ and μ at the points of each element.
//
// Mass and stress are sums over quadrature points, so a varying medium only needs its values at each of these
// points (Komatitsch, Erlebacher, Göddeke & Michéa 2010, equation 13).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

/// The medium at a position in an element with this centre.
using MediumAt = std::function<Medium(const Vector& place, const Vector& middle)>;

/// Counts of the elements for which a varying medium was requested.
struct Variation {
  std::size_t varying = 0;      ///< elements whose medium varies now
  std::size_t anisotropic = 0;  ///< anisotropic elements, not changed
  std::size_t mixed = 0;        ///< elements with points that would be fluid in a solid, solid in a fluid, or
                                ///< anisotropic: these points get the element's medium
  std::string text() const;     ///< the counts as a text for notes
};

/// Sets the medium at the points of elements, for the basis of this degree. at: for each element the function
/// that returns its medium, or null if it does not vary. An element with equal values at all points remains
/// even: its values are not stored at points. The entry of an element in Mesh::media, which determines its Q,
/// remains that of its centre.
Variation vary_within(Mesh& mesh, int degree, const std::vector<const MediumAt*>& at);

}  // namespace terrane::elastic
