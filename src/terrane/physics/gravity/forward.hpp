// The gravity field of prisms at stations: the one call behind the command, C++ and Python.
#pragma once

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/report.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// Throws InputError that names the first prism or station with numbers that cannot be: not finite, no
/// thickness, lengths beyond 1e15 m, densities beyond 1e20 kg/m3.
void check_values(const Prisms& prisms, const Stations& stations);

/// Field of the prisms at the stations.  Adds nothing: `out` is overwritten.
/// The same bits for any number of threads and ranks. Throws ShapeError (lengths differ), InputError
/// (check_values(); out shares memory with another array), Cancelled (progress asked for it), and what any
/// rank throws. runtime: other ranks to share the work, a checkpoint to keep or resume; this is called on its
/// rank 0 alone.
Report forward(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
               const Fields& out, Progress* progress = nullptr, const Runtime& runtime = {});

}  // namespace terrane::gravity
