// Recomputes a few stations in quadruple precision and says how far the result is off.
#pragma once

#include <span>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/singular.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

struct Verification {
  std::size_t stations = 0;
  double error =
      0;  ///< largest error of V, g and Γ, norm-wise, relative to the largest value over the survey
  /// true: the reference is in quadruple precision; false: it is the direct sum at its best.
  bool quadruple = false;
};

/// Compares `count` stations, spread evenly over the list, with a reference, which is computed in quadruple
/// precision if that takes about 20 s at most. Neighbouring prisms of equal density are merged first; the
/// field of each prism is computed by the textbook form, far away by the stable form. On surfaces the tensor
/// is not compared. result: computed by forward(), SI; contacts: those of stations with prisms
Verification verify(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                    std::size_t count, const Fields& result, std::span<const Contact> contacts,
                    Progress& progress);

}  // namespace terrane::gravity
