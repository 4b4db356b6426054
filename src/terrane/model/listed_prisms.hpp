// Prisms of a model by their numbers, made on all threads: a model of billions of cells is asked for its
// sources.
#pragma once

#include <cstddef>
#include <span>

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// The prisms, or held cells as prisms, of these numbers, in their order.
PrismSet listed_prisms(const EarthModel& model, std::span<const std::size_t> numbers);

}  // namespace terrane
