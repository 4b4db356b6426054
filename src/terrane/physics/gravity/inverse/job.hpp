// An inversion of fields at stations from a job file: the tables [mesh], [survey], [simulation], [inversion],
// [output].
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "terrane/physics/gravity/inverse/observations.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::gravity::inverse {

/// What differs between jobs of gravity and of magnetics.
struct KindOfJob {
  std::string_view title;     ///< "inversion of gravity"
  std::span<const Key> keys;  ///< keys of [simulation]
  FieldKind (*fields)(const Config& simulation, const Survey& survey);
};

/// The entry of an inversion of fields at stations in the list of inversions.
Physics job_at_stations(std::string_view name, std::string_view summary, const KindOfJob& kind);

}  // namespace terrane::gravity::inverse
