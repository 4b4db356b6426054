// The gravity field of prisms at stations: the one call behind the command, C++ and Python.
#pragma once

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/report.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// Field of the prisms at the stations.  Adds nothing: `out` is overwritten.
/// The same bits for any number of threads and ranks. Throws ShapeError (lengths differ), InputError (NaN, a
/// prism without thickness), Cancelled (progress asked for it), and what any rank throws.
/// runtime: other ranks to share the work, a checkpoint to keep or resume; this is called on its rank 0
/// alone.
Report forward(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
               const Fields& out, Progress* progress = nullptr, const Runtime& runtime = {});

}  // namespace terrane::gravity
