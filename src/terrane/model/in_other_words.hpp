// Properties that state one quantity in two ways: conductivity and resistivity, heat capacity per volume and
// per mass, Q of waves and of moduli.
#pragma once

#include <string_view>

namespace terrane {

/// The property that states the same quantity as `property`; empty if there is none.
std::string_view in_other_words(std::string_view property);

/// Whether a value of `property` takes the place of an earlier value of `other`: both state the same
/// quantity, as conductivity and resistivity do, or `property` states along all axes what `other` states
/// along one.
bool supersedes(std::string_view property, std::string_view other);

/// Q_κ of an isotropic medium from Q_P and Q_S = Q_μ; not positive if there is no such Q_κ, or infinite
/// without bulk attenuation.
double quality_of_bulk(double quality_p, double quality_s, double velocity_p, double velocity_s);

}  // namespace terrane
