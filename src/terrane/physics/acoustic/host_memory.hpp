// Memory that a run uses on the host beside its waves and images.
#pragma once

#include <cstddef>

#include "terrane/physics/acoustic/settings.hpp"

namespace terrane::acoustic {

/// All models in double precision that a run holds: the medium, that of the data, and the scatterers.
double bytes_of_models(const Problem& problem, const Settings& settings);
/// The earth model while it is painted on the mesh: an integer and the properties for each cell.
double bytes_of_painting(const Problem& problem);
/// The planes in memory at one time on a rank that gets the medium of its own nodes plane by plane (Dealt).
double bytes_of_planes(const Problem& problem, const Settings& settings);
/// Gathers of all shots, on rank 0.  every: steps from one sample that is written to the next
double bytes_of_gathers(const Problem& problem, const Settings& settings, std::size_t every);

}  // namespace terrane::acoustic
