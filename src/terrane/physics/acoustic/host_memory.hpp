// What a run takes of the host beside its waves and images.
#pragma once

#include <cstddef>

#include "terrane/physics/acoustic/settings.hpp"

namespace terrane::acoustic {

/// Models in double precision, of all that is done with them.
double bytes_of_models(const Problem& problem, const Settings& settings);
/// The model while it is painted: numbers of cells and their properties.
double bytes_of_painting(const Problem& problem);
/// Of a rank that gets the medium of its own nodes some planes at a time (Dealt): those planes.
double bytes_of_planes(const Problem& problem, const Settings& settings);
/// Gathers of all shots, on rank 0.  every: steps from one sample that is written to the next
double bytes_of_gathers(const Problem& problem, const Settings& settings, std::size_t every);

}  // namespace terrane::acoustic
