// Extracts prisms of a model by their indices, on all threads: models may have billions of cells.
#pragma once

#include <cstddef>
#include <span>

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// The prisms (or stored cells as prisms) with these indices, in the order of `numbers`.
PrismSet listed_prisms(const EarthModel& model, std::span<const std::size_t> numbers);

}  // namespace terrane
