// Estimates of the memory, in bytes, that a run uses on the host in addition to its waves and images.
#pragma once

#include <cstddef>

#include "terrane/physics/acoustic/settings.hpp"

namespace terrane::acoustic {

/// All models that a run stores in double precision: the medium, the medium that the data are computed from,
/// and the scatterers.
double bytes_of_models(const Problem& problem, const Settings& settings);
/// The mesh planes in memory at one time on a rank that receives the medium of its nodes plane by plane
/// (Dealt).
double bytes_of_planes(const Problem& problem, const Settings& settings);
/// Gathers of all shots, on rank 0.  every: number of time steps between two written samples
double bytes_of_gathers(const Problem& problem, const Settings& settings, std::size_t every);

}  // namespace terrane::acoustic
