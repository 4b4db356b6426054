// Memory of a model.
#pragma once

#include "terrane/model/earth_model.hpp"

namespace terrane {

/// Bytes of a model's cells or prisms, and of their properties.
inline double bytes_of(const EarthModel& model) {
  const bool prisms = std::holds_alternative<PrismSet>(model.geometry);
  return 8 * static_cast<double>(model.size()) *
         static_cast<double>((prisms ? 6 : 1) + model.properties.size());
}

}  // namespace terrane
