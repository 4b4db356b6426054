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
      0;  ///< largest of V, g and Γ, each as a whole and relative to its largest value over the survey
  bool quadruple =
      false;  ///< else against the direct sum at its best, because quadruple precision would take too long
};

/// result: what forward() found, SI. contacts: of stations with prisms, by which the tensor is left out at
/// stations on surfaces. Stations: `count` of them, spread evenly over the list. Quadruple precision when
/// that takes about 20 s at most; equal neighbours are merged first, the field of a bar is the textbook form,
/// far away the stable form.
Verification verify(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                    std::size_t count, const Fields& result, std::span<const Contact> contacts,
                    Progress& progress);

}  // namespace terrane::gravity
