// The gravity field of prisms at stations: the one function that the command, C++ and Python call.
#pragma once

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/report.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// Throws InputError that names the first prism or station with impossible values: not finite, no thickness,
/// lengths beyond 1e15 m, densities beyond 1e20 kg/m3.
void check_values(const Prisms& prisms, const Stations& stations);

/// Computes the field of the prisms at the stations and overwrites `out`. The result is bitwise the same for
/// any number of threads and ranks. Throws ShapeError (lengths differ), InputError (check_values(); out
/// shares memory with another array), Cancelled (requested through progress), and any error of another rank.
/// runtime: the other ranks that share the work, a checkpoint to write or resume; only rank 0 calls this
/// function.
Report forward(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
               const Fields& out, Progress* progress = nullptr, const Runtime& runtime = {});

}  // namespace terrane::gravity
