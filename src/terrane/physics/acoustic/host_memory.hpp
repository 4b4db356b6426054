// What a run takes of the host beside its waves and images.
#pragma once

#include <cstddef>

#include "terrane/physics/acoustic/settings.hpp"

namespace terrane::acoustic {

/// Models in double precision, of all that is done with them.
double bytes_of_models(const Problem& problem, const Settings& settings);
/// Gathers of all shots, on rank 0.  every: steps from one sample that is written to the next
double bytes_of_gathers(const Problem& problem, const Settings& settings, std::size_t every);

}  // namespace terrane::acoustic
