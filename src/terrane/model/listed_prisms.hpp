// Makes the prisms of a model that have given numbers, on all threads: models may have billions of cells.
#pragma once

#include <cstddef>
#include <span>

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// The prisms, or held cells as prisms, of these numbers, in their order.
PrismSet listed_prisms(const EarthModel& model, std::span<const std::size_t> numbers);

}  // namespace terrane
